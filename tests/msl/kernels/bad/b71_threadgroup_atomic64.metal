#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    threadgroup atomic_ulong t;
    atomic_max_explicit(&t, ulong(i), memory_order_relaxed);  // REJECT: clang
    x[i] = 1;
}
