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

kernel void kernel_extremes(constant Args& args [[buffer(0)]],
                            uint3 gid [[thread_position_in_grid]])
{
    // extremes +1
    long i = long(gid.x);
    // extremes +2
    if (i < args.x_size) {
        // extremes +3
        atomic_fetch_max_explicit((device atomic_int*)args.out, args.x[i], memory_order_relaxed);
        // extremes +4
        atomic_fetch_min_explicit((device atomic_int*)(args.out + 1), args.x[i], memory_order_relaxed);
        // extremes +5
        atomic_fetch_max_explicit((device atomic_int*)(args.out + 2), args.x[i], memory_order_relaxed);
        // extremes +6
        atomic_fetch_min_explicit((device atomic_int*)(args.out + 3), args.x[i], memory_order_relaxed);
    }
}
