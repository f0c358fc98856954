#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device int* out;
    long out_size;
};

kernel void kernel_grid_1d(constant Args& args [[buffer(0)]],
                           uint3 gid [[thread_position_in_grid]],
                           uint3 grid_threads [[threads_per_grid]])
{
    // grid_1d +1
    long i = long(gid.x);
    // grid_1d +2
    if (i < args.out_size)
        // grid_1d +3
        args.out[i] = int(grid_threads.x * 1000u + gid.x);
}
