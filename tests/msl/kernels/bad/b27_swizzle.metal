#include <metal_stdlib>
using namespace metal;

kernel void k(device float4* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    float4 p = x[i];
    x[i].xy = p.s01 + p.hi;  // REJECT: swizzle
}
