"""Functions of the shim headers against Python integers and NumPy, so that kernels may rest on them."""

import ctypes

import numpy as np
import pytest

from tests.msl import compile_msl_library
from tests.msl.memory import load_runtime
from tests.msl.toolchain import find_toolchain

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
DTYPES = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
    "half": np.float16,
    "float": np.float32,
}


def evaluate(type_, expressions, *arrays, toolchain=None):
    """result[i, k] = expressions[k] for a = arrays[0][i], b = arrays[1][i], in MSL type `type_`."""
    names = "ab"[: len(arrays)]
    params = "".join(f"device const {type_}* {name}s [[buffer({i})]], " for i, name in enumerate(names))
    loads = "".join(f"{type_} {name} = {name}s[i]; " for name in names)
    width = len(expressions)
    stores = "".join(f"o[i * {width}u + {k}u] = {text}; " for k, text in enumerate(expressions))
    source = (
        f"{HEAD}kernel void k({params}device {type_}* o [[buffer({len(arrays)})]], uint i [[thread_position_in_grid]])"
        f"{{ {loads}{stores} }}"
    )
    n = len(arrays[0])
    result = np.zeros((n, width), DTYPES[type_])
    return compile_msl_library(source, toolchain=toolchain).run("k", 0, 64, [*arrays, result], threads=n)[-1]


def integer_functions(type_, bits, low, high):
    """MSL expression -> what it means for Python integers a, b. MSL spec, "Integer Functions"."""

    def wrap(v):
        return (v - low) % 2**bits + low

    def unsigned(v):
        return v % 2**bits

    def saturate(v):
        return max(low, min(high, v))

    def rotate(a, b):
        k = b % bits
        return wrap((unsigned(a) << k | unsigned(a) >> (bits - k)) % 2**bits) if k else a

    return {
        "addsat(a, b)": lambda a, b: saturate(a + b),
        "subsat(a, b)": lambda a, b: saturate(a - b),
        "hadd(a, b)": lambda a, b: (a + b) >> 1,
        "rhadd(a, b)": lambda a, b: (a + b + 1) >> 1,
        f"{type_}(absdiff(a, b))": lambda a, b: wrap(abs(a - b)),
        "reverse_bits(a)": lambda a, b: wrap(int(f"{unsigned(a):0{bits}b}"[::-1], 2)),
        "rotate(a, b)": rotate,
        "mulhi(a, b)": lambda a, b: (a * b) >> bits,
        "popcount(a)": lambda a, b: unsigned(a).bit_count(),
        "clz(a)": lambda a, b: bits - unsigned(a).bit_length(),
        "ctz(a)": lambda a, b: (unsigned(a) & -unsigned(a)).bit_length() - 1 if a else bits,
        "min(a, b)": min,
        "max(a, b)": max,
        f"clamp(a, {type_}(3), {type_}(99))": lambda a, b: max(3, min(99, a)),
        f"{type_}(abs(a))": lambda a, b: wrap(abs(a)),
        "select(a, b, a > b)": lambda a, b: b if a > b else a,
        f"median3(a, b, {type_}(7))": lambda a, b: sorted((a, b, 7))[1],
    } | (bit_field_functions(bits, low, wrap, unsigned) if bits > 8 else {})


def bit_field_functions(bits, low, wrap, unsigned):
    def extract(a, b):
        field = unsigned(a) >> 3 & 31
        return (field ^ 16) - 16 if low < 0 else field

    return {
        "extract_bits(a, 3u, 5u)": extract,
        "insert_bits(a, b, 3u, 5u)": lambda a, b: wrap(unsigned(a) & ~(31 << 3) | (unsigned(b) & 31) << 3),
        f"extract_bits(a, 0u, {bits}u)": lambda a, b: a,
        f"insert_bits(a, b, 0u, {bits}u)": lambda a, b: b,
    }


@pytest.mark.parametrize("type_", [name for name, dtype in DTYPES.items() if np.dtype(dtype).kind in "iu"])
def test_integer_functions(type_):
    info = np.iinfo(DTYPES[type_])
    functions = integer_functions(type_, info.bits, int(info.min), int(info.max))
    a = np.frombuffer(np.random.default_rng(5).bytes(200 * info.bits // 8), info.dtype).copy()
    a[:6] = [0, 1, info.max, info.min, info.max - 1, 2]
    b = a[::-1].copy()
    out = evaluate(type_, list(functions), a, b)
    for column, (text, meaning) in zip(out.T.tolist(), functions.items(), strict=True):
        assert column == [meaning(int(x), int(y)) for x, y in zip(a, b, strict=True)], text


def smoothstep(x):
    t = np.clip((x + 1) / 2, 0, 1)
    return t * t * (3 - 2 * t)


def real_functions(type_, a, b):
    """MSL expression -> values in float64. MSL spec, "Common Functions" and "Math Functions"."""
    quarter, one, zero = (f"{type_}({v})" for v in (0.25, 1, 0))
    positive_text, positive = f"(fabs(a) + {quarter})", np.abs(a) + 0.25
    unary = ("sin", "cos", "atan", "sinh", "cosh", "tanh", "asinh", "exp", "exp2", "floor", "ceil", "trunc", "rint")
    names = {"atan": "arctan", "asinh": "arcsinh"}
    return {
        **{f"{name}(a)": getattr(np, names.get(name, name))(a) for name in unary},
        **{f"{name}({positive_text})": getattr(np, name)(positive) for name in ("log", "log2", "log10", "sqrt")},
        f"asin(a * {quarter})": np.arcsin(a / 4),
        f"acos(a * {quarter})": np.arccos(a / 4),
        f"atanh(a * {quarter})": np.arctanh(a / 4),
        f"acosh({positive_text} + {one})": np.arccosh(positive + 1),
        f"tan(a * {quarter})": np.tan(a / 4),
        f"rsqrt({positive_text})": 1 / np.sqrt(positive),
        f"pow({positive_text}, b)": positive**b,
        "atan2(a, b)": np.arctan2(a, b),
        "exp10(a)": 10**a,
        "round(a)": np.sign(a) * np.floor(np.abs(a) + 0.5),
        "fract(a)": a - np.floor(a),
        "fmod(a, b)": np.fmod(a, b),
        "fdim(a, b)": np.maximum(a - b, 0),
        "copysign(a, b)": np.copysign(a, b),
        "sign(a)": np.sign(a),
        "step(a, b)": (b >= a) * 1.0,
        f"smoothstep(-{one}, {one}, a)": smoothstep(a),
        f"mix(a, b, {quarter})": a + (b - a) * 0.25,
        "saturate(a)": np.clip(a, 0, 1),
        f"median3(a, b, {zero})": np.median([a, b, a * 0], 0),
        "ldexp(a, 3)": a * 8,
        f"{type_}(isnan(a / (b - b) * {zero}))": a * 0 + 1,
        "fma(a, b, a)": b * a + a,
    }


@pytest.mark.parametrize(
    ("type_", "tolerance"),
    [
        ("float", 3e-6),  # 2**-24 of rounding, a few units in functions, |10**3|'s condition
        ("half", 3e-3),  # 2**-11 of rounding in arguments such as a * 0.25 too
    ],
)
def test_real_functions(type_, tolerance):
    rng = np.random.default_rng(6)
    a, b = (rng.uniform(-3, 3, 300).astype(DTYPES[type_]) for _ in range(2))
    functions = real_functions(type_, a.astype(np.float64), b.astype(np.float64))
    out = evaluate(type_, list(functions), a, b).astype(np.float64)
    for column, (text, want) in zip(out.T, functions.items(), strict=True):
        np.testing.assert_allclose(column, want, rtol=tolerance, atol=tolerance, err_msg=text)


def test_half_conversions_of_the_runtime():
    """Against NumPy's: every half, and doubles around every rounding boundary."""
    dll = load_runtime(find_toolchain()).dll
    to_half, to_float = dll.msl_f64_to_f16, dll.msl_f16_to_f32
    to_half.argtypes, to_half.restype = [ctypes.c_double], ctypes.c_uint16
    to_float.argtypes, to_float.restype = [ctypes.c_uint16], ctypes.c_float
    halves = np.arange(65536).astype(np.uint16).view(np.float16)
    back = np.array([to_float(int(bits)) for bits in halves.view(np.uint16)], np.float32)
    np.testing.assert_array_equal(back, halves.astype(np.float32))
    finite = halves[:0x7C00].astype(np.float64)
    middle = (finite[1:] + finite[:-1]) / 2
    edges = [65504, 65519.99, 65520, 1e300, np.inf, 5e-324, 2.0**-25, np.nextafter(2.0**-25, 1)]
    positive = np.concatenate([finite, middle, np.nextafter(middle, np.inf), np.nextafter(middle, 0), edges])
    values = np.concatenate([positive, -positive])
    with np.errstate(over="ignore"):
        want = values.astype(np.float16).view(np.uint16)
    np.testing.assert_array_equal(np.array([to_half(value) for value in values], np.uint16), want)
    assert np.isnan(np.array([to_half(float("nan"))], np.uint16).view(np.float16))[0]


def test_half_without_conversion_instructions():
    """On a CPU target without F16C each conversion is a call of the run-time's: same bits."""
    x = np.random.default_rng(7).normal(size=256).astype(np.float16)
    expressions = ["a * a + a", "sqrt(fabs(a))", "half(int(a))", "fma(a, a, a)"]
    plain = evaluate("half", expressions, x, toolchain=find_toolchain(plain_cpu=True))
    np.testing.assert_array_equal(plain[:, 1:], evaluate("half", expressions, x)[:, 1:])
    assert plain.dtype == np.float16


def test_bfloat_rounds_to_nearest_even():
    """bfloat is the upper half of a float32: NumPy does the same on bits. MSL spec, "Scalar Data Types"."""
    source = HEAD + (
        "kernel void k(device const float* x [[buffer(0)]], device ushort* o [[buffer(1)]],"
        " uint i [[thread_position_in_grid]]) { bfloat b = bfloat(x[i]); o[i] = as_type<ushort>(bfloat(b + b)); }"
    )
    x = np.random.default_rng(8).normal(size=500).astype(np.float32)
    x[:4] = [1 + 2.0**-8, 1 + 3 * 2.0**-8, np.inf, 0]  # two ties: to even below, to even above
    bits = x.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint32) << 16
    twice = rounded.view(np.float32) * np.float32(2)
    out = compile_msl_library(source).run("k", 0, 64, [x, np.zeros(500, np.uint16)], threads=500)[1]
    np.testing.assert_array_equal(out, (twice.view(np.uint32) >> 16).astype(np.uint16))


def test_bfloat_of_a_double_rounds_once():
    """1 + 2**-8 is a tie in bfloat; a double just above it must go up, though the nearest float32 is the tie."""
    dll = load_runtime(find_toolchain()).dll
    convert = dll.msl_f64_to_bf16
    convert.argtypes, convert.restype = [ctypes.c_double], ctypes.c_uint16
    tie = 1 + 2.0**-8
    values = [tie, np.nextafter(tie, 2), np.nextafter(tie, 0), -np.nextafter(tie, 2), 0.0, 1e300, -np.inf]
    wanted = [0x3F80, 0x3F81, 0x3F80, 0xBF81, 0, 0x7F80, 0xFF80]
    assert [convert(value) for value in values] == wanted
