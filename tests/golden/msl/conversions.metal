#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device float* x;
    long x_size;
    device long* out;
    long out_shape_0;
    long out_shape_1;
};

static inline int float_to_int(float x)
{
    return x >= 0x1p31f ? 2147483647 : x >= -0x1p31f ? int(x) : x < -0x1p31f ? (-2147483647 - 1) : 0;
}

static inline long float_to_long(float x)
{
    return x >= 0x1p63f ? 9223372036854775807L : x >= -0x1p63f ? long(x) : x < -0x1p63f ? (-9223372036854775807L - 1) : 0;
}

kernel void kernel_conversions(constant Args& args [[buffer(0)]],
                               uint3 gid [[thread_position_in_grid]])
{
    // conversions +2
    args.out[long(gid.x)] = long(ulong(float_to_long(args.x[long(gid.x)])) << 56) >> 56;
    // conversions +3
    args.out[args.out_shape_1 + long(gid.x)] = float_to_long(args.x[long(gid.x)]) & 255L;
    // conversions +4
    args.out[args.out_shape_1 * 2L + long(gid.x)] = long(ulong(float_to_long(args.x[long(gid.x)])) + 1UL);
    // conversions +5
    args.out[args.out_shape_1 * 3L + long(gid.x)] = long(uint(float_to_int(args.x[long(gid.x)])));
    // conversions +6
    float loaded = args.x[long(gid.x)];
    args.out[args.out_shape_1 * 4L + long(gid.x)] = long(ulong(long(ulong(float_to_long(loaded)) << 48) >> 48) + ulong(loaded != 0.0f));
}
