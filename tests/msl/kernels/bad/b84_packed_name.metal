#include <metal_stdlib>
using namespace metal;

static int packed_sum(int a) { return a + 1; }  // REJECT: reserved-name
kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    x[i] = packed_sum(x[i]);
}
