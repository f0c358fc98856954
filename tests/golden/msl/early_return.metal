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

kernel void kernel_early_return(constant Args& args [[buffer(0)]],
                                uint3 tid [[thread_position_in_threadgroup]])
{
    threadgroup uint tile[64];
    // early_return +4
    tile[long(tid.x)] = uint(args.x[long(tid.x)]);
    // early_return +5
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // early_return +6
    bool inside = tid.x <= 19u;
    uint loaded;
    if (inside) {
        // early_return +8
        loaded = tile[long(tid.x)];
    }
    // early_return +9
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (inside) {
        // early_return +10
        tile[19L - long(tid.x)] = loaded + 100u;
    }
    // early_return +11
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (inside) {
        // early_return +12
        args.out[long(tid.x)] = int(tile[long(tid.x)]);
    }
}
