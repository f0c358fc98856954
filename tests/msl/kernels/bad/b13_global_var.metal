#include <metal_stdlib>
using namespace metal;

int counter = 0;
threadgroup float shared_tile[16];  // REJECT: clang
kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    x[i] = counter;
}
