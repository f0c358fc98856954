#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    co_return;  // REJECT: clang, no-c++20
    x[i] = 1;
}
