#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic_long* x [[buffer(0)]], uint i [[thread_position_in_grid]])  // REJECT: clang
{
    atomic_fetch_add_explicit(x, 1l, memory_order_relaxed);  // REJECT: clang
}
