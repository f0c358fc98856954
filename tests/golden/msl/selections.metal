#include <metal_stdlib>
using namespace metal;
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
    // selections +1
    long v = long(gid.x);
    // selections +2
    args.out[v] = max(args.a[v], args.b[v]);
    // selections +3
    args.out[args.out_shape_1 + v] = min(args.b[v], args.a[v]);
    // selections +4
    args.out[args.out_shape_1 * 2L + v] = max(max(args.b[v], args.a[v]), 4);
    // selections +5
    args.out[args.out_shape_1 * 3L + v] = absolute_int(args.a[v]);
}
