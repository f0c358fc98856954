#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    auto twice = [](int a) { return a * 2; };  // REJECT: lambda
    x[i] = twice(x[i]);
}
