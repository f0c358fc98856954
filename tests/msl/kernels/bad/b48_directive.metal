#include <metal_stdlib>
#import <metal_math>  // REJECT: directive
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    x[i] = 1;
}
