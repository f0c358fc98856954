// MSL spec, "Relational Functions" and "Geometric Functions".
#pragma once
#include "math.h"

namespace metal {
inline bool isnan(float x) { return x != x; }
inline bool isnan(half x) { return x != x; }
inline bool isinf(float x) { return __builtin_elementwise_abs(x) == INFINITY; }
inline bool isinf(half x) { return __builtin_elementwise_abs((float)x) == INFINITY; }
inline bool isfinite(float x) { return __builtin_elementwise_abs(x) < INFINITY; }
inline bool isfinite(half x) { return __builtin_elementwise_abs((float)x) < INFINITY; }
inline bool isnormal(float x) {
  float a = __builtin_elementwise_abs(x);
  return a >= FLT_MIN && a < INFINITY;
}
inline bool isnormal(half x) {
  float a = __builtin_elementwise_abs((float)x);
  return a >= 0x1p-14f && a < INFINITY;
}
inline bool isordered(float x, float y) { return x == x && y == y; }
inline bool isunordered(float x, float y) { return x != x || y != y; }
inline bool isordered(half x, half y) { return x == x && y == y; }
inline bool isunordered(half x, half y) { return x != x || y != y; }
inline bool signbit(float x) { return as_type<uint>(x) >> 31; }
inline bool signbit(half x) { return as_type<ushort>(x) >> 15; }
#define MSL_VREL(T, I)                                   \
  inline I isnan(T x) { return x != x; }                 \
  inline I isinf(T x) { return fabs(x) == (T)INFINITY; } \
  inline I isfinite(T x) { return fabs(x) < (T)INFINITY; }
MSL_VREL(float2, int2)
MSL_VREL(float3, int3) MSL_VREL(float4, int4) MSL_VREL(half2, short2) MSL_VREL(half3, short3) MSL_VREL(half4, short4)
#define MSL_SELECT(T, I) \
  inline T select(T a, T b, bool c) { return c ? b : a; }
    MSL_SELECT(float, int) MSL_SELECT(half, short)
#define MSL_VSELECT(T, I) \
  inline T select(T a, T b, I c) { return c ? b : a; }
        MSL_VSELECT(float2, int2) MSL_VSELECT(float3, int3) MSL_VSELECT(float4, int4) MSL_VSELECT(half2, short2)
            MSL_VSELECT(half3, short3) MSL_VSELECT(half4, short4)
#define MSL_ANYALL(I)                        \
  inline bool any(I x) {                     \
    bool r = false;                          \
    for (int i = 0; i < __msl_vt<I>::n; i++) \
      r |= x[i] != 0;                        \
    return r;                                \
  }                                          \
  inline bool all(I x) {                     \
    bool r = true;                           \
    for (int i = 0; i < __msl_vt<I>::n; i++) \
      r &= x[i] != 0;                        \
    return r;                                \
  }
                MSL_ANYALL(int2) MSL_ANYALL(int3) MSL_ANYALL(int4) MSL_ANYALL(short2) MSL_ANYALL(short3)
                    MSL_ANYALL(short4) MSL_ANYALL(long2) MSL_ANYALL(long3) MSL_ANYALL(long4) inline bool any(bool x) {
  return x;
}
inline bool all(bool x) { return x; }

#define MSL_GEOM(T, S, N)                               \
  inline S dot(T a, T b) {                              \
    S r = 0;                                            \
    for (int i = 0; i < N; i++)                         \
      r += a[i] * b[i];                                 \
    return r;                                           \
  }                                                     \
  inline S length_squared(T a) { return dot(a, a); }    \
  inline S length(T a) { return sqrt(dot(a, a)); }      \
  inline S distance(T a, T b) { return length(a - b); } \
  inline T normalize(T a) { return a * rsqrt(dot(a, a)); }
MSL_GEOM(float2, float, 2)
MSL_GEOM(float3, float, 3) MSL_GEOM(float4, float, 4) MSL_GEOM(half2, half, 2) MSL_GEOM(half3, half, 3)
    MSL_GEOM(half4, half, 4) inline float3 cross(float3 a, float3 b) {
  return a.yzx * b.zxy - a.zxy * b.yzx;
}
} // namespace metal
