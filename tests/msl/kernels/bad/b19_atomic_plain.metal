#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic_int* x [[buffer(0)]], device int* y [[buffer(1)]], uint i [[thread_position_in_grid]])
{
    *x = 3;  // REJECT: clang
    atomic_fetch_add_explicit(y, 1, memory_order_relaxed);  // REJECT: clang
}
