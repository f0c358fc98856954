#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device int* x;
    long x_size;
    device int* out;
    long out_shape_0;
    long out_shape_1;
};

static inline uint barrier_and(threadgroup atomic_uint* word, uint index, bool test)
{
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (index == 0u)
        atomic_store_explicit(word, 0u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (!test)
        atomic_fetch_add_explicit(word, 1u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint votes = atomic_load_explicit(word, memory_order_relaxed);
    return uint(votes == 0u);
}

static inline uint barrier_count(threadgroup atomic_uint* word, uint index, bool test)
{
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (index == 0u)
        atomic_store_explicit(word, 0u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (test)
        atomic_fetch_add_explicit(word, 1u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint votes = atomic_load_explicit(word, memory_order_relaxed);
    return votes;
}

static inline uint barrier_or(threadgroup atomic_uint* word, uint index, bool test)
{
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (index == 0u)
        atomic_store_explicit(word, 0u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (test)
        atomic_fetch_add_explicit(word, 1u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint votes = atomic_load_explicit(word, memory_order_relaxed);
    return uint(votes != 0u);
}

kernel void kernel_barrier_votes(constant Args& args [[buffer(0)]],
                                 uint3 gid [[thread_position_in_grid]],
                                 uint thread_index [[thread_index_in_threadgroup]])
{
    threadgroup atomic_uint barrier_word[1];
    // barrier_votes +2
    int result = int(barrier_count(barrier_word, thread_index, args.x[long(gid.x)] > 0));
    ulong v = ulong(args.out_shape_1) * ulong(gid.x);
    args.out[long(v)] = result;
    // barrier_votes +3
    int result_2 = int(barrier_and(barrier_word, thread_index, args.x[long(gid.x)] > 0));
    args.out[long(v + 1UL)] = result_2;
    // barrier_votes +4
    int result_3 = int(barrier_or(barrier_word, thread_index, args.x[long(gid.x)] == 5));
    args.out[long(v + 2UL)] = result_3;
}
