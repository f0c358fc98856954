#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device float* stack;
    long stack_shape_0;
    long stack_shape_1;
    long stack_shape_2;
    device float* out;
    long out_shape_0;
    long out_shape_1;
    long out_shape_2;
};

kernel void kernel_views_of_views(constant Args& args [[buffer(0)]],
                                  uint3 group [[threadgroup_position_in_grid]])
{
    ulong v = ulong(args.out_shape_2) * ulong(args.out_shape_1);
    ulong v_2 = ulong(args.stack_shape_2 != 0L);
    long v_3 = long(ulong(args.stack_shape_2) - v_2);
    bool v_4 = v_3 < 1L;
    // views_of_views +3
    ulong v_5 = ulong(args.stack_shape_2) * ulong(args.stack_shape_1);
    ulong v_6 = ulong(group.x << 1);
    ulong v_7 = min(ulong(args.stack_shape_0), v_6) * v_5;
    bool v_8 = false;
    ulong v_9 = 0UL;
    while (true) {
        // views_of_views +5
        if (args.stack_shape_1 != 0L) {
            ulong v_10 = v * (v_9 | v_6);
            ulong v_11 = v_9 * v_5;
            ulong v_12 = 0UL;
            while (true) {
                // views_of_views +6
                ulong v_13 = v_12 * ulong(args.stack_shape_2);
                // views_of_views +5
                long v_14 = long(v_12 + 1UL);
                // views_of_views +7
                if (!v_4) {
                    ulong v_15 = v_12 * ulong(args.out_shape_2);
                    long v_16 = 0L;
                    do {
                        // views_of_views +8
                        args.out[long(v_10 + v_15 + ulong(v_16))] = args.stack[long(v_7 + v_2 + v_11 + v_13 + ulong(v_16))] * 10.0f;
                        // views_of_views +7
                        v_16 = v_16 + 1L;
                    } while (v_3 != v_16);
                }
                // views_of_views +5
                if (v_14 == args.stack_shape_1)
                    break;
                v_12 = ulong(v_14);
            }
        }
        // views_of_views +4
        if (v_8)
            break;
        v_8 = true;
        v_9 = 1UL;
    }
}
