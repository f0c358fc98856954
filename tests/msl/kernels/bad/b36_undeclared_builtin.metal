#include <metal_stdlib>
using namespace metal;

kernel void k(device float* x [[buffer(0)]])
{
    x[get_global_id(0)] = __builtin_sinf(1.0f);  // REJECT: clang, reserved
}
