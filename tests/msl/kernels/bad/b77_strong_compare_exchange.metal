#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic_uint* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    uint e = 0u;
    atomic_compare_exchange_strong_explicit(x, &e, 1u, memory_order_relaxed, memory_order_relaxed);  // REJECT: clang
}
