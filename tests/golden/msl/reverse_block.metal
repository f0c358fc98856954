#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device float* x;
    long x_size;
    device float* out;
    long out_size;
};

kernel void kernel_reverse_block(constant Args& args [[buffer(0)]],
                                 uint3 gid [[thread_position_in_grid]],
                                 uint3 tid [[thread_position_in_threadgroup]],
                                 uint3 group_size [[threads_per_threadgroup]])
{
    threadgroup float shared[64];
    // reverse_block +4
    shared[long(tid.x)] = args.x[long(gid.x)];
    // reverse_block +5
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // reverse_block +6
    ulong v = ulong(group_size.x) + ulong(~long(tid.x));
    args.out[long(gid.x)] = shared[long(v + ((v >> 57) & 64UL))];
}
