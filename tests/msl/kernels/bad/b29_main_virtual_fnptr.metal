#include <metal_stdlib>
using namespace metal;

typedef int (*fn)(int);  // REJECT: clang
static int twice(int a) { return a * 2; }
kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    fn f = twice;  // REJECT: clang
    x[i] = f(x[i]);  // REJECT: clang
}
