#include <metal_stdlib>
using namespace metal;

kernel void k(device float* x [[buffer(0)]], constant uint& n [[buffer(1)]], uint i [[thread_position_in_grid]])
{
    int j = int(i);
    x[i] = x[min(j, n)];               // int vs uint: ambiguous in Metal too  // REJECT: clang
}
