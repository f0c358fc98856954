// MSL spec, "Integer Functions". As in Metal min(int, uint) must be ambiguous.
#pragma once
#include "relational.h"

namespace metal {
template <typename T, typename U, typename F> inline T __msl_imap(T a, T b, F f) {
  if constexpr (__msl_vt<T>::n == 1)
    return (T)f(a, b);
  else {
    T r;
    for (int i = 0; i < __msl_vt<T>::n; i++)
      r[i] = (typename __msl_vt<T>::elem)f(a[i], b[i]);
    return r;
  }
}
template <typename E> inline E __msl_mulhi1(E a, E b) {
  if constexpr (sizeof(E) < 8) {
    if constexpr ((E)-1 < 0)
      return (E)(((long)a * (long)b) >> (8 * sizeof(E)));
    else
      return (E)(((ulong)a * (ulong)b) >> (8 * sizeof(E)));
  } else {
    ulong ua = (ulong)a, ub = (ulong)b, al = ua & 0xffffffffu, ah = ua >> 32, bl = ub & 0xffffffffu, bh = ub >> 32;
    ulong m = ah * bl + ((al * bl) >> 32), n = al * bh + (m & 0xffffffffu);
    ulong hi = ah * bh + (m >> 32) + (n >> 32);
    if constexpr ((E)-1 < 0) {
      if (a < 0)
        hi -= ub;
      if (b < 0)
        hi -= ua;
    }
    return (E)hi;
  }
}
#define MSL_INT_FUNCS(T, U)                                                                                \
  inline T min(T x, T y) { return __builtin_elementwise_min(x, y); }                                       \
  inline T max(T x, T y) { return __builtin_elementwise_max(x, y); }                                       \
  inline T min3(T x, T y, T z) { return min(min(x, y), z); }                                               \
  inline T max3(T x, T y, T z) { return max(max(x, y), z); }                                               \
  inline T median3(T x, T y, T z) { return max(min(x, y), min(max(x, y), z)); }                            \
  inline T clamp(T x, T lo, T hi) { return min(max(x, lo), hi); }                                          \
  inline T abs(T x) {                                                                                      \
    if constexpr ((typename __msl_vt<T>::elem) - 1 < 0)                                                    \
      return (T)__builtin_elementwise_max(x, (T)((T)0 - x));                                               \
    else                                                                                                   \
      return x;                                                                                            \
  }                                                                                                        \
  inline U absdiff(T x, T y) { return __msl_cv<U>(max(x, y)) - __msl_cv<U>(min(x, y)); }                   \
  inline T addsat(T x, T y) { return __builtin_elementwise_add_sat(x, y); }                                \
  inline T subsat(T x, T y) { return __builtin_elementwise_sub_sat(x, y); }                                \
  inline T popcount(T x) { return __builtin_elementwise_popcount(x); }                                     \
  inline T clz(T x) { return __builtin_elementwise_clzg(x, (T)(8 * sizeof(typename __msl_vt<T>::elem))); } \
  inline T ctz(T x) { return __builtin_elementwise_ctzg(x, (T)(8 * sizeof(typename __msl_vt<T>::elem))); } \
  inline T reverse_bits(T x) { return __builtin_elementwise_bitreverse(x); }                               \
  inline T mulhi(T x, T y) {                                                                               \
    typedef typename __msl_vt<T>::elem E;                                                                  \
    return __msl_imap<T, U>(x, y, [](E a, E b) { return __msl_mulhi1(a, b); });                            \
  }                                                                                                        \
  inline T madhi(T a, T b, T c) { return mulhi(a, b) + c; }                                                \
  inline T rotate(T x, T s) {                                                                              \
    typedef typename __msl_vt<T>::elem E;                                                                  \
    typedef typename __msl_vt<U>::elem UE;                                                                 \
    return __msl_imap<T, U>(x, s, [](E a, E b) {                                                           \
      constexpr uint w = 8 * sizeof(E);                                                                    \
      uint k = (uint)b & (w - 1);                                                                          \
      return (E)(k ? (UE)(((UE)a << k) | ((UE)a >> (w - k))) : (UE)a);                                     \
    });                                                                                                    \
  }                                                                                                        \
  inline T hadd(T x, T y) {                                                                                \
    typedef typename __msl_vt<T>::elem E;                                                                  \
    return __msl_imap<T, U>(x, y, [](E a, E b) { return (E)((a & b) + ((a ^ b) >> 1)); });                 \
  }                                                                                                        \
  inline T rhadd(T x, T y) {                                                                               \
    typedef typename __msl_vt<T>::elem E;                                                                  \
    return __msl_imap<T, U>(x, y, [](E a, E b) { return (E)((a | b) - ((a ^ b) >> 1)); });                 \
  }
template <typename U, typename T> inline U __msl_cv(T x) {
  if constexpr (__msl_vt<T>::n == 1)
    return (U)x;
  else
    return __builtin_convertvector(x, U);
}
MSL_INT(MSL_INT_FUNCS)
inline int mul24(int a, int b) { return (int)((uint)((a << 8) >> 8) * (uint)((b << 8) >> 8)); }
inline uint mul24(uint a, uint b) { return (a & 0xffffffu) * (b & 0xffffffu); }
inline int mad24(int a, int b, int c) { return (int)((uint)mul24(a, b) + (uint)c); }
inline uint mad24(uint a, uint b, uint c) { return mul24(a, b) + c; }
#define MSL_BITFIELD(T, U)                                   \
  inline T extract_bits(T x, uint off, uint bits) {          \
    constexpr uint w = 8 * sizeof(T);                        \
    if (!bits)                                               \
      return 0;                                              \
    return (T)((T)((U)x << (w - off - bits)) >> (w - bits)); \
  }                                                          \
  inline T insert_bits(T base, T ins, uint off, uint bits) { \
    if (!bits)                                               \
      return base;                                           \
    U m = (U)((U)(~(U)0) >> (8 * sizeof(T) - bits)) << off;  \
    return (T)(((U)base & (U)~m) | (((U)ins << off) & m));   \
  }
MSL_BITFIELD(int, uint)
MSL_BITFIELD(uint, uint) MSL_BITFIELD(short, ushort) MSL_BITFIELD(ushort, ushort) MSL_BITFIELD(long, ulong)
    MSL_BITFIELD(ulong, ulong)
#define MSL_ISELECT(T, U) \
  inline T select(T a, T b, bool c) { return c ? b : a; }
        MSL_ISELECT(char, uchar) MSL_ISELECT(uchar, uchar) MSL_ISELECT(short, ushort) MSL_ISELECT(ushort, ushort)
            MSL_ISELECT(int, uint) MSL_ISELECT(uint, uint) MSL_ISELECT(long, ulong)
                MSL_ISELECT(ulong, ulong) inline bool select(bool a, bool b, bool c) {
  return c ? b : a;
}
#define MSL_IVSELECT(T, I) MSL_VSELECT(T##2, I##2) MSL_VSELECT(T##3, I##3) MSL_VSELECT(T##4, I##4)
MSL_IVSELECT(char, char)
MSL_IVSELECT(uchar, char) MSL_IVSELECT(short, short) MSL_IVSELECT(ushort, short) MSL_IVSELECT(int, int)
    MSL_IVSELECT(uint, int) MSL_IVSELECT(long, long) MSL_IVSELECT(ulong, long)
} // namespace metal
