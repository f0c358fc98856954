#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    long pair;
    long pair_1;
    device int* nested;
    long nested_shape_0;
    long nested_2;
    device int* nested_1;
    long nested_shape_1;
    device long* out;
    long out_size;
};

constant ulong table[3] = {1UL, 10UL, 100UL};

kernel void kernel_tuples(constant Args& args [[buffer(0)]],
                          uint3 gid [[thread_position_in_grid]])
{
    // tuples +1
    long i = long(gid.x);
    // tuples +6
    ulong v = ulong(args.pair) + 11UL + ulong(args.nested_2) + ulong(args.pair_1) * ulong(args.nested[i]) + ulong(args.nested_1[0]);
    // tuples +7
    if (gid.x < 3u) {
        v = table[long(gid.x)] + v;
    }
    long v_2 = 0L;
    do {
        // tuples +10
        v = v + table[v_2];
        args.out[i] = long(v);
        // tuples +9
        v_2 = v_2 + 1L;
    } while (v_2 != 3L);
}
