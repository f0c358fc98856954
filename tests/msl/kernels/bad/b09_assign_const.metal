#include <metal_stdlib>
using namespace metal;

constant int table[2] = {1, 2};
kernel void k(device const int* in [[buffer(0)]], constant int& n [[buffer(1)]], uint i [[thread_position_in_grid]])
{
    in[i] = 3;  // REJECT: clang
}
