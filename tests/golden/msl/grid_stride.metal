#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device float* x;
    long x_size;
    device float* out;
    long out_size;
};

static inline ulong divide_ulong(ulong a, ulong b)
{
    return b == 0 ? 0 : a / b;
}

kernel void kernel_grid_stride(constant Args& args [[buffer(0)]],
                               uint3 gid [[thread_position_in_grid]],
                               uint3 grid_threads [[threads_per_grid]])
{
    // grid_stride +2
    long v = long(ulong(args.x_size) - ulong(gid.x));
    ulong v_3;
    if (v < 1L) {
        v_3 = 0UL;
    } else {
        ulong v_2 = divide_ulong(ulong(v), ulong(grid_threads.x));
        v_3 = ulong(long(v_2) + long(ulong(v) - v_2 * ulong(grid_threads.x) != 0UL));
    }
    if (v_3 != 0UL) {
        long v_4 = long(gid.x);
        while (true) {
            // grid_stride +3
            bool v_5 = v_4 < 0L;
            args.out[v_4 + (v_5 ? args.out_size : 0L)] = args.x[v_4 + (v_5 ? args.x_size : 0L)] * 2.0f;
            // grid_stride +2
            if (v_3 <= 1UL)
                break;
            v_3 = v_3 - 1UL;
            v_4 = long(ulong(v_4) + ulong(grid_threads.x));
        }
    }
}
