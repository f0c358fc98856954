#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic_uint* x [[buffer(0)]], device uint* e [[buffer(1)]], uint i [[thread_position_in_grid]])
{
    atomic_compare_exchange_weak_explicit(x, &e[i], 1u, memory_order_relaxed, memory_order_relaxed);  // REJECT: clang
}
