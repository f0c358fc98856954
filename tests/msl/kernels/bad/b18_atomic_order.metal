#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic_int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    atomic_fetch_add_explicit(x, int(i), memory_order_seq_cst);  // REJECT: clang
}
