#include <metal_stdlib>
using namespace metal;

kernel void k(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    float y = x[i];
    device float* p = (device float*)&y;   // thread -> device by C-style cast  // REJECT: clang
    x[i] = *p;
}
