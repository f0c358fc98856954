#include <metal_stdlib>
using namespace metal;

kernel void k(device int* device* x [[buffer(0)]], uint i [[thread_position_in_grid]])  // REJECT: pointer-to-pointer
{
    x[i][0] = 1;
}
