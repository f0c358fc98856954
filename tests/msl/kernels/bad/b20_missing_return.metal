#include <metal_stdlib>
using namespace metal;

static int f(int x) { if (x > 0) return 1; }  // REJECT: clang
kernel void k(device int* y [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    int u;
    y[i] = f(y[i]) + u;  // REJECT: clang
}
