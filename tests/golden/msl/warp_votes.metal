#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device int* x;
    long x_size;
    device uint* out;
    long out_shape_0;
    long out_shape_1;
};

static inline uint active_ballot(bool test)
{
    return uint(ulong(simd_vote::vote_t(simd_ballot(test))));
}

static inline bool vote_equal(bool test, uint mask)
{
    uint yes = active_ballot(test) & mask;
    uint no = active_ballot(!test) & mask;
    return yes == 0u || no == 0u;
}

kernel void kernel_warp_votes(constant Args& args [[buffer(0)]],
                              uint3 gid [[thread_position_in_grid]])
{
    // warp_votes +2
    int result = int((active_ballot(args.x[long(gid.x)] <= 0) & 4294967295u) == 0u);
    args.out[long(gid.x)] = uint(result != 0);
    // warp_votes +3
    int result_2 = int((active_ballot(args.x[long(gid.x)] == 3) & 4294967295u) != 0u);
    args.out[args.out_shape_1 + long(gid.x)] = uint(result_2 != 0);
    // warp_votes +4
    int result_3 = int(vote_equal(args.x[long(gid.x)] > 0, 4294967295u));
    args.out[args.out_shape_1 * 2L + long(gid.x)] = uint(result_3 != 0);
    // warp_votes +5
    int result_4 = int(active_ballot(args.x[long(gid.x)] > 2) & 4294967295u);
    args.out[args.out_shape_1 * 3L + long(gid.x)] = uint(result_4);
}
