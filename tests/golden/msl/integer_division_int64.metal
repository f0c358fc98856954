#include <metal_stdlib>
using namespace metal;
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
        long loaded = args.x[i];
        long quot = args.y[i];
        long quot_2;
        if (quot == 0L) {
            quot_2 = 0L;
        } else {
            if (loaded != (-9223372036854775807L - 1) || quot != -1L) {
                ulong v = ulong(divide_long(loaded, quot));
                ulong v_2 = ulong(loaded) - v * ulong(quot);
                quot_2 = long(v + ulong(v_2 != 0UL && long(v_2 ^ ulong(quot)) < 0L ? -1L : 0L));
            } else {
                quot_2 = 0L;
            }
        }
        args.out[i] = quot_2;
        // integer_division +4
        long loaded_2 = args.x[i];
        long quot_3 = args.y[i];
        long rem;
        if (quot_3 == 0L) {
            rem = 0L;
        } else {
            if (loaded_2 != (-9223372036854775807L - 1) || quot_3 != -1L) {
                ulong v_3 = ulong(remainder_long(loaded_2, quot_3));
                rem = long(ulong(v_3 != 0UL && long(v_3 ^ ulong(quot_3)) < 0L ? quot_3 : 0L) + v_3);
            } else {
                rem = 0L;
            }
        }
        args.out[args.out_shape_1 + i] = rem;
        // integer_division +5
        long loaded_3 = args.x[i];
        long quot_4 = args.y[i];
        long quot_5;
        long rem_2;
        if (quot_4 == 0L) {
            quot_5 = 0L;
            rem_2 = 0L;
        } else {
            if (loaded_3 != (-9223372036854775807L - 1) || quot_4 != -1L) {
                ulong v_4 = ulong(divide_long(loaded_3, quot_4));
                ulong v_5 = ulong(loaded_3) - v_4 * ulong(quot_4);
                bool v_6 = v_5 != 0UL && long(v_5 ^ ulong(quot_4)) < 0L;
                quot_5 = long(v_4 + ulong(v_6 ? -1L : 0L));
                rem_2 = long(ulong(v_6 ? quot_4 : 0L) + v_5);
            } else {
                quot_5 = 0L;
                rem_2 = 0L;
            }
        }
        // integer_division +6
        args.out[args.out_shape_1 * 2L + i] = quot_5;
        // integer_division +7
        args.out[args.out_shape_1 * 3L + i] = rem_2;
    }
}
