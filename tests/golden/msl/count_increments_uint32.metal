#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device uint* out;
    long out_size;
    device int* seen;
    long seen_size;
};

static inline uint atomic_udec_wrap_uint_device(device uint* place, uint value)
{
    device atomic_uint* word = (device atomic_uint*)place;
    uint seen = atomic_load_explicit(word, memory_order_relaxed);
    while (true) {
        uint old = as_type<uint>(seen);
        uint wanted = as_type<uint>(uint(old == 0 || old > value ? value : uint(old - 1)));
        if (atomic_compare_exchange_weak_explicit(word, &seen, wanted, memory_order_relaxed, memory_order_relaxed))
            return old;
    }
}

static inline uint atomic_uinc_wrap_uint_device(device uint* place, uint value)
{
    device atomic_uint* word = (device atomic_uint*)place;
    uint seen = atomic_load_explicit(word, memory_order_relaxed);
    while (true) {
        uint old = as_type<uint>(seen);
        uint wanted = as_type<uint>(uint(old >= value ? 0 : old + 1));
        if (atomic_compare_exchange_weak_explicit(word, &seen, wanted, memory_order_relaxed, memory_order_relaxed))
            return old;
    }
}

kernel void kernel_count_increments(constant Args& args [[buffer(0)]],
                                    uint3 gid [[thread_position_in_grid]])
{
    // count_increments +3
    if (gid.x < 100u) {
        // count_increments +4
        uint old = atomic_uinc_wrap_uint_device(args.out, 9u);
        atomic_fetch_add_explicit((device atomic_int*)(args.seen + long(old)), 1, memory_order_relaxed);
        // count_increments +5
        uint old_3 = atomic_udec_wrap_uint_device(args.out + 1, 9u);
        atomic_fetch_add_explicit((device atomic_int*)(args.seen + long(old_3)), 1, memory_order_relaxed);
    }
}
