#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
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
    ulong v_2 = ulong(args.a_shape_1 + 7L) >> 3;
    float total;
    if (v_2 == 0UL) {
        total = 0.0f;
    } else {
        ulong v = ulong(args.a_shape_1) * ulong(gid.y);
        total = 0.0f;
        long v_3 = 0L;
        while (true) {
            float v_5;
            // matmul_ragged +8
            if (long(gid.y) < args.a_shape_0) {
                long v_4 = v_3 + long(tid.x);
                v_5 = v_4 < args.a_shape_1 ? args.a[long(v + ulong(v_4))] : 0.0f;
            } else {
                v_5 = 0.0f;
            }
            left[long(tid.y) * 8L + long(tid.x)] = v_5;
            // matmul_ragged +9
            ulong v_6 = ulong(v_3 + long(tid.y));
            float v_7 = v_6 < ulong(args.b_shape_0) && long(gid.x) < args.b_shape_1 ? args.b[long(ulong(gid.x) + v_6 * ulong(args.b_shape_1))] : 0.0f;
            right[long(tid.y) * 8L + long(tid.x)] = v_7;
            // matmul_ragged +10
            threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
            ulong v_8 = 0UL;
            do {
                // matmul_ragged +12
                float v_9 = left[long(ulong(long(tid.y) * 8L) + v_8)] * right[long(ulong(tid.x) + v_8 * 8UL)];
                total = total + v_9;
                // matmul_ragged +11
                v_8 = v_8 + 1UL;
            } while (v_8 != 8UL);
            // matmul_ragged +13
            threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
            // matmul_ragged +7
            if (v_2 <= 1UL)
                break;
            v_2 = v_2 - 1UL;
            v_3 = v_3 + 8L;
        }
    }
    // matmul_ragged +14
    if (long(gid.y) < args.c_shape_0 && long(gid.x) < args.c_shape_1)
        // matmul_ragged +15
        args.c[long(ulong(args.c_shape_1) * ulong(gid.y) + ulong(gid.x))] = total;
}
