#include <metal_stdlib>
using namespace metal;

kernel void k(device int4* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    int4 a = x[i];
    x[i] = (a > 0) ? a : -a;  // REJECT: vector-compare, vector-select
}
