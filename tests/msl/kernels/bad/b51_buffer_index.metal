#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(31)]], uint i [[thread_position_in_grid]])  // REJECT: kernel-param
{
    x[i] = 1;
}
