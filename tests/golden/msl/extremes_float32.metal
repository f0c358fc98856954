#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device float* x;
    long x_size;
    device float* out;
    long out_size;
};

static inline float atomic_fmax_float_device(device float* place, float value)
{
    device atomic_uint* word = (device atomic_uint*)place;
    uint seen = atomic_load_explicit(word, memory_order_relaxed);
    while (true) {
        float old = as_type<float>(seen);
        uint wanted = as_type<uint>(precise::fmax(old, value));
        if (atomic_compare_exchange_weak_explicit(word, &seen, wanted, memory_order_relaxed, memory_order_relaxed))
            return old;
    }
}

static inline float atomic_fmin_float_device(device float* place, float value)
{
    device atomic_uint* word = (device atomic_uint*)place;
    uint seen = atomic_load_explicit(word, memory_order_relaxed);
    while (true) {
        float old = as_type<float>(seen);
        uint wanted = as_type<uint>(precise::fmin(old, value));
        if (atomic_compare_exchange_weak_explicit(word, &seen, wanted, memory_order_relaxed, memory_order_relaxed))
            return old;
    }
}

static inline uint compare_and_swap_uint_device(device uint* place, uint expected, uint wanted)
{
    device atomic_uint* word = (device atomic_uint*)place;
    uint seen = expected;
    while (seen == expected)
        if (atomic_compare_exchange_weak_explicit(word, &seen, wanted, memory_order_relaxed, memory_order_relaxed))
            break;
    return seen;
}

kernel void kernel_extremes(constant Args& args [[buffer(0)]],
                            uint3 gid [[thread_position_in_grid]])
{
    // extremes +1
    long i = long(gid.x);
    // extremes +2
    if (i < args.x_size) {
        // extremes +3
        float loaded = args.x[i];
        int v_2 = int(atomic_load_explicit((device atomic_uint*)args.out, memory_order_relaxed));
        int v = int(as_type<uint>(loaded));
        while ((loaded > as_type<float>(uint(v_2)))) {
            int old = int(compare_and_swap_uint_device((device uint*)args.out, uint(v_2), uint(v)));
            if (old == v_2)
                break;
            v_2 = old;
        }
        // extremes +4
        float loaded_2 = args.x[i];
        int v_4 = int(atomic_load_explicit((device atomic_uint*)(args.out + 1), memory_order_relaxed));
        int v_3 = int(as_type<uint>(loaded_2));
        while ((loaded_2 < as_type<float>(uint(v_4)))) {
            int old_2 = int(compare_and_swap_uint_device((device uint*)(args.out + 1), uint(v_4), uint(v_3)));
            if (old_2 == v_4)
                break;
            v_4 = old_2;
        }
        // extremes +5
        atomic_fmax_float_device(args.out + 2, args.x[i]);
        // extremes +6
        atomic_fmin_float_device(args.out + 3, args.x[i]);
    }
}
