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

static inline ulong shuffle_down_ulong(ulong value, int lane, uint own)
{
    int source = int(own) + lane;
    bool inside = source >= 0 && source < 32;
    ushort from = ushort(inside ? source : int(own));
    uint low = simd_shuffle(uint(value), from), high = simd_shuffle(uint(value >> 32), from);
    return (ulong(high) << 32) | low;
}

kernel void kernel_warp_sum(constant Args& args [[buffer(0)]],
                            uint3 gid [[thread_position_in_grid]],
                            uint lane [[thread_index_in_simdgroup]])
{
    // warp_sum +1
    ulong i = ulong(gid.x);
    ulong v = ulong(args.x[long(i)]);
    ulong step = 16UL;
    do {
        // warp_sum +5
        ulong result = shuffle_down_ulong(v, int(step), lane);
        // warp_sum +6
        step = step >> 1;
        // warp_sum +5
        v = result + v;
    } while (step != 0UL);
    // warp_sum +7
    if (lane == 0u)
        // warp_sum +8
        args.out[long(i >> 5)] = int(v);
}
