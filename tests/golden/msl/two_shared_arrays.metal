#include <metal_stdlib>
using namespace metal;
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
    ulong v = ulong(tid.y);
    ulong v_2 = ulong(tid.x);
    uint loaded = uint(args.x[long(ulong(args.x_shape_1) * v_2 + v)]);
    long v_3 = long(v_2 * 6UL);
    long v_4 = v_3 + long(v);
    shared[v_4] = loaded;
    // two_shared_arrays +6
    shared_2[v_4] = loaded * 100u;
    // two_shared_arrays +7
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // two_shared_arrays +8
    uint v_5 = shared_2[long(ulong(v_3) + (ulong(tid.y > 5u ? 11L : 5L) - v))] + shared[long((ulong(tid.x > 3u ? 7L : 3L) - v_2) * 6UL + v)];
    args.out[long(ulong(args.out_shape_1) * v_2 + v)] = int(v_5);
}
