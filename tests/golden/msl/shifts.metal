#include <metal_stdlib>
using namespace metal;
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
    // shifts +1
    long v = long(gid.x);
    // shifts +2
    args.out[v] = long(ulong(args.x[v]) << (ulong(args.n[v]) & 63UL));
    // shifts +3
    args.out[args.out_shape_1 + v] = args.x[v] >> (ulong(args.n[v]) & 63UL);
    // shifts +4
    args.out[args.out_shape_1 * 2L + v] = ((args.x[v] & 255L) ^ 255L) | (args.n[v] ^ 3L);
}
