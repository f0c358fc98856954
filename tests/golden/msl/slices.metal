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
        bool v_2 = args.x_size != 1L;
        ulong v_3 = ulong(v_2 ? 8L : 0L);
        ulong result = min(ulong(args.out_size), 8UL);
        ulong result_2 = min(ulong(args.out_size), 5UL);
        long v_4 = long(result - result_2);
        ulong result_3 = ulong(max(v_4, 0L));
        bool v_5 = v_4 > 0L;
        int v_23;
        do {
            if (v_2 && min(ulong(args.x_size), 3UL) != result_3) {
                v_23 = 2;
                break;
            }
            ulong v_6 = result_3 - 1UL;
            long v_7 = long(v_6 * v_3);
            ulong v_8 = ulong(min(v_7, 0L)) + (ulong)args.x;
            ulong v_9 = (ulong)(args.out + long(result_2));
            ulong v_10 = ulong(v_5 ? 0L : -8L) + v_9;
            bool v_11 = v_10 < (v_5 ? (ulong)args.x + 8UL + ulong(max(v_7, 0L)) : v_8) && v_8 < (v_5 ? v_9 + 8UL + (v_6 << 3) : v_10);
            bool v_12 = (ulong)(args.out + long(result_2)) > (ulong)args.x && v_11;
            if (v_11 && !(v_2 || v_4 < 2L)) {
                v_23 = 3;
            } else {
                if (v_5) {
                    long v_13 = 0L;
                    do {
                        ulong v_14 = v_12 ? v_6 - ulong(v_13) : ulong(v_13);
                        args.out[long(result_2 + v_14)] = *(device long*)((device uchar*)args.x + long(v_14 * v_3));
                        v_13 = v_13 + 1L;
                    } while (v_4 > v_13);
                }
                // slices +9
                ulong result_4 = min(ulong(args.out_size), 10UL);
                long v_15 = long(result_4 - result);
                if (v_15 > 0L) {
                    long v_16 = 0L;
                    do {
                        args.out[long(result + ulong(v_16))] = 7L;
                        v_16 = v_16 + 1L;
                    } while (v_15 > v_16);
                }
                // slices +10
                args.out[10] = args.x[2];
                // slices +11
                long v_17 = long(ulong(args.out_size) - result_4);
                if (v_17 <= 0L)
                    return;
                bool v_18 = v_17 == 1L;
                long v_19 = 0L;
                long v_20 = 0L;
                do {
                    v_20 = v_18 ? v_20 : v_19;
                    args.out[long(result_4 + ulong(v_19))] = long(ulong(args.out[long(result_4 + ulong(v_20))]) + 1UL);
                    v_19 = v_19 + 1L;
                } while (v_17 > v_19);
                ulong v_21 = ulong(v_17 == 1L ? 0L : 8L);
                ulong v_22 = 0UL;
                while (true) {
                    args.out[long(result_4 + v_22)] = *(device long*)((device uchar*)args.out + long(result_4 * 8UL + v_22 * v_21));
                    v_22 = v_22 + 1UL;
                    if (v_17 <= long(v_22))
                        return;
                }
            }
        } while (false);
        // slices +8
        throw_site(mailbox, launch.program, group, tid, uint(v_23), 0UL, 0UL, 0UL, 0UL);
    }
}
