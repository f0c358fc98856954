#include <metal_stdlib>
#pragma METAL fp contract(off)
using namespace metal;

// One argument buffer with device pointers in it (Metal 3 argument buffers, tier 2).
struct Array1 { device float* p; long n; long stride; };
struct Args { Array1 dst; Array1 a; Array1 b; float scale; uchar flag; };

static inline device float* elem(constant Array1& a, long i)
{
    return (device float*)((device uchar*)a.p + i * a.stride);
}

kernel void axpby(constant Args& args [[buffer(0)]],
                  uint gid [[thread_position_in_grid]])
{
    long i = long(gid);
    if (i >= args.dst.n)
        return;
    device float* d = elem(args.dst, i);
    float r = *elem(args.a, i) + args.scale * *elem(args.b, args.b.n - 1 - i);
    *d = args.flag != 0 ? r : -r;
}
