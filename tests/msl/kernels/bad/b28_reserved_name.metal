#include <metal_stdlib>
using namespace metal;

struct bool2 { int a; int b; };  // REJECT: reserved-name
kernel void k(device int* vertex [[buffer(0)]], uint i [[thread_position_in_grid]])  // REJECT: reserved-name
{
    bool2 sampler = {1, 2};  // REJECT: reserved-name
    vertex[i] = sampler.a;
}
