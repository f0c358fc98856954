#include <metal_stdlib>
using namespace metal;

kernel void a(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = 1; }
kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { a(x, i); }  // REJECT: kernel-call
