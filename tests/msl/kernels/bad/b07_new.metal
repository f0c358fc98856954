#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    thread int* p = new int[4];  // REJECT: clang, no-new
    x[i] = p[0];
    delete[] p;  // REJECT: clang, no-new
}
