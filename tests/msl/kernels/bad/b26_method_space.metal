#include <metal_stdlib>
using namespace metal;

struct S { float v; float twice() const { return v * 2.0f; } };
kernel void k(device S* s [[buffer(0)]], device float* x [[buffer(1)]], uint i [[thread_position_in_grid]])
{
    x[i] = s[i].twice();               // `this` is thread memory unless qualified  // REJECT: method-space
}
