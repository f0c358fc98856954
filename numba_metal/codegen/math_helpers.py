"""Functions of mathematics that MSL lacks, in float32. Before: `calls` names them. After: `helpers`.

They are MSL, not device functions of `numba_gpucore.runtime`: CPUs and libdevice have their own, and as MSL they cost
no compile time and stay functions. Polynomials are weighted least-squares fits of ours to SciPy's functions at 4000
Chebyshev nodes, reweighted towards the largest relative error. tests/accuracy holds each function to its bound.
Functions of MSL are called in their precise form, whatever the kernel's options are: the bounds rest on it.
"""

from __future__ import annotations


def _function(head: str, *lines: str) -> str:
    return f"static inline {head}\n{{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"


def _polynomial(target: str, variable: str, *coefficients: str) -> list[str]:
    """Horner's rule with fused steps; the constant coefficient comes first."""
    lines = [f"float {target} = {coefficients[-1]};"]
    return lines + [f"{target} = fma({target}, {variable}, {c});" for c in reversed(coefficients[:-1])]


MATH_HELPERS: dict[str, str] = {
    "math_erf": _function(
        "float math_erf(float x)",
        "float t = precise::fabs(x);",
        "if (t <= 1.0f) {",
        "    float s = x * x;",
        *(f"    {line}" for line in _polynomial(
            "q", "s", "0.128379166f", "-0.37612626f", "0.112835854f", "-0.026853811f", "0.00518832775f",
            "-0.000801019254f", "7.85385782e-05f",
        )),
        "    return fma(x, q, x);",
        "}",
        "t = precise::fmin(t, 4.0f);",
        *_polynomial(
            "p", "t", "1.12848711f", "0.63598752f", "0.104395017f", "-0.0215152819f", "0.00198654458f",
            "0.000429960899f", "-0.000194090637f", "3.0558891e-05f", "-1.88514412e-06f",
        ),
        "return isnan(x) ? x : copysign(1.0f - precise::exp(-t * p), x);",
    ),
    # x * x is kept in two parts, since exp would magnify its rounding
    "math_erfc": _function(
        "float math_erfc(float x)",
        "if (!(x > 0.5f))",
        "    return 1.0f - math_erf(x);",
        "if (x > 10.5f)",
        "    return 0.0f;",
        "float u = (x - 2.0f) / (x + 2.0f);",
        *_polynomial(
            "p", "u", "1.27697837f", "-0.0927637592f", "-0.166030824f", "0.164048478f", "-0.0542113297f",
            "-0.00800308678f", "0.00865976699f", "0.00113717804f", "-0.00126677507f", "-0.000214356449f",
        ),
        "float high = x * x, low = fma(x, x, -high);",
        "float scaled = p / fma(2.0f, x, 1.0f);",
        "return precise::exp(-high) * fma(-scaled, low, scaled);",
    ),
    "math_expm1": _function(
        "float math_expm1(float x)",
        "if (precise::fabs(x) >= 0.5f || isnan(x))",
        "    return precise::exp(x) - 1.0f;",
        *_polynomial(
            "p", "x", "0.50000006f", "0.166666642f", "0.0416653566f", "0.00833357684f", "0.00139962067f",
            "0.000198506459f",
        ),
        "return x * fma(x, p, 1.0f);",
    ),
    # log of the rounded sum, and the part that rounding lost
    "math_log1p": _function(
        "float math_log1p(float x)",
        "float u = 1.0f + x;",
        "if (x == 0.0f)",
        "    return x;",
        "if (!(x > -1.0f && x < 0x1p24f))",
        "    return precise::log(u);",
        "return precise::log(u) + (x - (u - 1.0f)) / u;",
    ),
    # one step of Newton's method, on numbers whose square is not subnormal
    "math_cbrt": _function(
        "float math_cbrt(float x)",
        "float a = precise::fabs(x);",
        "if (a == 0.0f || !isfinite(x))",
        "    return x;",
        "bool is_small = a < 0x1p-96f;",
        "a = is_small ? a * 0x1p72f : a;",
        "float y = precise::exp2(precise::log2(a) / 3.0f);",
        "y = y - fma(y * y, y, -a) / (3.0f * y * y);",
        "return copysign(is_small ? y * 0x1p-24f : y, x);",
    ),
    # scaled by powers of two, so that squares neither overflow nor vanish
    "math_hypot": _function(
        "float math_hypot(float x, float y)",
        "float p = precise::fabs(x), q = precise::fabs(y), a = precise::fmax(p, q), b = precise::fmin(p, q);",
        "if (isinf(x) || isinf(y))",
        "    return as_type<float>(0x7f800000u);",
        "if (isnan(x) || isnan(y))",
        "    return x + y;",
        "float scale = a > 0x1p60f ? 0x1p-64f : a < 0x1p-40f ? 0x1p100f : 1.0f;",
        "a *= scale;",
        "b *= scale;",
        "return precise::sqrt(fma(a, a, b * b)) / scale;",
    ),
    # Exact, also for subnormal numbers, which GPUs may take for zeros (MSL specification 8.1): integers are compared,
    # whose order is that of the numbers.
    "math_nextafter": _function(
        "float math_nextafter(float x, float y)",
        "if (isnan(x) || isnan(y))",
        "    return x + y;",
        "int a = as_type<int>(x), b = as_type<int>(y);",
        "a = a < 0 ? int(0x80000000u - uint(a)) : a;",
        "b = b < 0 ? int(0x80000000u - uint(b)) : b;",
        "if (a == b)",
        "    return y;",
        "if (a == 0)",
        "    return as_type<float>((as_type<uint>(y) & 0x80000000u) | 1u);",
        "uint bits = as_type<uint>(x);",
        "return as_type<float>((b > a) == (a > 0) ? bits + 1u : bits - 1u);",
    ),
    # Exact; of equal halves NumPy gives the first (C the second, which only differs for zeros).
    "nextafter_half": _function(
        "half nextafter_half(half x, half y)",
        "if (isnan(x) || isnan(y))",
        "    return x + y;",
        "if (x == y)",
        "    return x;",
        "ushort bits = as_type<ushort>(x);",
        "if (x == 0.0h)",
        "    return as_type<half>(ushort((as_type<ushort>(y) & 0x8000) | 1));",
        "bool away = (y > x) == (x > 0.0h);",
        "return as_type<half>(ushort(away ? bits + 1 : bits - 1));",
    ),
    # Exact: the quotient is rounded to the nearest integer, ties to even. b + b must not overflow, nor b / 2 round.
    "math_remainder": _function(
        "float math_remainder(float x, float y)",
        "float a = precise::fabs(x), b = precise::fabs(y);",
        "if (!isfinite(x) || isnan(y) || b == 0.0f)",
        "    return as_type<float>(0x7fc00000u);",
        "if (a + a <= b)",
        "    return x;",
        "float scale = b > 0x1p126f ? 0x1p-8f : 1.0f;",
        "b *= scale;",
        "a = precise::fmod(a * scale, b + b);",
        "if (a + a > b) {",
        "    a -= b;",
        "    if (a + a >= b)",
        "        a -= b;",
        "}",
        "a /= scale;",
        "return signbit(x) ? -a : a;",
    ),
    # Helper of lgamma: the function on [0.7, 2], where it is 0 at 1 and 2.
    "lgamma_one_two": _function(
        "float lgamma_one_two(float x)",
        "float u = x - 1.35f;",
        *_polynomial(
            "p", "u", "0.506553411f", "-0.167200416f", "0.0796340555f", "-0.0439233109f", "0.0261400193f",
            "-0.016531527f", "0.0106991529f", "-0.00566321192f", "0.00350628863f", "-0.00552922208f",
            "0.00399396336f",
        ),
        "return (x - 1.0f) * (x - 2.0f) * p;",
    ),
    # Between negative whole numbers, where it passes through 0, the error is that of results of size 1.
    "math_lgamma": _function(
        "float math_lgamma(float x)",
        "if (isnan(x))",
        "    return x;",
        "if (isinf(x) || (x <= 0.0f && x == precise::floor(x)))",
        "    return as_type<float>(0x7f800000u);",
        "if (x < -0.5f && x > -30.0f)",
        "    return precise::log(precise::fabs(math_tgamma(x)));",
        "float a = precise::fabs(x), result;",
        "if (a < 0x1p-20f)",
        "    return -precise::log(a);",
        "if (a < 0.7f) {",
        "    result = lgamma_one_two(a + 1.0f) - precise::log(a);",
        "} else if (a < 8.0f) {",
        "    float product = 1.0f;",
        "    while (a > 2.0f) {",
        "        a -= 1.0f;",
        "        product *= a;",
        "    }",
        "    result = lgamma_one_two(a) + precise::log(product);",
        "} else {",
        "    float r = 1.0f / a;",
        "    float series = r * fma(r * r, fma(r * r, 0.000793650794f, -0.00277777778f), 0.0833333333f);",
        "    result = fma(a - 0.5f, precise::log(a), -a) + (0.918938533f + series);",
        "}",
        "if (x > 0.0f)",
        "    return result;",
        # the reflection formula; the distance from the nearest whole number is exact
        "float slope = precise::fabs(x * precise::sin(3.14159265f * (x - precise::rint(x))));",
        "return precise::log(3.14159265f / slope) - result;",
    ),
    # the recurrence is carried in two parts, high + low, so that its steps do not round
    "math_tgamma": _function(
        "float math_tgamma(float x)",
        "if (isnan(x) || (x < 0.0f && x == precise::floor(x)))",
        "    return as_type<float>(0x7fc00000u);",
        "if (x == 0.0f)",
        "    return copysign(as_type<float>(0x7f800000u), x);",
        "if (x > 36.0f)",
        "    return as_type<float>(0x7f800000u);",
        "if (x < -43.0f)",
        "    return precise::fmod(precise::floor(x), 2.0f) == 0.0f ? 0.0f : -0.0f;",
        "bool is_large = x >= 2.0f;",
        # the product of all factors would overflow below -20 before the last, small one, and above 30 before p < 1
        "float scale = x < -20.0f || x > 30.0f ? 0x1p-60f : 1.0f;",
        "float high = scale, low = 0.0f;",
        "while (is_large ? x >= 2.0f : x < 1.0f) {",
        "    float factor = is_large ? x - 1.0f : x;",
        "    float next = high * factor;",
        "    low = fma(low, factor, fma(high, factor, -next));",
        "    high = next;",
        "    x = is_large ? factor : x + 1.0f;",
        "}",
        "float u = x - 1.5f;",
        *_polynomial(
            "p", "u", "0.886226952f", "0.0323381908f", "0.414807707f", "-0.107280791f", "0.144828275f",
            "-0.0777932629f", "0.056602668f", "-0.0358664878f", "0.0345341191f", "-0.0244480353f",
        ),
        "if (is_large)",
        "    return fma(p, high, p * low) / scale;",
        "return fma(-p, low / high, p) / high * scale;",
    ),
    # NaN if either is one; -0 counts as less than +0.
    "ieee_minimum": _function(
        "float ieee_minimum(float x, float y)",
        "if (isnan(x) || isnan(y))",
        "    return x + y;",
        "return x < y || (x == y && signbit(x)) ? x : y;",
    ),
    "ieee_maximum": _function(
        "float ieee_maximum(float x, float y)",
        "if (isnan(x) || isnan(y))",
        "    return x + y;",
        "return x > y || (x == y && signbit(y)) ? x : y;",
    ),
}  # fmt: skip
