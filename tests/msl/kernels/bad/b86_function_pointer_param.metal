#include <metal_stdlib>
using namespace metal;

static int twice(int a) { return a * 2; }
static int apply(int (*f)(int), int a) { return f(a); }  // REJECT: clang
kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    x[i] = apply(twice, x[i]);  // REJECT: clang
}
