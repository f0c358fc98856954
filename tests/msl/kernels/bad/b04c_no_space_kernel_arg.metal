#include <metal_stdlib>
using namespace metal;

kernel void k(float* x [[buffer(0)]], uint i [[thread_position_in_grid]])  // REJECT: clang
{
    x[i] = 1.0f;
}
