#include <metal_stdlib>
using namespace metal;

static float f(uint i) { threadgroup float t[8]; t[i & 7] = 1.0f; return t[0]; }  // REJECT: clang
kernel void k(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    x[i] = f(i);
}
