#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

struct Args {
    device float* a;
    long a_shape_0;
    long a_shape_1;
    device float* b;
    long b_shape_0;
    long b_shape_1;
    device float* c;
    long c_shape_0;
    long c_shape_1;
};

kernel void kernel_matmul_ragged(constant Args& args [[buffer(0)]],
                                 uint3 gid [[thread_position_in_grid]],
                                 uint3 tid [[thread_position_in_threadgroup]])
{
    threadgroup float left[64];
    threadgroup float right[64];
    // matmul_ragged +7
    ulong v_8 = (ulong(args.a_shape_1) + 7UL) >> 3;
    // matmul_ragged +4
    long v = long(gid.y);
    long v_2 = long(gid.x);
    float total;
    // matmul_ragged +7
    if (args.a_shape_1 < 1L || v_8 == 0UL) {
        total = 0.0f;
    } else {
        bool v_3 = v_2 < args.b_shape_1;
        // matmul_ragged +5
        int y = int(tid.y);
        long v_4 = long(ulong(y) << 3);
        int x = int(tid.x);
        long v_5 = v_4 + long(x);
        ulong v_6 = ulong(args.a_shape_1) * ulong(v);
        bool v_7 = v < args.a_shape_0;
        total = 0.0f;
        ulong v_9 = 0UL;
        while (true) {
            float v_11;
            // matmul_ragged +8
            if (v_7) {
                long v_10 = long(v_9 + ulong(x));
                if (v_10 < args.a_shape_1) {
                    v_11 = args.a[long(v_6 + ulong(v_10) + ulong(v_10 < 0L ? args.a_shape_1 : 0L))];
                } else {
                    v_11 = 0.0f;
                }
            } else {
                v_11 = 0.0f;
            }
            left[v_5] = v_11;
            // matmul_ragged +9
            long v_12 = long(v_9 + ulong(y));
            float v_13;
            if (v_12 < args.b_shape_0 && v_3) {
                v_13 = args.b[long(ulong(v_2) + (ulong(v_12 < 0L ? args.b_shape_0 : 0L) + ulong(v_12)) * ulong(args.b_shape_1))];
            } else {
                v_13 = 0.0f;
            }
            right[v_5] = v_13;
            // matmul_ragged +10
            threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
            ulong v_14 = 0UL;
            do {
                // matmul_ragged +12
                total = total + left[long(ulong(v_4) + v_14)] * right[long(ulong(x) + v_14 * 8UL)];
                // matmul_ragged +11
                v_14 = v_14 + 1UL;
            } while (v_14 != 8UL);
            // matmul_ragged +13
            threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
            // matmul_ragged +7
            if (v_8 <= 1UL)
                break;
            v_8 = v_8 - 1UL;
            v_9 = v_9 + 8UL;
        }
    }
    // matmul_ragged +14
    if (v < args.c_shape_0 && v_2 < args.c_shape_1)
        // matmul_ragged +15
        args.c[long(ulong(args.c_shape_1) * ulong(v) + ulong(v_2))] = total;
}
