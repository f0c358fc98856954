#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device int* lock;
    long lock_size;
    device int* total;
    long total_size;
};

static inline uint compare_and_swap_uint_device(device uint* place, uint expected, uint wanted)
{
    device atomic_uint* word = (device atomic_uint*)place;
    uint seen = expected;
    while (seen == expected)
        if (atomic_compare_exchange_weak_explicit(word, &seen, wanted, memory_order_relaxed, memory_order_relaxed))
            break;
    return seen;
}

kernel void kernel_lock_by_cas(constant Args& args [[buffer(0)]])
{
    uint loaded;
    int old;
    do {
        // lock_by_cas +4
        loaded = uint(args.total[0]);
        // lock_by_cas +5
        old = int(compare_and_swap_uint_device((device uint*)args.total, loaded, loaded + 2u));
    } while (old != int(loaded));
    // lock_by_cas +6
    compare_and_swap_uint_device((device uint*)args.lock, 0u, 7u);
    // lock_by_cas +7
    compare_and_swap_uint_device((device uint*)args.lock, 0u, 8u);
}
