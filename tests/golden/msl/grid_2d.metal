#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device int* out;
    long out_shape_0;
    long out_shape_1;
};

kernel void kernel_grid_2d(constant Args& args [[buffer(0)]],
                           uint3 gid [[thread_position_in_grid]],
                           uint3 grid_threads [[threads_per_grid]])
{
    // grid_2d +3
    args.out[long(ulong(args.out_shape_1) * ulong(gid.x) + ulong(gid.y))] = int(gid.y * 100u + gid.x + grid_threads.x * 10000u + grid_threads.y * 1000000u);
}
