#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]],  // REJECT: kernel-param
              ushort n [[threads_per_grid]])
{
    x[i] = int(n);
}
