#include <metal_stdlib>
using namespace metal;

static int sum(int n, ...) { return n; }  // REJECT: clang
kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    x[i] = sum(2, x[i], 3);
}
