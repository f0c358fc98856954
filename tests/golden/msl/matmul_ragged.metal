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
    ulong v_4 = ulong(args.a_shape_1 + 7L) >> 3;
    float total;
    if (v_4 == 0UL) {
        total = 0.0f;
    } else {
        long v = long(ulong(tid.y) << 3);
        long v_2 = v + long(tid.x);
        ulong v_3 = ulong(args.a_shape_1) * ulong(gid.y);
        total = 0.0f;
        long v_5 = 0L;
        while (true) {
            float v_7;
            // matmul_ragged +8
            if (long(gid.y) < args.a_shape_0) {
                long v_6 = v_5 + long(tid.x);
                v_7 = v_6 < args.a_shape_1 ? args.a[long(v_3 + ulong(v_6))] : 0.0f;
            } else {
                v_7 = 0.0f;
            }
            left[v_2] = v_7;
            // matmul_ragged +9
            ulong v_8 = ulong(v_5 + long(tid.y));
            float v_9 = v_8 < ulong(args.b_shape_0) && long(gid.x) < args.b_shape_1 ? args.b[long(ulong(gid.x) + v_8 * ulong(args.b_shape_1))] : 0.0f;
            right[v_2] = v_9;
            // matmul_ragged +10
            threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
            ulong v_10 = 0UL;
            do {
                // matmul_ragged +12
                total = total + left[long(ulong(v) + v_10)] * right[long(ulong(tid.x) + v_10 * 8UL)];
                // matmul_ragged +11
                v_10 = v_10 + 1UL;
            } while (v_10 != 8UL);
            // matmul_ragged +13
            threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
            // matmul_ragged +7
            if (v_4 <= 1UL)
                break;
            v_4 = v_4 - 1UL;
            v_5 = v_5 + 8L;
        }
    }
    // matmul_ragged +14
    if (long(gid.y) < args.c_shape_0 && long(gid.x) < args.c_shape_1)
        // matmul_ragged +15
        args.c[long(ulong(args.c_shape_1) * ulong(gid.y) + ulong(gid.x))] = total;
}
