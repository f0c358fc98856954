#include <metal_stdlib>
#pragma METAL fp contract(off)
using namespace metal;

kernel void half_ops(device const half* x [[buffer(0)]],
                     device const half4* v [[buffer(1)]],
                     device half* arith [[buffer(2)]],
                     device half* fn [[buffer(3)]],
                     device half4* vout [[buffer(4)]],
                     uint i [[thread_position_in_grid]])
{
    half a = x[i];
    half b = a * 1.5h + half(0.25f);
    arith[i] = (b - a) / (b + 2.0h);
    fn[i] = sqrt(fabs(a)) + exp(-fabs(a)) + max(a, 0.0h) + half(int(a));
    half4 q = v[i];
    vout[i] = half4(q.wz, q.x, 1.0h) * a + q.yyyy;
}
