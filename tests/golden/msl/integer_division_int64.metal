#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device long* x;
    long x_size;
    device long* y;
    long y_size;
    device long* out;
    long out_shape_0;
    long out_shape_1;
};

static inline long divide_long(long a, long b)
{
    return b == 0 ? 0 : b == -1 ? long(ulong(0) - ulong(a)) : a / b;
}

static inline long remainder_long(long a, long b)
{
    return b == 0 ? 0 : b == -1 ? 0 : a % b;
}

kernel void kernel_integer_division(constant Args& args [[buffer(0)]],
                                    uint3 gid [[thread_position_in_grid]])
{
    // integer_division +1
    long i = long(gid.x);
    // integer_division +2
    if (i < args.x_size) {
        // integer_division +3
        ulong loaded = ulong(args.x[i]);
        ulong loaded_2 = ulong(args.y[i]);
        long v = long(loaded_2 + 1UL < 2UL ? 1UL : loaded_2);
        ulong v_2 = ulong(divide_long(long(loaded), v));
        ulong v_3 = loaded - v_2 * ulong(v);
        args.out[i] = long(loaded_2 == 0UL ? 0UL : (loaded_2 == 18446744073709551615UL ? 0UL - loaded : v_2 + ulong(v_3 != 0UL && (v ^ long(v_3)) < 0L ? -1L : 0L)));
        // integer_division +4
        ulong loaded_3 = ulong(args.y[i]);
        long v_4 = long(loaded_3 + 1UL < 2UL ? 1UL : loaded_3);
        ulong v_5 = ulong(remainder_long(args.x[i], v_4));
        args.out[args.out_shape_1 + i] = long(ulong(v_5 != 0UL && (v_4 ^ long(v_5)) < 0L ? v_4 : 0L) + v_5);
        // integer_division +5
        ulong loaded_4 = ulong(args.x[i]);
        ulong loaded_5 = ulong(args.y[i]);
        long v_6 = long(loaded_5 + 1UL < 2UL ? 1UL : loaded_5);
        ulong v_7 = ulong(divide_long(long(loaded_4), v_6));
        ulong v_8 = loaded_4 - v_7 * ulong(v_6);
        bool v_9 = v_8 != 0UL && (v_6 ^ long(v_8)) < 0L;
        // integer_division +6
        args.out[args.out_shape_1 * 2L + i] = long(loaded_5 == 0UL ? 0UL : (loaded_5 == 18446744073709551615UL ? 0UL - loaded_4 : v_7 + ulong(v_9 ? -1L : 0L)));
        // integer_division +7
        args.out[args.out_shape_1 * 3L + i] = long(ulong(v_9 ? v_6 : 0L) + v_8);
    }
}
