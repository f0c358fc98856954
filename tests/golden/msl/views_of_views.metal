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
    bool v_4 = args.stack_shape_2 < 2L;
    bool v_5 = args.stack_shape_1 < 1L;
    ulong v_6 = ulong(args.stack_shape_2) * ulong(args.stack_shape_1);
    ulong v_7 = v_2 * v_6;
    bool v_8 = false;
    long v_9 = 0L;
    while (true) {
        // views_of_views +5
        if (!v_5) {
            ulong v_10 = v_3 * ulong(v_9 | v);
            long v_11 = v_9 * long(v_6);
            ulong v_12 = 0UL;
            while (true) {
                long v_13 = long(v_12 + 1UL);
                // views_of_views +6
                ulong v_14 = v_4 ? ulong(args.stack_shape_2) : 1UL;
                ulong v_15 = v_12 * ulong(args.stack_shape_2);
                long v_16 = long(ulong(args.stack_shape_2) - v_14);
                // views_of_views +7
                if (v_16 >= 1L) {
                    ulong v_17 = v_12 * ulong(args.out_shape_2);
                    long v_18 = 0L;
                    do {
                        // views_of_views +8
                        args.out[long(v_10 + v_17 + ulong(v_18))] = args.stack[long(v_7 + ulong(v_11) + v_15 + v_14 + ulong(v_18))] * 10.0f;
                        // views_of_views +7
                        v_18 = v_18 + 1L;
                    } while (v_16 != v_18);
                }
                // views_of_views +5
                if (v_13 == args.stack_shape_1)
                    break;
                v_12 = ulong(v_13);
            }
        }
        // views_of_views +4
        if (v_8)
            break;
        v_8 = true;
        v_9 = 1L;
    }
}
