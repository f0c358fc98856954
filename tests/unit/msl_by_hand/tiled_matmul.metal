#include <metal_stdlib>
using namespace metal;

struct Args {
    device float* a; long a_rows; long a_columns;
    device float* b; long b_rows; long b_columns;
    device float* c; long c_rows; long c_columns;
};

kernel void tiled_matmul(constant Args& args [[buffer(0)]],
                         uint2 gid [[thread_position_in_grid]],
                         uint2 tid [[thread_position_in_threadgroup]])
{
    threadgroup float left[16][16];
    threadgroup float right[16][16];
    long column = gid.x;
    long row = gid.y;
    float total = 0.0f;
    long tiles = (args.a_columns + 15) / 16;
    long tile = 0;
    while (tile < tiles) {
        long ka = tile * 16 + tid.x;
        float from_a = 0.0f;
        if (row < args.a_rows && ka < args.a_columns)
            from_a = args.a[row * args.a_columns + ka];
        left[tid.y][tid.x] = from_a;
        long kb = tile * 16 + tid.y;
        float from_b = 0.0f;
        if (column < args.b_columns && kb < args.b_rows)
            from_b = args.b[kb * args.b_columns + column];
        right[tid.y][tid.x] = from_b;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        uint j = 0;
        while (j < 16) {
            total += left[tid.y][j] * right[j][tid.x];
            j += 1;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        tile += 1;
    }
    if (row < args.c_rows && column < args.c_columns)
        args.c[row * args.c_columns + column] = total;
}
