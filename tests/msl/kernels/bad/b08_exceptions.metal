#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    try {  // REJECT: clang, no-exceptions
        if (x[i] < 0) throw 1;  // REJECT: clang, no-exceptions
    } catch (int e) {  // REJECT: no-exceptions
        x[i] = e;
    }
}
