#include <metal_stdlib>
#include <cmath>  // REJECT: clang, include
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    x[i] = 1;
}
