#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
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
        long v = args.x_size < 3L ? args.x_size : 2L;
        args.out[1] = args.x[v + 3L];
        // slices +5
        args.out[2] = args.x[args.x_size - 1L];
        // slices +6
        args.out[3] = max(long(min(ulong(args.x_size), 2UL) - min(ulong(args.x_size), 5UL)), 0L);
        // slices +7
        args.out[4] = args.x[long(subsat(ulong(args.x_size), 4UL))];
        // slices +8
        ulong v_2 = args.out_size < 6L ? ulong(args.out_size) : 5UL;
        bool v_3 = args.out_size < 9L;
        ulong v_4 = v_3 ? ulong(args.out_size) : 8UL;
        int v_27;
        do {
            bool v_5 = args.x_size != 1L;
            ulong v_6 = ulong(v_5 ? 8L : 0L);
            long v_7 = long(v_4 - v_2);
            ulong result = ulong(max(v_7, 0L));
            bool v_8 = v_7 > 0L;
            if (v_5 && min(ulong(args.x_size), 3UL) != result) {
                v_27 = 2;
                break;
            }
            ulong v_9 = result - 1UL;
            long v_10 = long(v_9 * v_6);
            ulong v_11 = ulong(min(v_10, 0L)) + (ulong)args.x;
            long v_12 = long(v_9 << 3);
            ulong v_13 = (ulong)(args.out + long(v_2));
            ulong v_14 = ulong(min(v_12, 0L)) + v_13;
            bool v_15 = v_14 < (v_8 ? (ulong)args.x + 8UL + ulong(max(v_10, 0L)) : v_11) && v_11 < (v_8 ? v_13 + 8UL + ulong(max(v_12, 0L)) : v_14);
            bool v_16 = (ulong)(args.out + long(v_2)) > (ulong)args.x && v_15;
            if (v_15 && !(v_5 || v_7 < 2L)) {
                v_27 = 3;
            } else {
                if (v_8) {
                    long v_17 = 0L;
                    do {
                        ulong v_18 = v_16 ? v_9 - ulong(v_17) : ulong(v_17);
                        args.out[long(v_2 + v_18)] = *(device long*)((device uchar*)args.x + long(v_18 * v_6));
                        v_17 = v_17 + 1L;
                    } while (v_7 > v_17);
                }
                // slices +9
                long v_20 = v_3 ? args.out_size : 8L;
                long v_19 = args.out_size < 11L ? args.out_size : 10L;
                if (v_20 < v_19) {
                    do {
                        args.out[v_20] = 7L;
                        v_20 = v_20 + 1L;
                    } while (v_20 < v_19);
                }
                // slices +10
                args.out[10] = args.x[2];
                // slices +11
                ulong result_2 = min(ulong(args.out_size), 10UL);
                long v_21 = long(ulong(args.out_size) - result_2);
                if (v_21 <= 0L)
                    return;
                bool v_22 = v_21 == 1L;
                long v_23 = 0L;
                long v_24 = 0L;
                do {
                    v_24 = v_22 ? v_24 : v_23;
                    args.out[long(result_2 + ulong(v_23))] = long(ulong(args.out[long(result_2 + ulong(v_24))]) + 1UL);
                    v_23 = v_23 + 1L;
                } while (v_21 > v_23);
                ulong v_25 = ulong(v_21 == 1L ? 0L : 8L);
                ulong v_26 = 0UL;
                while (true) {
                    args.out[long(result_2 + v_26)] = *(device long*)((device uchar*)args.out + long(result_2 * 8UL + v_26 * v_25));
                    v_26 = v_26 + 1UL;
                    if (v_21 <= long(v_26))
                        return;
                }
            }
        } while (false);
        // slices +8
        throw_site(mailbox, launch.program, group, tid, uint(v_27), 0UL, 0UL, 0UL, 0UL);
    }
}
