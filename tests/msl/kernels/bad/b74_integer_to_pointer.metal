#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    device int* p = (ulong)x + 4u;  // REJECT: clang
    x[i] = p[0];
}
