#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], device int* y [[buffer(0)]], constant int& n, long m [[thread_position_in_grid]],  // REJECT: kernel-param
              uint l [[thread_index_in_threadgruop]])  // REJECT: kernel-param
{
    x[m] = y[m] + n + int(l);
}
