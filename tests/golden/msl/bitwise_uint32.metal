#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device uint* x;
    long x_size;
    device uint* out;
    long out_size;
};

kernel void kernel_bitwise(constant Args& args [[buffer(0)]],
                           uint3 gid [[thread_position_in_grid]])
{
    // bitwise +1
    long i = long(gid.x);
    // bitwise +2
    if (i < args.x_size) {
        // bitwise +3
        atomic_fetch_and_explicit((device atomic_uint*)args.out, args.x[i], memory_order_relaxed);
        // bitwise +4
        atomic_fetch_or_explicit((device atomic_uint*)(args.out + 1), args.x[i], memory_order_relaxed);
        // bitwise +5
        atomic_fetch_xor_explicit((device atomic_uint*)(args.out + 2), args.x[i], memory_order_relaxed);
    }
}
