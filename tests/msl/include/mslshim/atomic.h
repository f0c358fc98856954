// MSL spec, "Atomic Data Types" and "Atomic Functions".
#pragma once
#include "sync.h"

namespace metal {
// (the macros step over clang's built-in OpenCL typedefs of the same names)
#define memory_order __msl_memory_order
#define atomic_int __msl_atomic_int
#define atomic_uint __msl_atomic_uint
#define atomic_bool __msl_atomic_bool
#define atomic_float __msl_atomic_float
#define atomic_ulong __msl_atomic_ulong
#define atomic_long __msl_no_atomic_long     /* not in MSL */
#define atomic_double __msl_no_atomic_double /* not in MSL */
#define atomic_flag __msl_no_atomic_flag
enum memory_order {
  memory_order_relaxed
#if __METAL_VERSION__ >= 410
  ,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
#endif
};
enum thread_scope { thread_scope_thread, thread_scope_simdgroup, thread_scope_threadgroup, thread_scope_device };
#if __METAL_VERSION__ >= 320 // a fence takes orders that other atomic functions do not: a type of their own
#if __METAL_VERSION__ < 410
enum __msl_fence_order { memory_order_acquire, memory_order_release, memory_order_acq_rel, memory_order_seq_cst };
inline void atomic_thread_fence(mem_flags, __msl_fence_order, thread_scope = thread_scope_device) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#endif
inline void atomic_thread_fence(mem_flags, memory_order, thread_scope = thread_scope_device) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#endif
template <typename T> struct atomic {
  T __msl_v;
};
template <> struct atomic<bool> {
  uint __msl_v;
}; // atomic_bool takes a word
typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<bool> atomic_bool;
typedef atomic<float> atomic_float;
typedef atomic<ulong> atomic_ulong;

#define MSL_ATOMIC_RW(AS, T)                                                                                  \
  inline T atomic_load_explicit(const volatile AS atomic<T> *o, memory_order) {                               \
    return __atomic_load_n(&o->__msl_v, __ATOMIC_RELAXED);                                                    \
  }                                                                                                           \
  inline void atomic_store_explicit(volatile AS atomic<T> *o, T v, memory_order) {                            \
    __atomic_store_n(&o->__msl_v, v, __ATOMIC_RELAXED);                                                       \
  }                                                                                                           \
  inline T atomic_exchange_explicit(volatile AS atomic<T> *o, T v, memory_order) {                            \
    return __atomic_exchange_n(&o->__msl_v, v, __ATOMIC_RELAXED);                                             \
  }                                                                                                           \
  inline bool atomic_compare_exchange_weak_explicit(volatile AS atomic<T> *o, thread T *e, T v, memory_order, \
                                                    memory_order) {                                           \
    return __atomic_compare_exchange_n(&o->__msl_v, e, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);          \
  }
#define MSL_ATOMIC_OP(AS, T, NAME, OP)                                                   \
  inline T atomic_fetch_##NAME##_explicit(volatile AS atomic<T> *o, T v, memory_order) { \
    return OP(&o->__msl_v, v, __ATOMIC_RELAXED);                                         \
  }
#define MSL_ATOMIC_INT(AS, T)                                                                   \
  MSL_ATOMIC_RW(AS, T)                                                                          \
  MSL_ATOMIC_OP(AS, T, add, __atomic_fetch_add)                                                 \
  MSL_ATOMIC_OP(AS, T, sub, __atomic_fetch_sub) MSL_ATOMIC_OP(AS, T, and, __atomic_fetch_and)   \
      MSL_ATOMIC_OP(AS, T, or, __atomic_fetch_or) MSL_ATOMIC_OP(AS, T, xor, __atomic_fetch_xor) \
          MSL_ATOMIC_OP(AS, T, min, __atomic_fetch_min) MSL_ATOMIC_OP(AS, T, max, __atomic_fetch_max)
MSL_ATOMIC_INT(device, int)
MSL_ATOMIC_INT(device, uint) MSL_ATOMIC_INT(threadgroup, int) MSL_ATOMIC_INT(threadgroup, uint)
#define MSL_ATOMIC_BOOL(AS)                                                                                            \
  inline bool atomic_load_explicit(const volatile AS atomic<bool> *o, memory_order) {                                  \
    return __atomic_load_n(&o->__msl_v, __ATOMIC_RELAXED);                                                             \
  }                                                                                                                    \
  inline void atomic_store_explicit(volatile AS atomic<bool> *o, bool v, memory_order) {                               \
    __atomic_store_n(&o->__msl_v, (uint)v, __ATOMIC_RELAXED);                                                          \
  }                                                                                                                    \
  inline bool atomic_exchange_explicit(volatile AS atomic<bool> *o, bool v, memory_order) {                            \
    return __atomic_exchange_n(&o->__msl_v, (uint)v, __ATOMIC_RELAXED);                                                \
  }                                                                                                                    \
  inline bool atomic_compare_exchange_weak_explicit(volatile AS atomic<bool> *o, thread bool *e, bool v, memory_order, \
                                                    memory_order) {                                                    \
    uint x = *e;                                                                                                       \
    bool r = __atomic_compare_exchange_n(&o->__msl_v, &x, (uint)v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);          \
    *e = x;                                                                                                            \
    return r;                                                                                                          \
  }
    MSL_ATOMIC_BOOL(device) MSL_ATOMIC_BOOL(threadgroup)
#if __METAL_VERSION__ >= 300 // atomic_float: Metal 3, device memory only
#define MSL_BITS(e) __builtin_bit_cast(uint, e)
        inline float atomic_load_explicit(const volatile device atomic<float> *o, memory_order) {
  return __builtin_bit_cast(float, __atomic_load_n((const volatile device uint *)&o->__msl_v, __ATOMIC_RELAXED));
}
inline void atomic_store_explicit(volatile device atomic<float> *o, float v, memory_order) {
  __atomic_store_n((volatile device uint *)&o->__msl_v, MSL_BITS(v), __ATOMIC_RELAXED);
}
inline float atomic_exchange_explicit(volatile device atomic<float> *o, float v, memory_order) {
  return __builtin_bit_cast(float,
                            __atomic_exchange_n((volatile device uint *)&o->__msl_v, MSL_BITS(v), __ATOMIC_RELAXED));
}
inline bool atomic_compare_exchange_weak_explicit(volatile device atomic<float> *o, thread float *e, float v,
                                                  memory_order, memory_order) {
  return __atomic_compare_exchange_n((volatile device uint *)&o->__msl_v, (thread uint *)e, MSL_BITS(v), true,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
inline float __msl_faddto(volatile device atomic<float> *o, float v) {
  volatile device uint *p = (volatile device uint *)&o->__msl_v;
  uint old = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(p, &old, MSL_BITS(__builtin_bit_cast(float, old) + v), true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
  return __builtin_bit_cast(float, old);
}
inline float atomic_fetch_add_explicit(volatile device atomic<float> *o, float v, memory_order) {
  return __msl_faddto(o, v);
}
inline float atomic_fetch_sub_explicit(volatile device atomic<float> *o, float v, memory_order) {
  return __msl_faddto(o, -v);
}
#endif
#if __METAL_VERSION__ >= 240 // 64-bit: only min/max, device memory, no result
inline void atomic_min_explicit(volatile device atomic<ulong> *o, ulong v, memory_order) {
  __atomic_fetch_min(&o->__msl_v, v, __ATOMIC_RELAXED);
}
inline void atomic_max_explicit(volatile device atomic<ulong> *o, ulong v, memory_order) {
  __atomic_fetch_max(&o->__msl_v, v, __ATOMIC_RELAXED);
}
#endif
} // namespace metal
