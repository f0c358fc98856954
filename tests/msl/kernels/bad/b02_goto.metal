#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    int n = 0;
again:  // REJECT: no-goto
    if (++n < 10) goto again;  // REJECT: no-goto
    x[i] = n;
}
