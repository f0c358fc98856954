#include <metal_stdlib>
using namespace metal;
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
    // views_of_views +3
    long v = long(group.x << 1);
    ulong v_2 = v < args.stack_shape_0 ? ulong(v) : ulong(args.stack_shape_0);
    ulong v_3 = ulong(args.out_shape_2) * ulong(args.out_shape_1);
    ulong v_4 = ulong(args.stack_shape_2) * ulong(args.stack_shape_1);
    ulong v_5 = v_2 * v_4;
    bool v_6 = false;
    ulong v_7 = 0UL;
    while (true) {
        // views_of_views +5
        if (args.stack_shape_1 != 0L) {
            ulong v_8 = v_3 * (v_7 | ulong(v));
            ulong v_9 = v_7 * v_4;
            ulong v_10 = 0UL;
            while (true) {
                long v_11 = long(v_10 + 1UL);
                // views_of_views +6
                ulong v_12 = args.stack_shape_2 < 2L ? ulong(args.stack_shape_2) : 1UL;
                ulong v_13 = v_10 * ulong(args.stack_shape_2);
                long v_14 = long(ulong(args.stack_shape_2) - v_12);
                // views_of_views +7
                if (v_14 >= 1L) {
                    ulong v_15 = v_10 * ulong(args.out_shape_2);
                    long v_16 = 0L;
                    do {
                        // views_of_views +8
                        args.out[long(v_8 + v_15 + ulong(v_16))] = args.stack[long(v_5 + v_9 + v_13 + v_12 + ulong(v_16))] * 10.0f;
                        // views_of_views +7
                        v_16 = v_16 + 1L;
                    } while (v_14 != v_16);
                }
                // views_of_views +5
                if (v_11 == args.stack_shape_1)
                    break;
                v_10 = ulong(v_11);
            }
        }
        // views_of_views +4
        if (v_6)
            break;
        v_6 = true;
        v_7 = 1UL;
    }
}
