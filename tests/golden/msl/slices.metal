#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

struct Args {
    device long* x;
    long x_size;
    device long* out;
    long out_size;
};

struct Launch {
    ulong program;
    ulong dynamic_shared_nbytes;
};

static void throw_site(device atomic_uint* mailbox, ulong program, uint3 block, uint3 where, uint site,
                       ulong n0, ulong n1, ulong n2, ulong n3)
{
    atomic_fetch_add_explicit(&mailbox[0], 1u, memory_order_relaxed);
    if (atomic_exchange_explicit(&mailbox[1], 1u, memory_order_relaxed) != 0u)
        return;
    device uint* words = (device uint*)mailbox;
    device ulong* longs = (device ulong*)mailbox;
    words[2] = site;
    words[3] = 1u;
    words[4] = block.x;
    words[5] = block.y;
    words[6] = block.z;
    words[7] = where.x;
    words[8] = where.y;
    words[9] = where.z;
    longs[5] = program;
    longs[6] = n0;
    longs[7] = n1;
    longs[8] = n2;
    longs[9] = n3;
}

kernel void kernel_slices(constant Args& args [[buffer(0)]],
                          device atomic_uint* mailbox [[buffer(1)]],
                          constant Launch& launch [[buffer(2)]],
                          uint3 gid [[thread_position_in_grid]],
                          uint3 tid [[thread_position_in_threadgroup]],
                          uint3 group [[threadgroup_position_in_grid]])
{
    // slices +2
    if (gid.x == 0u) {
        // slices +3
        args.out[0] = args.x[args.x_size - 1L];
        // slices +4
        bool v = args.x_size < 3L;
        long v_2 = v ? args.x_size : 2L;
        args.out[1] = args.x[v_2 + 3L];
        // slices +5
        args.out[2] = args.x[args.x_size - 1L];
        // slices +6
        ulong v_3 = args.x_size < 6L ? ulong(args.x_size) : 5UL;
        ulong v_4 = v ? ulong(args.x_size) : 2UL;
        args.out[3] = max(long(v_4 - v_3), 0L);
        // slices +7
        long v_5 = long(ulong(args.x_size) - 4UL);
        if (v_5 < 0L) {
            v_5 = 0L;
        }
        if (args.x_size <= -9223372036854775805L) {
            v_5 = args.x_size;
        }
        args.out[4] = args.x[v_5];
        // slices +8
        ulong v_6 = args.x_size < 1L ? ulong(args.x_size) : 0UL;
        ulong v_7 = args.x_size < 4L ? ulong(args.x_size) : 3UL;
        long v_8 = long(v_7 - v_6);
        ulong v_9 = args.out_size < 6L ? ulong(args.out_size) : 5UL;
        bool v_10 = args.out_size < 9L;
        ulong v_11 = v_10 ? ulong(args.out_size) : 8UL;
        int v_29;
        do {
            bool v_12 = v_8 != 1L;
            ulong v_13 = ulong(v_12 ? 8L : 0L);
            long v_14 = long(v_11 - v_9);
            ulong result = ulong(max(v_14, 0L));
            bool v_15 = v_14 > 0L;
            if (v_12 && max(v_8, 0L) != long(result)) {
                v_29 = 2;
                break;
            }
            ulong v_16 = result - 1UL;
            long v_17 = long(v_16 * v_13);
            ulong v_18 = (ulong)(args.x + long(v_6));
            ulong v_19 = ulong(min(v_17, 0L)) + v_18;
            long v_20 = long(v_16 << 3);
            ulong v_21 = (ulong)(args.out + long(v_9));
            ulong v_22 = ulong(min(v_20, 0L)) + v_21;
            bool v_23 = v_22 < (v_15 ? v_18 + 8UL + ulong(max(v_17, 0L)) : v_19) && v_19 < (v_15 ? v_21 + 8UL + ulong(max(v_20, 0L)) : v_22);
            bool v_24 = (ulong)(args.out + long(v_9)) > (ulong)(args.x + long(v_6)) && v_23;
            if (v_23 && !v_12) {
                v_29 = 3;
            } else {
                if (v_15) {
                    long v_25 = 0L;
                    do {
                        ulong v_26 = v_24 ? v_16 - ulong(v_25) : ulong(v_25);
                        args.out[long(v_9 + v_26)] = *(device long*)((device uchar*)args.x + long(v_6 * 8UL + v_26 * v_13));
                        v_25 = v_25 + 1L;
                    } while (v_14 > v_25);
                }
                // slices +9
                long v_28 = v_10 ? args.out_size : 8L;
                long v_27 = args.out_size < 11L ? args.out_size : 10L;
                if (v_28 >= v_27)
                    return;
                while (true) {
                    args.out[v_28] = 7L;
                    v_28 = long(ulong(v_28) + 1UL);
                    if (v_28 >= v_27)
                        return;
                }
            }
        } while (false);
        // slices +8
        throw_site(mailbox, launch.program, group, tid, uint(v_29), 0UL, 0UL, 0UL, 0UL);
    }
}
