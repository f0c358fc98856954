#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device long* x;
    long x_size;
    device long* out;
    long out_shape_0;
    long out_shape_1;
};

static inline ulong shuffle_down_ulong(ulong value, int lane, uint own)
{
    int source = int(own) + lane;
    bool inside = source >= 0 && source < 32;
    ushort from = ushort(inside ? source : int(own));
    uint low = simd_shuffle(uint(value), from), high = simd_shuffle(uint(value >> 32), from);
    return (ulong(high) << 32) | low;
}

static inline ulong shuffle_idx_ulong(ulong value, int lane, uint own)
{
    int source = lane & 31;
    bool inside = source >= 0 && source < 32;
    ushort from = ushort(inside ? source : int(own));
    uint low = simd_shuffle(uint(value), from), high = simd_shuffle(uint(value >> 32), from);
    return (ulong(high) << 32) | low;
}

static inline ulong shuffle_up_ulong(ulong value, int lane, uint own)
{
    int source = int(own) - lane;
    bool inside = source >= 0 && source < 32;
    ushort from = ushort(inside ? source : int(own));
    uint low = simd_shuffle(uint(value), from), high = simd_shuffle(uint(value >> 32), from);
    return (ulong(high) << 32) | low;
}

static inline ulong shuffle_xor_ulong(ulong value, int lane, uint own)
{
    int source = int(own) ^ lane;
    bool inside = source >= 0 && source < 32;
    ushort from = ushort(inside ? source : int(own));
    uint low = simd_shuffle(uint(value), from), high = simd_shuffle(uint(value >> 32), from);
    return (ulong(high) << 32) | low;
}

kernel void kernel_shuffles(constant Args& args [[buffer(0)]],
                            uint3 gid [[thread_position_in_grid]],
                            uint lane [[thread_index_in_simdgroup]])
{
    // shuffles +2
    long loaded = args.x[long(gid.x)];
    // shuffles +3
    long result = long(shuffle_idx_ulong(ulong(loaded), 5, lane));
    args.out[long(gid.x)] = result;
    // shuffles +4
    long result_2 = long(shuffle_up_ulong(ulong(loaded), 3, lane));
    args.out[args.out_shape_1 + long(gid.x)] = result_2;
    // shuffles +5
    long result_3 = long(shuffle_down_ulong(ulong(loaded), 3, lane));
    args.out[args.out_shape_1 * 2L + long(gid.x)] = result_3;
    // shuffles +6
    long result_4 = long(shuffle_xor_ulong(ulong(loaded), 9, lane));
    args.out[args.out_shape_1 * 3L + long(gid.x)] = result_4;
    // shuffles +7
    long result_5 = long(shuffle_idx_ulong(ulong(loaded), int(lane ^ 31u), lane));
    args.out[args.out_shape_1 * 4L + long(gid.x)] = result_5;
}
