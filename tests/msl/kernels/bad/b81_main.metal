#include <metal_stdlib>
using namespace metal;

kernel void main(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = 1; }  // REJECT: clang
