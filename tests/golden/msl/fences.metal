#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    coherent(device) device int* x;
    long x_size;
};

kernel void kernel_fences(constant Args& args [[buffer(0)]],
                          uint3 gid [[thread_position_in_grid]])
{
    // fences +2
    args.x[long(gid.x)] = int(uint(args.x[long(gid.x)]) + 123u);
    // fences +3
    atomic_thread_fence(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_seq_cst, thread_scope_device);
    // fences +4
    args.x[long(gid.x)] = int(uint(args.x[long(gid.x)]) + 321u);
    // fences +5
    atomic_thread_fence(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_seq_cst, thread_scope_threadgroup);
    // fences +6
    args.x[long(gid.x)] = int(uint(args.x[long(gid.x)]) + 1u);
    // fences +7
    atomic_thread_fence(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_seq_cst, thread_scope_device);
    // fences +8
    args.x[long(gid.x)] = int(uint(args.x[long(gid.x)]) + 1u);
}
