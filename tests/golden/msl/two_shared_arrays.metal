#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device int* x;
    long x_shape_0;
    long x_shape_1;
    device int* out;
    long out_shape_0;
    long out_shape_1;
};

kernel void kernel_two_shared_arrays(constant Args& args [[buffer(0)]],
                                     uint3 tid [[thread_position_in_threadgroup]])
{
    threadgroup uint shared[24];
    threadgroup uint shared_2[24];
    // two_shared_arrays +5
    uint loaded = uint(args.x[long(ulong(args.x_shape_1) * ulong(tid.x) + ulong(tid.y))]);
    shared[long(tid.x) * 6L + long(tid.y)] = loaded;
    // two_shared_arrays +6
    shared_2[long(tid.x) * 6L + long(tid.y)] = loaded * 100u;
    // two_shared_arrays +7
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // two_shared_arrays +8
    uint loaded_2 = shared[long((ulong(tid.x > 3u ? 7L : 3L) - ulong(tid.x)) * 6UL + ulong(tid.y))];
    uint loaded_3 = shared_2[long(ulong(long(tid.x) * 6L) + (ulong(tid.y > 5u ? 11L : 5L) - ulong(tid.y)))];
    args.out[long(ulong(args.out_shape_1) * ulong(tid.x) + ulong(tid.y))] = int(loaded_3 + loaded_2);
}
