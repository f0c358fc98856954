#include <metal_stdlib>
#pragma OPENCL EXTENSION cl_khr_fp64 : enable  // REJECT: clang, pragma
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    x[i] = 1;
}
