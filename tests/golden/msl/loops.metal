#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device long* out;
    long out_size;
};

constant ulong table[3] = {1UL, 10UL, 100UL};

kernel void kernel_loops(constant Args& args [[buffer(0)]],
                         uint3 gid [[thread_position_in_grid]])
{
    // loops +3
    bool v = gid.x == 0u;
    // loops +1
    long i = long(gid.x);
    ulong total_2;
    // loops +3
    if (v) {
        total_2 = 1022UL;
    } else {
        ulong total = 0UL;
        long v_2 = 0L;
        while (true) {
            long v_3 = v_2 + 1L;
            bool goto_2 = false;
            do {
                if (v_2 < 20L) {
                    if (v_2 == 5L)
                        break;
                } else {
                    if (v_2 == 20L) {
                        goto_2 = true;
                        break;
                    }
                }
                total = total + ulong(v_2);
            } while (false);
            if (goto_2)
                break;
            if (v_3 == i)
                break;
            v_2 = v_3;
        }
        total_2 = total + 1022UL;
    }
    // loops +14
    if (!v) {
        ulong n = ulong(i);
        while (true) {
            // loops +16
            long n_2 = long(n >> 1);
            // loops +15
            total_2 = (n & 1UL) + total_2;
            // loops +14
            if (n_2 == 0L)
                break;
            n = ulong(n_2);
        }
    }
    ulong v_4 = 0UL;
    do {
        // loops +18
        total_2 = (v_4 + 1UL) * v_4 * table[long(v_4)] + total_2;
        // loops +17
        v_4 = v_4 + 1UL;
    } while (v_4 != 3UL);
    // loops +19
    args.out[i] = long(total_2);
}
