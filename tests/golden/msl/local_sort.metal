#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device float* x;
    long x_shape_0;
    long x_shape_1;
    device float* out;
    long out_shape_0;
    long out_shape_1;
};

kernel void kernel_local_sort(constant Args& args [[buffer(0)]],
                              uint3 gid [[thread_position_in_grid]])
{
    float mine[5];
    mine[0] = 0.0f;
    mine[1] = 0.0f;
    mine[2] = 0.0f;
    mine[3] = 0.0f;
    mine[4] = 0.0f;
    // local_sort +3
    ulong i = ulong(gid.x);
    ulong v = ulong(args.x_shape_1) * i;
    long v_2 = 0L;
    long place;
    while (true) {
        // local_sort +5
        mine[v_2] = args.x[long(v + ulong(v_2))];
        // local_sort +4
        v_2 = v_2 + 1L;
        if (v_2 == 5L) {
            place = 1L;
            break;
        }
    }
    while (true) {
        // local_sort +7
        float value = mine[place];
        // local_sort +6
        long v_3 = place + 1L;
        // local_sort +9
        if (mine[place - 1L] > value) {
            while (true) {
                // local_sort +10
                ulong v_4 = ulong(place) - 1UL;
                mine[place] = mine[long(v_4)];
                // local_sort +9
                if (place <= 1L) {
                    place = 0L;
                    break;
                }
                if (!(mine[place - 2L] > value)) {
                    place = long(v_4);
                    break;
                }
                place = long(v_4);
            }
        }
        // local_sort +12
        mine[long(place < 0L ? ulong(place) + 5UL : ulong(place))] = value;
        // local_sort +6
        if (v_3 == 5L)
            break;
        place = v_3;
    }
    ulong v_5 = ulong(args.out_shape_1) * i;
    long v_6 = 0L;
    do {
        // local_sort +14
        args.out[long(v_5 + ulong(v_6))] = mine[v_6];
        // local_sort +13
        v_6 = v_6 + 1L;
    } while (v_6 != 5L);
}
