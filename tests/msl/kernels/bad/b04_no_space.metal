#include <metal_stdlib>
using namespace metal;

static float get(float* p) { return *p; }  // REJECT: address-space
kernel void k(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    x[i] = get(x + i) + 1.0f;
}
