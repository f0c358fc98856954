#include <metal_stdlib>
using namespace metal;

static void put(device float* p) { *p = 1.0f; }
kernel void k(device const float* y [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    put(&y[i]);  // REJECT: clang
}
