#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);  // REJECT: clang
    x[i] = 1;
}
