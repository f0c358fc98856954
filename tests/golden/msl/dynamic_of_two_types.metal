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

kernel void kernel_dynamic_of_two_types(constant Args& args [[buffer(0)]],
                                        threadgroup uchar* dynamic_shared [[threadgroup(0)]],
                                        uint3 tid [[thread_position_in_threadgroup]])
{
    // dynamic_of_two_types +5
    *(threadgroup int*)&dynamic_shared[long(tid.x) * 4L] = args.x[long(tid.x)];
    // dynamic_of_two_types +6
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // dynamic_of_two_types +7
    int v = int(dynamic_shared[long((ulong(tid.x) << 2) + 1UL)]) * 1000 + int(dynamic_shared[long(ulong(tid.x) << 2)]);
    args.out[long(tid.x)] = v;
}
