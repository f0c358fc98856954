// Conversions of half and bfloat that clang calls on CPUs without instructions for them, and for the
// double-rounding-free half fma even with F16C. Kernels are linked without a compiler run-time, so they live here; bit
// by bit, since a C conversion would call itself.
#include <string.h>

#include "runtime.h"

uint16_t msl_f64_to_f16(double value) {  // round to nearest, ties to even (IEEE 754-2019, 4.3.1)
  uint64_t bits;
  memcpy(&bits, &value, 8);
  uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  uint64_t mantissa = bits & 0xfffffffffffffull;
  if (exponent == 1024) return sign | 0x7c00 | (mantissa ? 0x200 | (uint16_t)(mantissa >> 42) : 0);
  if (exponent > 15) return sign | 0x7c00;
  if (exponent < -25) return sign;  // below half the smallest subnormal
  mantissa |= 1ull << 52;
  int shift = exponent >= -14 ? 42 : 42 + (-14 - exponent);  // keep 11 significant bits, fewer if subnormal
  uint64_t kept = mantissa >> shift, rest = mantissa & ((1ull << shift) - 1), tie = 1ull << (shift - 1);
  if (rest > tie || (rest == tie && (kept & 1))) kept++;
  // a carry moves into the exponent, up to infinity
  return (uint16_t)(sign | (exponent >= -14 ? (uint64_t)(exponent + 14) * 1024 + kept : kept));
}

float msl_f16_to_f32(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, mantissa = half & 0x3ff, bits;
  if (exponent == 31) {
    bits = sign | 0x7f800000 | mantissa << 13 | (mantissa ? 0x400000 : 0);
  } else if (exponent) {
    bits = sign | (exponent + 112) << 23 | mantissa << 13;
  } else if (!mantissa) {
    bits = sign;
  } else {
    int shift = __builtin_clz(mantissa) - 21;
    bits = sign | (uint32_t)(113 - shift) << 23 | (mantissa << shift & 0x3ff) << 13;
  }
  float result;
  memcpy(&result, &bits, 4);
  return result;
}

// bfloat is the upper half of float: adding just under half of the last kept bit, or half if that bit is odd, carries.
static uint16_t round_to_bfloat(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);  // a NaN stays one
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Rounding twice is right if the first result is odd where it was inexact (Boldo, Melquiond, "When double rounding is
// odd", 2005).
uint16_t msl_f64_to_bf16(double value) {
  float odd = (float)value;
  uint32_t bits;
  memcpy(&bits, &odd, 4);
  double back = (double)odd;
  if (back != value && value == value && !(bits & 1)) bits += (back < value) == (value > 0) ? 1 : -1;
  memcpy(&odd, &bits, 4);
  return round_to_bfloat(odd);
}

static __bf16 as_bfloat16(uint16_t bits) {
  __bf16 result;
  memcpy(&result, &bits, 2);
  return result;
}
__bf16 __truncsfbf2(float x) { return as_bfloat16(round_to_bfloat(x)); }
__bf16 __truncdfbf2(double x) { return as_bfloat16(msl_f64_to_bf16(x)); }

#if defined(__FLT16_MAX__)
static _Float16 as_float16(uint16_t bits) {
  _Float16 result;
  memcpy(&result, &bits, 2);
  return result;
}
_Float16 __truncdfhf2(double x) { return as_float16(msl_f64_to_f16(x)); }
_Float16 __truncsfhf2(float x) { return as_float16(msl_f64_to_f16((double)x)); }
float __extendhfsf2(_Float16 x) {
  uint16_t bits;
  memcpy(&bits, &x, 2);
  return msl_f16_to_f32(bits);
}
#endif
