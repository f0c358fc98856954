// The namespaces precise and fast. MSL spec, "Math Functions": the accuracy differs, which a CPU does not show.
#pragma once
#include "integer.h"

namespace metal {
#define MSL_VARIANT(NS)  \
  namespace NS {         \
  using metal::sin;      \
  using metal::cos;      \
  using metal::tan;      \
  using metal::asin;     \
  using metal::acos;     \
  using metal::atan;     \
  using metal::atan2;    \
  using metal::sinh;     \
  using metal::cosh;     \
  using metal::tanh;     \
  using metal::asinh;    \
  using metal::acosh;    \
  using metal::atanh;    \
  using metal::exp;      \
  using metal::exp2;     \
  using metal::exp10;    \
  using metal::log;      \
  using metal::log2;     \
  using metal::log10;    \
  using metal::sqrt;     \
  using metal::rsqrt;    \
  using metal::pow;      \
  using metal::powr;     \
  using metal::divide;   \
  using metal::fmin;     \
  using metal::fmax;     \
  using metal::clamp;    \
  using metal::fmod;     \
  using metal::sinpi;    \
  using metal::cospi;    \
  using metal::tanpi;    \
  using metal::floor;    \
  using metal::ceil;     \
  using metal::trunc;    \
  using metal::round;    \
  using metal::rint;     \
  using metal::fract;    \
  using metal::fabs;     \
  using metal::abs;      \
  using metal::saturate; \
  using metal::sincos;   \
  using metal::sign;     \
  using metal::ldexp;    \
  }
MSL_VARIANT(precise)
MSL_VARIANT(fast)
} // namespace metal
