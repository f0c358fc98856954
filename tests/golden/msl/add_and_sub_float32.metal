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

kernel void kernel_add_and_sub(constant Args& args [[buffer(0)]],
                               uint3 gid [[thread_position_in_grid]])
{
    // add_and_sub +1
    long i = long(gid.x);
    // add_and_sub +2
    if (i < args.x_size) {
        // add_and_sub +3
        atomic_fetch_add_explicit((device atomic_float*)(args.out + long(gid.x % 7u)), args.x[i], memory_order_relaxed);
        // add_and_sub +4
        atomic_fetch_sub_explicit((device atomic_float*)(args.out + (long(gid.x % 3u) + 7L)), args.x[i], memory_order_relaxed);
    }
}
