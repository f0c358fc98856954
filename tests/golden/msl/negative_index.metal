#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device int* out;
    long out_size;
};

kernel void kernel_negative_index(constant Args& args [[buffer(0)]])
{
    // negative_index +1
    atomic_fetch_add_explicit((device atomic_int*)(args.out + (args.out_size - 1L)), 1, memory_order_relaxed);
}
