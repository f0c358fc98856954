#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device long* x;
    long x_size;
    device long* n;
    long n_size;
    device long* out;
    long out_shape_0;
    long out_shape_1;
};

kernel void kernel_shifts(constant Args& args [[buffer(0)]],
                          uint3 gid [[thread_position_in_grid]])
{
    // shifts +2
    ulong loaded = ulong(args.n[long(gid.x)]);
    args.out[long(gid.x)] = long(loaded > 63UL ? 0UL : ulong(args.x[long(gid.x)]) << (min(loaded, 63UL) & 63UL));
    // shifts +3
    args.out[args.out_shape_1 + long(gid.x)] = args.x[long(gid.x)] >> (min(ulong(args.n[long(gid.x)]), 63UL) & 63UL);
    // shifts +4
    args.out[args.out_shape_1 * 2L + long(gid.x)] = ((args.x[long(gid.x)] & 255L) ^ 255L) | (args.n[long(gid.x)] ^ 3L);
}
