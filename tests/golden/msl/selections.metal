#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device int* a;
    long a_size;
    device int* b;
    long b_size;
    device int* out;
    long out_shape_0;
    long out_shape_1;
};

static inline int absolute_int(int x)
{
    return x < 0 ? int(uint(0) - uint(x)) : x;
}

kernel void kernel_selections(constant Args& args [[buffer(0)]],
                              uint3 gid [[thread_position_in_grid]])
{
    // selections +2
    args.out[long(gid.x)] = max(args.a[long(gid.x)], args.b[long(gid.x)]);
    // selections +3
    args.out[args.out_shape_1 + long(gid.x)] = min(args.b[long(gid.x)], args.a[long(gid.x)]);
    // selections +4
    args.out[args.out_shape_1 * 2L + long(gid.x)] = max(max(args.b[long(gid.x)], args.a[long(gid.x)]), 4);
    // selections +5
    args.out[args.out_shape_1 * 3L + long(gid.x)] = absolute_int(args.a[long(gid.x)]);
}
