#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    if (i < 8u) {
        threadgroup int t[8];  // REJECT: clang
        t[i] = x[i];
        x[i] = t[i];
    }
}
