#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    constant int t[2] = {1, 2};  // REJECT: automatic-space
    x[i] = t[i & 1u];
}
