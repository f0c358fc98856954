#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

struct Args {
    device int* x;
    long x_size;
    device int* out;
    long out_size;
};

kernel void kernel_early_return(constant Args& args [[buffer(0)]],
                                uint3 tid [[thread_position_in_threadgroup]])
{
    threadgroup uint tile[64];
    // early_return +3
    int t = int(tid.x);
    // early_return +4
    long v = long(t);
    tile[v] = uint(args.x[v]);
    // early_return +5
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // early_return +6
    if (t <= 19) {
        // early_return +8
        uint loaded = tile[v];
        // early_return +9
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
        // early_return +10
        tile[19L - v] = loaded + 100u;
        // early_return +11
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
        // early_return +12
        args.out[v] = int(tile[v]);
    }
}
