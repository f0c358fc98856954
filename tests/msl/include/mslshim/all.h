// Everything a Metal header name brings; this is what gets precompiled.
#pragma once
#include "simdgroup.h"
#include "variants.h"

// `float4(...)` as a constructor call. A function-like macro leaves the plain
// type name alone and also works after `metal::`. (It would also catch a
// declarator such as `thread float4 (&a)[4]`; write a pointer instead.)
namespace metal {
#define MSL_CTOR(V) \
  template <typename... A> constexpr V __msl_make_##V(A... a) { return __msl_make<V>(a...); }
#define MSL_CTOR3(T) MSL_CTOR(T##2) MSL_CTOR(T##3) MSL_CTOR(T##4)
MSL_CTOR3(char)
MSL_CTOR3(uchar) MSL_CTOR3(short) MSL_CTOR3(ushort) MSL_CTOR3(int) MSL_CTOR3(uint) MSL_CTOR3(long) MSL_CTOR3(ulong)
    MSL_CTOR3(half) MSL_CTOR3(float)
} // namespace metal
#define char2(...) __msl_make_char2(__VA_ARGS__)
#define char3(...) __msl_make_char3(__VA_ARGS__)
#define char4(...) __msl_make_char4(__VA_ARGS__)
#define uchar2(...) __msl_make_uchar2(__VA_ARGS__)
#define uchar3(...) __msl_make_uchar3(__VA_ARGS__)
#define uchar4(...) __msl_make_uchar4(__VA_ARGS__)
#define short2(...) __msl_make_short2(__VA_ARGS__)
#define short3(...) __msl_make_short3(__VA_ARGS__)
#define short4(...) __msl_make_short4(__VA_ARGS__)
#define ushort2(...) __msl_make_ushort2(__VA_ARGS__)
#define ushort3(...) __msl_make_ushort3(__VA_ARGS__)
#define ushort4(...) __msl_make_ushort4(__VA_ARGS__)
#define int2(...) __msl_make_int2(__VA_ARGS__)
#define int3(...) __msl_make_int3(__VA_ARGS__)
#define int4(...) __msl_make_int4(__VA_ARGS__)
#define uint2(...) __msl_make_uint2(__VA_ARGS__)
#define uint3(...) __msl_make_uint3(__VA_ARGS__)
#define uint4(...) __msl_make_uint4(__VA_ARGS__)
#define long2(...) __msl_make_long2(__VA_ARGS__)
#define long3(...) __msl_make_long3(__VA_ARGS__)
#define long4(...) __msl_make_long4(__VA_ARGS__)
#define ulong2(...) __msl_make_ulong2(__VA_ARGS__)
#define ulong3(...) __msl_make_ulong3(__VA_ARGS__)
#define ulong4(...) __msl_make_ulong4(__VA_ARGS__)
#define half2(...) __msl_make_half2(__VA_ARGS__)
#define half3(...) __msl_make_half3(__VA_ARGS__)
#define half4(...) __msl_make_half4(__VA_ARGS__)
#define float2(...) __msl_make_float2(__VA_ARGS__)
#define float3(...) __msl_make_float3(__VA_ARGS__)
#define float4(...) __msl_make_float4(__VA_ARGS__)
