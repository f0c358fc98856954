#include <metal_stdlib>
using namespace metal;

kernel void k(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    float* p = &x[i];  // REJECT: address-space
    *p = 1.0f;
}
