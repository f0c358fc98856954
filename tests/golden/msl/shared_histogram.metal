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

kernel void kernel_shared_histogram(constant Args& args [[buffer(0)]],
                                    uint3 gid [[thread_position_in_grid]],
                                    uint3 tid [[thread_position_in_threadgroup]])
{
    threadgroup int bins[16];
    // shared_histogram +3
    bool v = tid.x < 16u;
    if (v)
        // shared_histogram +4
        bins[long(tid.x)] = 0;
    // shared_histogram +5
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // shared_histogram +6
    long i = long(gid.x);
    // shared_histogram +7
    if (i < args.x_size) {
        // shared_histogram +8
        int loaded = args.x[i];
        ulong v_2 = ulong(loaded);
        atomic_fetch_add_explicit((threadgroup atomic_int*)(bins + long(loaded < 0 ? v_2 + 16UL : v_2)), 1, memory_order_relaxed);
    }
    // shared_histogram +9
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // shared_histogram +10
    if (v)
        // shared_histogram +11
        atomic_fetch_add_explicit((device atomic_int*)(args.out + long(tid.x)), bins[long(tid.x)], memory_order_relaxed);
}
