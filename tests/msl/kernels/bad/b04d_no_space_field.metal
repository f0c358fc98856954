#include <metal_stdlib>
using namespace metal;

struct Args { float* p; long n; };  // REJECT: address-space
kernel void k(constant Args& a [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    if (long(i) < a.n) a.p[i] = 1.0f;
}
