#include <metal_stdlib>
using namespace metal;

template <typename T> static inline T f(T x) { if constexpr (sizeof(T) == 4) return x; else return x + 1; }  // REJECT: clang
kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    x[i] = f(x[i]);                    // C++17: Metal 4 only
}
