// MSL spec, "SIMD-Group Functions". Every call is a rendezvous of the lanes that reach the same call site; the run-time
// hands back a snapshot of what each of them brought.
#pragma once
#include "atomic.h"

namespace metal {
template <typename T> inline T __msl_slot(thread const __msl_snap *s, uint lane) {
  T r;
  __builtin_memcpy(&r, s->slot[lane & 31], sizeof(T));
  return r;
}
template <typename T, typename F> inline T __msl_reduce(T x, F f) {
  thread const __msl_snap *s = __msl_simd_sync(&x, sizeof(T));
  bool first = true;
  T r = x;
  for (uint i = 0; i < 32; i++)
    if (s->mask >> i & 1) {
      T v = __msl_slot<T>(s, i);
      r = first ? v : f(r, v);
      first = false;
    }
  return r;
}
template <typename T, typename F> inline T __msl_scan(T x, T unit, bool incl, F f) {
  thread const __msl_snap *s = __msl_simd_sync(&x, sizeof(T));
  T r = unit;
  for (uint i = 0; i < s->lane + (incl ? 1u : 0u); i++)
    if (s->mask >> i & 1)
      r = f(r, __msl_slot<T>(s, i));
  return r;
}
template <typename T> inline T __msl_take(T x, int lane, int dflt) { // from an active lane, else from `dflt`
  thread const __msl_snap *s = __msl_simd_sync(&x, sizeof(T));
  int l = (lane >= 0 && lane < 32 && (s->mask >> lane & 1)) ? lane : dflt;
  return l < 0 ? x : __msl_slot<T>(s, (uint)l);
}
extern "C" uint __msl_lane(void);
// No 64-bit types: MSL's simd_* functions do not take long/ulong.
#define MSL_SIMD_TYPES(X)                                                                                              \
  X(half)                                                                                                              \
  X(half2) X(half3) X(half4) X(float) X(float2) X(float3) X(float4) X(char) X(uchar) X(short) X(ushort) X(int) X(uint) \
      X(int2) X(int3) X(int4) X(uint2) X(uint3) X(uint4) X(short2) X(short3) X(short4) X(ushort2) X(ushort3)           \
          X(ushort4)
#define MSL_SIMD(T)                                                                                              \
  inline T simd_sum(T x) {                                                                                       \
    return __msl_reduce(x, [](T a, T b) { return (T)(a + b); });                                                 \
  }                                                                                                              \
  inline T simd_product(T x) {                                                                                   \
    return __msl_reduce(x, [](T a, T b) { return (T)(a * b); });                                                 \
  }                                                                                                              \
  inline T simd_min(T x) {                                                                                       \
    return __msl_reduce(x, [](T a, T b) { return min(a, b); });                                                  \
  }                                                                                                              \
  inline T simd_max(T x) {                                                                                       \
    return __msl_reduce(x, [](T a, T b) { return max(a, b); });                                                  \
  }                                                                                                              \
  inline T simd_prefix_inclusive_sum(T x) {                                                                      \
    return __msl_scan(x, (T)0, true, [](T a, T b) { return (T)(a + b); });                                       \
  }                                                                                                              \
  inline T simd_prefix_exclusive_sum(T x) {                                                                      \
    return __msl_scan(x, (T)0, false, [](T a, T b) { return (T)(a + b); });                                      \
  }                                                                                                              \
  inline T simd_shuffle(T x, ushort l) { return __msl_take(x, l, -1); }                                          \
  inline T simd_broadcast(T x, ushort l) { return __msl_take(x, l, -1); }                                        \
  inline T simd_broadcast_first(T x) {                                                                           \
    thread const __msl_snap *s = __msl_simd_sync(&x, sizeof(T));                                                 \
    return __msl_slot<T>(s, (uint)__builtin_ctzl(s->mask));                                                      \
  }                                                                                                              \
  inline T simd_shuffle_xor(T x, ushort m) { return __msl_take(x, (int)(__msl_lane() ^ m), -1); }                \
  inline T simd_shuffle_down(T x, ushort d) { return __msl_take(x, (int)__msl_lane() + d, -1); }                 \
  inline T simd_shuffle_up(T x, ushort d) { return __msl_take(x, (int)__msl_lane() - d, -1); }                   \
  inline T simd_shuffle_rotate_down(T x, ushort d) { return __msl_take(x, (int)((__msl_lane() + d) & 31), -1); } \
  inline T simd_shuffle_rotate_up(T x, ushort d) { return __msl_take(x, (int)((__msl_lane() - d) & 31), -1); }
MSL_SIMD_TYPES(MSL_SIMD)
#define MSL_SIMD_BITS(T)                                         \
  inline T simd_and(T x) {                                       \
    return __msl_reduce(x, [](T a, T b) { return (T)(a & b); }); \
  }                                                              \
  inline T simd_or(T x) {                                        \
    return __msl_reduce(x, [](T a, T b) { return (T)(a | b); }); \
  }                                                              \
  inline T simd_xor(T x) {                                       \
    return __msl_reduce(x, [](T a, T b) { return (T)(a ^ b); }); \
  }
MSL_SIMD_BITS(char)
MSL_SIMD_BITS(uchar) MSL_SIMD_BITS(short) MSL_SIMD_BITS(ushort) MSL_SIMD_BITS(int)
    MSL_SIMD_BITS(uint) struct simd_vote {
  typedef ulong vote_t;
  vote_t __msl_m;
  constexpr explicit operator vote_t() const { return __msl_m; }
  bool all() const { return __msl_m == 0xffffffffu; }
  bool any() const { return __msl_m != 0; }
};
inline ulong __msl_ballot(bool p) {
  uint x = p;
  thread const __msl_snap *s = __msl_simd_sync(&x, 4);
  ulong r = 0;
  for (uint i = 0; i < 32; i++)
    if ((s->mask >> i & 1) && __msl_slot<uint>(s, i))
      r |= 1ul << i;
  return r;
}
inline simd_vote simd_ballot(bool p) {
  simd_vote v;
  v.__msl_m = __msl_ballot(p);
  return v;
}
inline simd_vote simd_active_threads_mask() {
  simd_vote v;
  v.__msl_m = __msl_ballot(true);
  return v;
}
inline bool simd_any(bool p) { return __msl_ballot(p) != 0; }
inline bool simd_all(bool p) { return __msl_ballot(!p) == 0; }
inline bool simd_is_first() {
  uint x = 0;
  thread const __msl_snap *s = __msl_simd_sync(&x, 4);
  return s->lane == (uint)__builtin_ctzl(s->mask);
}
} // namespace metal
