#include <metal_stdlib>
using namespace metal;

struct S { virtual int f(); };  // REJECT: clang, no-virtual
kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    x[i] = 1;
}
