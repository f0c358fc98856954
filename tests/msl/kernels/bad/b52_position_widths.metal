#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]],  // REJECT: kernel-param
              uint2 l [[thread_position_in_threadgroup]])
{
    x[i] = int(l.x);
}
