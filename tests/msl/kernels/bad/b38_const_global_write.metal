#include <metal_stdlib>
using namespace metal;

kernel void k(device const int* a [[buffer(0)]], device int* x [[buffer(1)]], uint i [[thread_position_in_grid]])
{
    device int* p = a;                 // drops const  // REJECT: clang
    thread int t = 0;
    threadgroup int* q = &t;           // thread -> threadgroup  // REJECT: clang
    p[i] = *q;
}
