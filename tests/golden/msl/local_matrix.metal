#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device int* x;
    long x_size;
    device int* out;
    long out_size;
};

kernel void kernel_local_matrix(constant Args& args [[buffer(0)]],
                                uint3 gid [[thread_position_in_grid]])
{
    uint m[6];
    m[0] = 0u;
    m[1] = 0u;
    m[2] = 0u;
    m[3] = 0u;
    m[4] = 0u;
    m[5] = 0u;
    // local_matrix +2
    long i = long(gid.x);
    uint loaded = uint(args.x[i]);
    bool v = false;
    long v_2 = 0L;
    uint total;
    long v_6;
    while (true) {
        long v_3 = v_2 * 12L;
        long v_4 = v_2 * 10L;
        long v_5 = 0L;
        do {
            // local_matrix +5
            *(thread uint*)((thread uchar*)m + (v_3 + v_5 * 4L)) = loaded * uint(v_5 + v_4);
            // local_matrix +4
            v_5 = v_5 + 1L;
        } while (v_5 != 3L);
        // local_matrix +3
        if (v) {
            total = 0u;
            v_6 = 0L;
            break;
        }
        v = true;
        v_2 = 1L;
    }
    do {
        // local_matrix +8
        total = m[v_6 + 3L] + total - m[2L - v_6];
        // local_matrix +7
        v_6 = v_6 + 1L;
    } while (v_6 != 3L);
    // local_matrix +9
    args.out[i] = int(total);
}
