#include <metal_stdlib>
using namespace metal;

kernel void k(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    threadgroup atomic_float s;        // atomic_float is for device memory
    atomic_fetch_add_explicit(&s, x[i], memory_order_relaxed);  // REJECT: clang
}
