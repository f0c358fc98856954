#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    constant char* s = "text";  // REJECT: clang, string
    x[i] = s[0];
}
