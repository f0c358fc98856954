#include <metal_stdlib>
using namespace metal;

kernel void k(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    threadgroup float tile[32];
    threadgroup float* p = x;          // device -> threadgroup  // REJECT: clang
    tile[i & 31] = p[i];
}
