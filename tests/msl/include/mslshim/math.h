// Functions of reals. MSL spec, "Common Functions" and "Math Functions".
// Plain overload sets, no templates, as in Metal: max(half, float) must be ambiguous, and functions that MSL lacks
// (erf, log1p, expm1, cbrt, hypot, tgamma, ...) must not resolve.
#pragma once
#include "core.h"

extern "C" {
float asinhf(float);
float acoshf(float);
float atanhf(float);
float nextafterf(float, float);
float fmodf(float, float);
float remainderf(float, float);
float frexpf(float, int *);
float ldexpf(float, int);
int ilogbf(float);
}

namespace metal {
#define MSL_F32(X) X(float, int) X(float2, int2) X(float3, int3) X(float4, int4)
#define MSL_F16(X) X(half, short) X(half2, short2) X(half3, short3) X(half4, short4)
#define MSL_FLT(X) MSL_F32(X) MSL_F16(X)
#define MSL_I(X, T, U) X(T, U) X(T##2, U##2) X(T##3, U##3) X(T##4, U##4)
#define MSL_INT(X)                                                                                                 \
  MSL_I(X, char, uchar)                                                                                            \
  MSL_I(X, uchar, uchar) MSL_I(X, short, ushort) MSL_I(X, ushort, ushort) MSL_I(X, int, uint) MSL_I(X, uint, uint) \
      MSL_I(X, long, ulong) MSL_I(X, ulong, ulong)

// per-component helper for functions without an elementwise builtin
template <typename T, typename F> inline T __msl_map(T x, F f) {
  if constexpr (__msl_vt<T>::n == 1)
    return (T)f((float)x);
  else {
    T r;
    for (int i = 0; i < __msl_vt<T>::n; i++)
      r[i] = (typename __msl_vt<T>::elem)f((float)x[i]);
    return r;
  }
}
template <typename T, typename F> inline T __msl_map(T x, T y, F f) {
  if constexpr (__msl_vt<T>::n == 1)
    return (T)f((float)x, (float)y);
  else {
    T r;
    for (int i = 0; i < __msl_vt<T>::n; i++)
      r[i] = (typename __msl_vt<T>::elem)f((float)x[i], (float)y[i]);
    return r;
  }
}

// clang has no fma of halves where the processor has none: it takes that of floats and rounds again. Here the float is
// rounded to odd where it is not exact, so that the second rounding cannot go wrong (Boldo and Melquiond, 2008).
inline half __msl_fma_half(half a, half b, half c) {
#pragma clang fp contract(off)
  float product = (float)a * (float)b, wide = c; // the product is exact
  float sum = product + wide, other = sum - product;
  float error = (product - (sum - other)) + (wide - other);
  uint bits = as_type<uint>(sum);
  if (error != 0 && __builtin_elementwise_abs(sum) < INFINITY && !(bits & 1))
    sum = as_type<float>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
  return (half)sum;
}
template <typename T> inline T __msl_fma(T a, T b, T c) {
  if constexpr (!__is_same(typename __msl_vt<T>::elem, half))
    return __builtin_elementwise_fma(a, b, c);
  else if constexpr (__msl_vt<T>::n == 1)
    return __msl_fma_half(a, b, c);
  else {
    T r;
    for (int i = 0; i < __msl_vt<T>::n; i++)
      r[i] = __msl_fma_half(a[i], b[i], c[i]);
    return r;
  }
}

#define MSL_FLOAT_FUNCS(T, I)                                                                                 \
  inline T sin(T x) { return __builtin_elementwise_sin(x); }                                                  \
  inline T cos(T x) { return __builtin_elementwise_cos(x); }                                                  \
  inline T tan(T x) { return __builtin_elementwise_tan(x); }                                                  \
  inline T asin(T x) { return __builtin_elementwise_asin(x); }                                                \
  inline T acos(T x) { return __builtin_elementwise_acos(x); }                                                \
  inline T atan(T x) { return __builtin_elementwise_atan(x); }                                                \
  inline T atan2(T y, T x) { return __builtin_elementwise_atan2(y, x); }                                      \
  inline T sinh(T x) { return __builtin_elementwise_sinh(x); }                                                \
  inline T cosh(T x) { return __builtin_elementwise_cosh(x); }                                                \
  inline T tanh(T x) { return __builtin_elementwise_tanh(x); }                                                \
  inline T asinh(T x) {                                                                                       \
    return __msl_map(x, [](float a) { return asinhf(a); });                                                   \
  }                                                                                                           \
  inline T acosh(T x) {                                                                                       \
    return __msl_map(x, [](float a) { return acoshf(a); });                                                   \
  }                                                                                                           \
  inline T atanh(T x) {                                                                                       \
    return __msl_map(x, [](float a) { return atanhf(a); });                                                   \
  }                                                                                                           \
  inline T exp(T x) { return __builtin_elementwise_exp(x); }                                                  \
  inline T exp2(T x) { return __builtin_elementwise_exp2(x); }                                                \
  inline T exp10(T x) { return __builtin_elementwise_exp10(x); }                                              \
  inline T log(T x) { return __builtin_elementwise_log(x); }                                                  \
  inline T log2(T x) { return __builtin_elementwise_log2(x); }                                                \
  inline T log10(T x) { return __builtin_elementwise_log10(x); }                                              \
  inline T sqrt(T x) { return __builtin_elementwise_sqrt(x); }                                                \
  inline T rsqrt(T x) { return (T)1 / __builtin_elementwise_sqrt(x); }                                        \
  inline T pow(T x, T y) { return __builtin_elementwise_pow(x, y); }                                          \
  inline T powr(T x, T y) { return __builtin_elementwise_pow(x, y); }                                         \
  inline T sinpi(T x) { return __builtin_elementwise_sin(x * (T)M_PI_F); }                                    \
  inline T cospi(T x) { return __builtin_elementwise_cos(x * (T)M_PI_F); }                                    \
  inline T tanpi(T x) { return __builtin_elementwise_tan(x * (T)M_PI_F); }                                    \
  inline T floor(T x) { return __builtin_elementwise_floor(x); }                                              \
  inline T ceil(T x) { return __builtin_elementwise_ceil(x); }                                                \
  inline T trunc(T x) { return __builtin_elementwise_trunc(x); }                                              \
  inline T round(T x) { return __builtin_elementwise_round(x); }                                              \
  inline T rint(T x) { return __builtin_elementwise_rint(x); }                                                \
  inline T fract(T x) { return x - __builtin_elementwise_floor(x); }                                          \
  inline T fabs(T x) { return __builtin_elementwise_abs(x); }                                                 \
  inline T abs(T x) { return __builtin_elementwise_abs(x); }                                                  \
  inline T fma(T a, T b, T c) { return __msl_fma(a, b, c); }                                                  \
  inline T fmod(T x, T y) {                                                                                   \
    return __msl_map(x, y, [](float a, float b) { return fmodf(a, b); });                                     \
  }                                                                                                           \
  inline T fdim(T x, T y) {                                                                                   \
    return __msl_map(x, y, [](float a, float b) { return a > b ? a - b : (a == a && b == b ? 0.0f : NAN); }); \
  }                                                                                                           \
  inline T divide(T x, T y) { return x / y; }                                                                 \
  inline T copysign(T x, T y) { return __builtin_elementwise_copysign(x, y); }                                \
  inline T fmin(T x, T y) { return __builtin_elementwise_minnum(x, y); }                                      \
  inline T fmax(T x, T y) { return __builtin_elementwise_maxnum(x, y); }                                      \
  inline T min(T x, T y) { return __builtin_elementwise_minnum(x, y); }                                       \
  inline T max(T x, T y) { return __builtin_elementwise_maxnum(x, y); }                                       \
  inline T min3(T x, T y, T z) { return min(min(x, y), z); }                                                  \
  inline T max3(T x, T y, T z) { return max(max(x, y), z); }                                                  \
  inline T fmin3(T x, T y, T z) { return min(min(x, y), z); }                                                 \
  inline T fmax3(T x, T y, T z) { return max(max(x, y), z); }                                                 \
  inline T median3(T x, T y, T z) { return max(min(x, y), min(max(x, y), z)); }                               \
  inline T fmedian3(T x, T y, T z) { return median3(x, y, z); }                                               \
  inline T clamp(T x, T lo, T hi) { return fmin(fmax(x, lo), hi); }                                           \
  inline T saturate(T x) { return fmin(fmax(x, (T)0), (T)1); }                                                \
  inline T mix(T x, T y, T a) { return x + (y - x) * a; }                                                     \
  inline T step(T edge, T x) {                                                                                \
    return __msl_map(edge, x, [](float e, float v) { return v < e ? 0.0f : 1.0f; });                          \
  }                                                                                                           \
  inline T smoothstep(T a, T b, T x) {                                                                        \
    T t = saturate((x - a) / (b - a));                                                                        \
    return t * t * ((T)3 - (T)2 * t);                                                                         \
  }                                                                                                           \
  inline T sign(T x) {                                                                                        \
    return __msl_map(x, [](float a) { return a > 0 ? 1.0f : a < 0 ? -1.0f : a == 0 ? a : 0.0f; });            \
  }                                                                                                           \
  inline T sincos(T x, thread T &c) {                                                                         \
    c = cos(x);                                                                                               \
    return sin(x);                                                                                            \
  }                                                                                                           \
  inline T modf(T x, thread T &ip) {                                                                          \
    ip = trunc(x);                                                                                            \
    return copysign(x - ip, x);                                                                               \
  }
MSL_FLT(MSL_FLOAT_FUNCS)

inline float ldexp(float x, int k) { return ldexpf(x, k); }
inline half ldexp(half x, int k) { return (half)ldexpf((float)x, k); }
inline int ilogb(float x) { return ilogbf(x); }
inline int ilogb(half x) { return ilogbf((float)x); }
inline float frexp(float x, thread int &e) {
  int t;
  float r = frexpf(x, &t);
  e = t;
  return r;
}
inline half frexp(half x, thread int &e) {
  int t;
  float r = frexpf((float)x, &t);
  e = t;
  return (half)r;
}
#if __METAL_VERSION__ >= 310
inline float nextafter(float x, float y) { return nextafterf(x, y); }
#endif

} // namespace metal
