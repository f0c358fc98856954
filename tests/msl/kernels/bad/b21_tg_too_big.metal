#include <metal_stdlib>
using namespace metal;

kernel void k(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    threadgroup float t[10000];  // REJECT: library
    t[i] = y[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[i] = t[i ^ 1u];
}
