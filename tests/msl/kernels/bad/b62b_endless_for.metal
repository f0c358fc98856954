#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    for (;;) {  // REJECT: endless-loop
        for (int j = 0; j < 9; ++j) { if (j == x[i]) break; }
    }
}
