#include <metal_stdlib>
using namespace metal;

constant int table[2] = {1, 2};
kernel void k(device int* out [[buffer(0)]], constant int& n [[buffer(1)]], uint i [[thread_position_in_grid]])
{
    n = 4;  // REJECT: clang
    table[0] = n;  // REJECT: clang
    out[i] = table[0];
}
