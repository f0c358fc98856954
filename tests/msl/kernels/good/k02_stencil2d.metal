#include <metal_stdlib>
#pragma METAL fp contract(off)
using namespace metal;

// 5-point stencil over a 2-D array with arbitrary (byte) strides.
struct View { long rows; long cols; long row_stride; long col_stride; };

static inline float at(device const uchar* base, constant View& v, long r, long c)
{
    return *(device const float*)(base + (r * v.row_stride + c * v.col_stride));
}

kernel void stencil2d(device const uchar* src [[buffer(0)]],
                      device float* dst [[buffer(1)]],
                      constant View& v [[buffer(2)]],
                      uint2 gid [[thread_position_in_grid]])
{
    long r = long(gid.y), c = long(gid.x);
    if (r >= v.rows || c >= v.cols)
        return;
    float s = at(src, v, r, c);
    if (r > 0 && r < v.rows - 1 && c > 0 && c < v.cols - 1)
        s = 0.25f * (at(src, v, r - 1, c) + at(src, v, r + 1, c) + at(src, v, r, c - 1) + at(src, v, r, c + 1)) - s;
    dst[r * v.cols + c] = s;
}
