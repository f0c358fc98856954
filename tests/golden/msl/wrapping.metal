#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device uint* x;
    long x_shape_0;
    long x_shape_1;
    device ulong* out;
    long out_size;
};

kernel void kernel_wrapping(constant Args& args [[buffer(0)]],
                            uint3 gid [[thread_position_in_grid]])
{
    // wrapping +2
    ulong i = ulong(gid.x);
    // wrapping +3
    if (i < ulong(args.out_size)) {
        long h_2;
        // wrapping +5
        if (args.x_shape_1 == 0L) {
            h_2 = 7347990519673328018L;
        } else {
            ulong v = ulong(args.x_shape_1) * i;
            ulong h = 14695981039346656037UL;
            long v_2 = 0L;
            do {
                // wrapping +6
                h = (h ^ ulong(args.x[long(v + ulong(v_2))])) * 1099511628211UL;
                // wrapping +5
                v_2 = v_2 + 1L;
            } while (v_2 != args.x_shape_1);
            h_2 = long(h >> 1);
        }
        // wrapping +7
        args.out[long(i)] = ulong(h_2);
    }
}
