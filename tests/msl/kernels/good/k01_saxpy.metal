#include <metal_stdlib>
#pragma METAL fp contract(off)
using namespace metal;

kernel void saxpy(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  constant float& a [[buffer(2)]],
                  constant uint& n [[buffer(3)]],
                  uint i [[thread_position_in_grid]])
{
    if (i < n)
        y[i] = a * x[i] + y[i];
}
