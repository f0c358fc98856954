#include <metal_stdlib>
using namespace metal;

kernel void k(device float4* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    __global float4* p = x;  // REJECT: opencl-word
    local float t[4];  // REJECT: opencl-word
    t[0] = p[i].s0 + p[i].hi.x;  // REJECT: swizzle
    x[i].x = t[0];
}
