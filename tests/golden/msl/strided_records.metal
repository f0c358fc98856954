#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device uchar* items;
    long items_size;
    device int* ids;
    long ids_size;
};

kernel void kernel_strided_records(constant Args& args [[buffer(0)]],
                                   uint3 gid [[thread_position_in_grid]])
{
    // strided_records +1
    ulong v = args.items_size < 2L ? ulong(args.items_size) : 1UL;
    // strided_records +2
    long i = long(gid.x);
    // strided_records +1
    ulong v_2 = ulong(args.items_size) - v;
    // strided_records +3
    if (long(v_2) > 0L && long(v_2 - 1UL) / 2L >= i) {
        // strided_records +4
        args.ids[i] = *(device int*)&args.items[long(v * 12UL + ulong(i * 24L) + 4UL)];
        // strided_records +5
        *(device float*)&args.items[long(v * 12UL + ulong(i * 24L))] = float(i + 100L);
    }
}
