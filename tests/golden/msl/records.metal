#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device uchar* items;
    long items_size;
    device int* total;
    long total_size;
};

kernel void kernel_records(constant Args& args [[buffer(0)]],
                           uint3 gid [[thread_position_in_grid]])
{
    // records +1
    long i = long(gid.x);
    // records +2
    if (i < args.items_size) {
        // records +3
        *(device float*)&args.items[i * 12L] = *(device float*)&args.items[i * 12L] * 2.0f;
        // records +4
        int v = int(uint(*(device int*)&args.items[i * 12L + 4L]) + gid.x);
        *(device int*)&args.items[i * 12L + 4L] = v;
        // records +5
        args.items[i * 12L + 8L] = uchar(v > 10);
        // records +6
        atomic_fetch_add_explicit((device atomic_int*)args.total, v, memory_order_relaxed);
    }
}
