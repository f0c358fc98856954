#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device int* out;
    long out_shape_0;
    long out_shape_1;
};

kernel void kernel_thread_numbers(constant Args& args [[buffer(0)]],
                                  uint3 tid [[thread_position_in_threadgroup]],
                                  uint3 group [[threadgroup_position_in_grid]],
                                  uint3 group_size [[threads_per_threadgroup]],
                                  uint3 grid_size [[threadgroups_per_grid]])
{
    // thread_numbers +2
    ulong v = ulong(long(ulong(group_size.x) * ulong(group.x)) + long(tid.x)) * ulong(args.out_shape_1);
    args.out[long(v)] = int(tid.x);
    // thread_numbers +3
    args.out[long(v + 1UL)] = int(group.x);
    // thread_numbers +4
    args.out[long(v + 2UL)] = int(group_size.x);
    // thread_numbers +5
    args.out[long(v + 3UL)] = int(grid_size.x);
}
