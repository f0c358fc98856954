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

kernel void kernel_tree_sum(constant Args& args [[buffer(0)]],
                            uint3 gid [[thread_position_in_grid]],
                            uint3 tid [[thread_position_in_threadgroup]],
                            uint3 group [[threadgroup_position_in_grid]],
                            uint3 group_size [[threads_per_threadgroup]])
{
    threadgroup uint tile[128];
    // tree_sum +4
    long i = long(gid.x);
    // tree_sum +5
    int v = i < args.x_size ? args.x[i] : 0;
    tile[long(tid.x)] = uint(v);
    // tree_sum +6
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // tree_sum +7
    int v_2 = int(group_size.x >> 1);
    // tree_sum +8
    if (v_2 != 0) {
        ulong step = ulong(v_2);
        do {
            // halve +1
            if (step > ulong(tid.x))
                // halve +2
                tile[long(tid.x)] = tile[long(ulong(tid.x) + step)] + tile[long(tid.x)];
            // halve +3
            threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
            // halve +4
            step = step >> 1;
        } while (step != 0UL);
    }
    // tree_sum +10
    if (tid.x == 0u)
        // tree_sum +11
        args.out[long(group.x)] = int(tile[0]);
}
