#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    half h = half(x[i]);
    x[i] = int(max(h, 1.5f));  // REJECT: clang
}
