#include <metal_stdlib>
using namespace metal;

constant int table[2];  // REJECT: clang
kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    x[i] = table[0];
}
