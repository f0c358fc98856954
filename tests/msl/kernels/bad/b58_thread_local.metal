#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    thread_local int a = 1;  // REJECT: clang, no-storage-class
    x[i] = a;
}
