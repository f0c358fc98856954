#include <metal_stdlib>
using namespace metal;

struct A { int a; };
struct B : A { int b; };
kernel void k(device B* y [[buffer(0)]], uint i [[thread_position_in_grid]])  // REJECT: clang
{
    y[i].a = y[i].b;
}
