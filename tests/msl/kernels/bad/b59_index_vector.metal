#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]],
              uint2 l [[thread_index_in_simdgroup]])  // REJECT: kernel-param
{
    x[i] = int(l.x);
}
