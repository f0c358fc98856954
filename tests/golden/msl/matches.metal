#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device long* x;
    long x_size;
    device uint* out;
    long out_size;
    device uint* same;
    long same_shape_0;
    long same_shape_1;
};

static inline uint active_ballot(bool test)
{
    return uint(ulong(simd_vote::vote_t(simd_ballot(test))));
}

static inline uint match_all_ulong(ulong value, uint mask)
{
    uint lanes = active_ballot(true) & mask;
    uint same = 0u;
    for (uint other = 0u; other < 32u; other += 1u)
        if (((ulong(simd_broadcast(uint(value >> 32), ushort(other))) << 32) | simd_broadcast(uint(value), ushort(other))) == value)
            same |= 1u << other;
    same &= lanes;
    return (active_ballot(same != lanes) & lanes) == 0u ? lanes : 0u;
}

static inline uint match_any_ulong(ulong value, uint mask)
{
    uint lanes = active_ballot(true) & mask;
    uint same = 0u;
    for (uint other = 0u; other < 32u; other += 1u)
        if (((ulong(simd_broadcast(uint(value >> 32), ushort(other))) << 32) | simd_broadcast(uint(value), ushort(other))) == value)
            same |= 1u << other;
    same &= lanes;
    return same;
}

kernel void kernel_matches(constant Args& args [[buffer(0)]],
                           uint3 gid [[thread_position_in_grid]])
{
    // matches +2
    int result = int(match_any_ulong(ulong(args.x[long(gid.x)]), 4294967295u));
    args.out[long(gid.x)] = uint(result);
    // matches +3
    long loaded = args.x[long(gid.x)];
    ulong v = ulong(loaded / 100L);
    int result_2 = int(match_all_ulong(ulong(long(ulong(loaded) - v * 100UL) >> 63) + v, 4294967295u));
    // matches +4
    args.same[long(gid.x)] = uint(result_2);
    // matches +5
    args.same[args.same_shape_1 + long(gid.x)] = uint(result_2 != 0);
}
