#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    uchar4 a = {x[i], 0, 0, 0};  // REJECT: clang
    uchar b{x[i]};  // REJECT: clang
    x[i] = a.x + b;
}
