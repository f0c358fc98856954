#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device int* x;
    long x_size;
    device int* out;
    long out_size;
};

kernel void kernel_shared_in_device_function(constant Args& args [[buffer(0)]],
                                             uint3 tid [[thread_position_in_threadgroup]])
{
    threadgroup uint kept[32];
    // shared_in_device_function +3
    int loaded = args.x[long(tid.x)];
    // use_shared +2
    if (loaded > -1)
        // use_shared +3
        kept[long(tid.x)] = uint(loaded);
    // use_shared +4
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // use_shared +5
    uint loaded_2 = kept[long(tid.x)];
    // shared_in_device_function +4
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // use_shared +4
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // shared_in_device_function +5
    args.out[long(tid.x)] = int(kept[long(tid.x)] + loaded_2);
}
