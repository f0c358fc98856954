#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic_ulong* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    atomic_fetch_add_explicit(x, ulong(i), memory_order_relaxed);  // REJECT: clang
}
