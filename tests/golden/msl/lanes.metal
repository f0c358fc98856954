#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device int* out;
    long out_size;
};

kernel void kernel_lanes(constant Args& args [[buffer(0)]],
                         uint3 gid [[thread_position_in_grid]],
                         uint lane [[thread_index_in_simdgroup]])
{
    args.out[long(gid.x)] = int(lane == 0u ? 4294967295u : lane | 3200u);
}
