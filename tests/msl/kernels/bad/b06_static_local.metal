#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    static int counter = 0;  // REJECT: static-local
    counter += 1;
    x[i] = counter;
}
