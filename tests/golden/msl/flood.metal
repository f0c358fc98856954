#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device int* image;
    long image_shape_0;
    long image_shape_1;
    device int* rounds;
    long rounds_size;
};

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

kernel void kernel_flood(constant Args& args [[buffer(0)]],
                         uint3 tid [[thread_position_in_threadgroup]],
                         uint thread_index [[thread_index_in_threadgroup]])
{
    threadgroup atomic_uint barrier_word[1];
    long v = long(tid.x) + 1L;
    bool v_2 = v < args.image_shape_1;
    ulong v_3 = ulong(long(tid.y) + 1L);
    ulong v_4 = v_3 * ulong(args.image_shape_1);
    bool v_5 = v_3 < ulong(args.image_shape_0);
    bool v_6 = tid.x == 0u;
    ulong v_7 = (ulong(tid.y) - 1UL) * ulong(args.image_shape_1);
    bool v_8 = tid.y == 0u;
    ulong v_9 = ulong(args.image_shape_1) * ulong(tid.y);
    int v_10 = 1;
    ulong n = 0UL;
    bool goto_14;
    do {
        // flood +5
        int result = int(barrier_or(barrier_word, thread_index, v_10 != 0));
        if (result == 0)
            break;
        goto_14 = false;
        while (true) {
            // flood +7
            n = n + 1UL;
            // flood +8
            if (args.image[long(v_9 + ulong(tid.x))] != 1) {
                v_10 = 0;
                break;
            }
            // flood +11
            long near = v_8 ? 0L : long(args.image[long(ulong(tid.x) + v_7)] == 2);
            // flood +13
            if (!v_6) {
                near = args.image[long(v_9 + ulong(tid.x) - 1UL)] == 2 ? 1L : near;
            }
            // flood +15
            if (v_5) {
                near = args.image[long(ulong(tid.x) + v_4)] == 2 ? 1L : near;
            }
            // flood +17
            if (v_2) {
                near = args.image[long(v_9 + ulong(v))] == 2 ? 1L : near;
            }
            // flood +19
            bool v_11 = near != 0L;
            if (v_11)
                // flood +20
                args.image[long(v_9 + ulong(tid.x))] = 2;
            // flood +5
            int result_2 = int(barrier_or(barrier_word, thread_index, v_11));
            if (result_2 == 0) {
                goto_14 = true;
                break;
            }
        }
    } while (!goto_14);
    // flood +22
    if (v_8 && v_6)
        // flood +23
        args.rounds[0] = int(long(n) > 1L);
}
