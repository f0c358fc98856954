#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    thread int* p = const_cast<thread int*>(x + i);  // REJECT: clang
    *p = 1;
}
