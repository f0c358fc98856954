#include <metal_stdlib>
using namespace metal;

kernel void k(device float4* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    x[i] = (float4)(1.0f, 2.0f, 3.0f, 4.0f);   // splat of 4 in Metal  // REJECT: vector-cast
}
