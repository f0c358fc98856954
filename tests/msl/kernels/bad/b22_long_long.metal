#include <metal_stdlib>
using namespace metal;

kernel void k(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    unsigned long long n = i;  // REJECT: no-long-long
    y[n] = 1.0f;
}
