#include <metal_stdlib>
using namespace metal;

kernel void k(device long* y [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    y[i] = simd_sum(y[i]);  // REJECT: clang
}
