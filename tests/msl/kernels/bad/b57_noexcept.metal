#include <metal_stdlib>
using namespace metal;

static int f(int a) noexcept { return a; }  // REJECT: no-noexcept
kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    x[i] = f(x[i]);
}
