#include <metal_stdlib>
using namespace metal;

struct Args { device float* x; long x_size; device float* y; long y_size; float a; };

kernel void saxpy(constant Args& args [[buffer(0)]], uint gid [[thread_position_in_grid]])
{
    long i = gid;
    if (i < args.x_size)
        args.y[i] = args.a * args.x[i] + args.y[i];
}
