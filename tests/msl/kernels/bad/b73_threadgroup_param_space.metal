#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], device int* t [[threadgroup(0)]],  // REJECT: kernel-param
              uint i [[thread_position_in_grid]])
{
    x[i] = t[0];
}
