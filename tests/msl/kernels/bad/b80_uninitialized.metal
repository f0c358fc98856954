#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    int a;
    if (x[i] > 0) a = 1;  // REJECT: clang
    x[i] = a;
}
