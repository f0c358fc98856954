#include <metal_stdlib>
using namespace metal;

struct Args { device float* x; long x_size; device float* partial; long partial_size; };

kernel void reduction(constant Args& args [[buffer(0)]],
                      uint gid [[thread_position_in_grid]],
                      uint t [[thread_position_in_threadgroup]],
                      uint group [[threadgroup_position_in_grid]],
                      uint size [[threads_per_threadgroup]])
{
    threadgroup float tile[256];
    long i = gid;
    tile[t] = i < args.x_size ? args.x[i] : 0.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint step = size / 2;
    while (step > 0) {
        if (t < step)
            tile[t] += tile[t + step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        step /= 2;
    }
    if (t == 0)
        args.partial[group] = tile[0];
}
