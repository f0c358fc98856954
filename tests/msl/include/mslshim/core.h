// Types, address spaces and as_type: with them clang's "C++ for OpenCL 2021" front end (-x clcpp) reads MSL.
// MSL spec, "Scalar Data Types", "Vector Data Types", "Type Conversions and Re-interpreting Data", "Address Spaces".
//
// Why C++ for OpenCL and not C++ with address_space attributes: the four address spaces exist and are enforced (no
// conversion between them, overloads on them, threadgroup variables only at a kernel's outermost scope, initialised
// read-only constants); copies of structures between spaces work; half, 0.5h, vectors and swizzles are native; double
// is an error and 1.0 a float, as in Metal; and on a CPU all spaces are plain memory, so the object file can run.
#pragma once
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// ---- address spaces. `constant` and `kernel` are keywords already. ---------
#define device __global
#define threadgroup __local
#define thread __private

#ifndef __METAL_VERSION__
#define __METAL_VERSION__ 310
#endif
#define __METAL__ 1
#if __METAL_VERSION__ >= 320 // MSL spec, "Memory Coherency": what a CPU shows is always coherent
#define coherent(scope)
#endif

namespace metal {

// ---- scalar and vector types ----------------------------------------------
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef signed char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
typedef ulong size_t;
typedef long ptrdiff_t;
typedef ulong uintptr_t;
typedef long intptr_t;

#define MSL_VEC(T)                                    \
  typedef T T##2 __attribute__((ext_vector_type(2))); \
  typedef T T##3 __attribute__((ext_vector_type(3))); \
  typedef T T##4 __attribute__((ext_vector_type(4)));
MSL_VEC(char)
MSL_VEC(uchar) MSL_VEC(short) MSL_VEC(ushort) MSL_VEC(int) MSL_VEC(uint) MSL_VEC(long) MSL_VEC(ulong) MSL_VEC(half)
    MSL_VEC(float)
#undef MSL_VEC
#if __METAL_VERSION__ >= 310 // MSL spec, "Scalar Data Types"
typedef __bf16 bfloat;
#endif
    // Limit: no boolN, since OpenCL has no vectors of bool. A vector comparison yields integers here, a boolN in Metal;
    // lint_ast.py refuses them.

    template <typename V>
    struct __msl_vt {
  typedef V elem;
  static constexpr constant int n = 1;
};
#define MSL_VT(T)                        \
  template <> struct __msl_vt<T##2> {    \
    typedef T elem;                      \
    static constexpr constant int n = 2; \
  };                                     \
  template <> struct __msl_vt<T##3> {    \
    typedef T elem;                      \
    static constexpr constant int n = 3; \
  };                                     \
  template <> struct __msl_vt<T##4> {    \
    typedef T elem;                      \
    static constexpr constant int n = 4; \
  };
MSL_VT(char)
MSL_VT(uchar) MSL_VT(short) MSL_VT(ushort) MSL_VT(int) MSL_VT(uint) MSL_VT(long) MSL_VT(ulong) MSL_VT(half)
    MSL_VT(float)
#undef MSL_VT
        template <typename T, int N>
        using vec = T __attribute__((ext_vector_type(N)));

// ---- vector construction: float4(a, b.xy, c) -------------------------------
// clang only takes {..} for ext_vectors in C++, so the constructor spelling is
// a function-like macro (see the end of all.h) onto these.
template <typename V, typename A> constexpr V __msl_make(A a) {
  if constexpr (__msl_vt<A>::n == 1)
    return V((typename __msl_vt<V>::elem)a);
  else {
    static_assert(__msl_vt<A>::n == __msl_vt<V>::n, "vector constructor: wrong number of components");
    return __builtin_convertvector(a, V);
  }
}
template <typename V, typename A> inline void __msl_put(thread V &r, thread int &i, A a) {
  typedef typename __msl_vt<V>::elem E;
  if constexpr (__msl_vt<A>::n == 1)
    r[i++] = (E)a;
  else
    for (int k = 0; k < __msl_vt<A>::n; k++)
      r[i++] = (E)a[k];
}
template <typename V, typename A, typename B, typename... R> constexpr V __msl_make(A a, B b, R... r) {
  typedef typename __msl_vt<V>::elem E;
  constexpr int n = __msl_vt<A>::n + __msl_vt<B>::n + (0 + ... + __msl_vt<R>::n);
  static_assert(n == __msl_vt<V>::n, "vector constructor: wrong number of components");
  if constexpr (n == 2 + (int)sizeof...(R))
    return V{(E)a, (E)b, (E)r...}; // all scalars: usable in constants
  else {
    V v;
    int i = 0;
    __msl_put(v, i, a);
    __msl_put(v, i, b);
    (__msl_put(v, i, r), ...);
    return v;
  }
}

// ---- reinterpretation ------------------------------------------------------
template <typename T, typename U> constexpr T as_type(U u) {
  static_assert(sizeof(T) == sizeof(U), "as_type: operand and result differ in size");
  return __builtin_bit_cast(T, u);
}

} // namespace metal

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define FLT_MAX 0x1.fffffep+127f
#define FLT_MIN 0x1p-126f
#define FLT_EPSILON 0x1p-23f
#define HALF_MAX 0x1.ffcp+15h
#define HALF_MIN 0x1p-14h
#define MAXFLOAT FLT_MAX
#define M_PI_F 3.14159265358979323846f
#define M_E_F 2.71828182845904523536f
#define M_LN2_F 0.69314718055994530942f
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-9223372036854775807l - 1)
#define ULONG_MAX 18446744073709551615ul
