#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    int a = 0;
    while (true) {  // REJECT: endless-loop
        a += x[i];
    }
}
