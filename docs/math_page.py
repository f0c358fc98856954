"""The text of docs/math.md. Before: generate_math measures. After: readers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.accuracy.functions import F16, F32, F64, FUNCTIONS, RealFunction
from tests.accuracy.specials import SHOWN

Reports = dict[str, dict[str, Any]]

HEAD = """\
# Mathematics

How exact the functions of `math`, `cmath` and NumPy's scalar ufuncs are in kernels, and what numbers do at their edges.
Written by `make docs-math`; the bounds are those of `tests/accuracy/functions.py`, to which `make test` holds each
function.

Errors are in ulp, units in the last place of the exact result: a result that is the nearest number errs by at most 0.5.
Each column gives the largest error over these arguments, then the bound:

- float16: all 65,536 numbers, or 4,194,304 / 64 pairs of bit patterns;
- float32: one bit pattern drawn from each of 2²² equal parts of all of them, 2²⁰ more from the interval in which the
  function is neither trivial nor infinite, and 829 edges (ends of the range, whole and half numbers, multiples of π/4,
  powers of two, and the neighbours of all these);
- float64: the same with 2¹⁴ bit patterns and 2¹² more, against mpmath with 200 bits. float16 and float32 are held
  against NumPy and SciPy in float64.

Pairs of numbers are drawn likewise, each number by itself.

"CPU" is the CPU device: the C library of the host ({cpu}), but for what is marked ¹, which is computed in double
precision or corrected, since the library's own form errs by more than 2 ulp. "PTX" is libdevice's code on the PTX
machine of `tests/ptx`, which computes the hardware's approximate instructions exactly; the bound is NVIDIA's and half
an ulp, since NVIDIA counts from the nearest number. "Metal" is emitted Metal text, compiled by clang for this CPU: *for
functions that MSL has, that measures the C library and says nothing about Apple's GPUs*, whose bound by the MSL
specification stands in the last column, **not measured**. Functions that MSL lacks are ours.

Zeros, infinities, NaN and arguments outside the domain give what C17 annex F says, on all three: `make test` compares
every function on {n_special} special numbers, or all pairs of them.
"""

CORRECTED = {"float32": {"erfc", "lgamma", "log10", "tanh", "tgamma"}, "float64": {"cbrt"}}

# ruff: noqa: E501  rows of tables cannot be broken
INTEGERS = """\
## Integers

Operators compute in int64, or in uint64 if both operands are unsigned, as Numba types them; NumPy's ufuncs compute in
the type of their arguments. `tests/device/kernels_semantics.py` tests every width on every device.

| operation | result |
|---|---|
| `+ - *`, negation, `abs` | wrap, as in NumPy |
| `x // y`, `x % y`, `divmod` | Python's signs: rounded down, the remainder has the sign of `y` |
| `x // 0`, `x % 0` | 0, as in NumPy; with `debug=True` ZeroDivisionError |
| `MIN // -1`, `MIN % -1` | wraps to `MIN`, and 0, as in NumPy |
| `x / y` | the nearest float64 (Metal: both are rounded to float32 first); `x / 0` is ±∞ or NaN, with `debug=True` ZeroDivisionError |
| `x << n`, `x >> n` with `n` ≥ width or `n` < 0 | everything is shifted out: 0, or −1 for negative `x >> n`, as in NumPy |
| `x ** n`, `n` ≥ 0 | wraps, as in NumPy |
| `x ** n`, `n` < 0 | what remains of the fraction: 1 and −1 for those bases, else 0; `MIN` for `0 ** n`. NumPy raises ValueError |
| `int(x)`, `np.int32(x)`, storing a float | towards zero; out of range the nearest integer of the type, NaN gives 0. C leaves this open; NumPy gives what the host's processor does |
| integer → float | the nearest, ties to even, as in NumPy; too large for float16 is ∞ |
| `round(x)`, `np.rint(x)` | halves to even |
| `x % y`, `x // y` of floats | Python's, the sign of zero included: `-0.0` only for negative `y` |
"""


def render(reports: Reports) -> str:
    n_special = 11
    parts = [HEAD.format(cpu=reports["cpu"]["machine"], n_special=n_special)]
    parts += ["## float32\n", *_table(F32, reports, with_msl=True), _near_zeros(reports)]
    parts += ["\n## float64\n", "numba_ptxplus only.\n", *_table(F64, reports)]
    parts += ["\n## float16\n", "Computed in float32 and rounded once more.\n", *_table(F16, reports, with_text=True)]
    parts += ["\n## fastmath=True\n", *_fastmath(reports)]
    parts += ["\n## Special numbers\n", *_specials(reports)]
    parts += ["\n## Complex functions\n", *_complexes(reports), "\n" + INTEGERS]
    return "\n".join(parts)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _spelled(function: RealFunction) -> str:
    names = []
    for spelling in function.spellings:
        module = (getattr(spelling, "__module__", None) or "numpy").split(".")[-1]
        short = {"numpy": "np", "language": "gpu"}.get(module, module)
        names.append(f"`{short}.{spelling.__name__}`")
    return ", ".join(dict.fromkeys(names))


def _cell(reports: Reports, level: str, function: RealFunction, dtype: Any) -> str:
    measured = reports[level]["reals"][function.name][dtype.name]
    mark = "¹" if level == "cpu" and function.name in CORRECTED.get(dtype.name, ()) else ""
    return f"{measured['error']:.2f}{mark} ≤ {function.bound(level, dtype):g}"


def _table(dtype: Any, reports: Reports, with_msl: bool = False, with_text: bool = False) -> list[str]:
    heads = ["function", "CPU", "PTX"]
    heads += ["Metal text, on clang", "MSL specification (not measured)"] if with_msl else []
    heads += ["Metal text, on clang"] if with_text else []
    lines = [_row(heads), _row(["---"] * len(heads))]
    for function in FUNCTIONS:
        cells = [_spelled(function), _cell(reports, "cpu", function, dtype), _cell(reports, "ptx", function, dtype)]
        if with_msl:
            cells += [_cell(reports, "msl", function, dtype), function.apple[0] if function.apple else "ours"]
        if with_text:
            cells.append(_cell(reports, "msl", function, dtype))
        lines.append(_row(cells))
    return lines


def _near_zeros(reports: Reports) -> str:
    lines = []
    for function in FUNCTIONS:
        if function.near_zeros is None:
            continue
        low, high = function.near_zeros[0]
        errors = {level: reports[level]["reals"][function.name]["float32"]["near_zeros"] for level in ("ptx", "msl")}
        lines.append(
            f"\n`{function.name}` passes through zero between {low} and {high}, where the relative error has no bound on "
            f"GPUs: up to {errors['ptx']:.0f} ulp by libdevice, {errors['msl']:.0f} by ours. The CPU column has no such "
            "exception."
        )
    lines.append(
        "`logaddexp` and `logaddexp2` are sums whose terms may cancel, as in NumPy: their errors are in ulp of the larger "
        "term."
    )
    return "\n".join(lines)


def _fastmath(reports: Reports) -> list[str]:
    lines = [
        "Arithmetic may be reordered, contracted and told that nothing is NaN or infinite. PTX takes libdevice's and the "
        "hardware's approximate forms, flushes subnormal float32 to zero, and divides within 2 ulp; Metal takes MSL's "
        '`fast::` forms. The documented errors are NVIDIA\'s (CUDA C++ Programming Guide, "Intrinsic Functions") and '
        "Apple's (MSL specification, fast math); neither is measured. Functions that are not listed are as above.",
        "",
        _row(["function", "CPU, measured", "PTX, documented", "MSL, documented"]),
        _row(["---"] * 4),
    ]
    for function in FUNCTIONS:
        if function.nvidia_fast or (function.apple and function.apple[0] != function.apple[1]):
            measured = reports["cpu"]["reals"][function.name]["fastmath"]
            apple = function.apple[1] if function.apple else "ours"
            lines.append(_row([_spelled(function), f"{measured:.2f}", function.nvidia_fast or "as above", apple]))
    return lines


def _number(value: float) -> str:
    return f"{value:.6g}"


def _specials(reports: Reports) -> list[str]:
    lines = [_row(["function", *map(_number, SHOWN)]), _row(["---"] * (len(SHOWN) + 1))]
    for function in FUNCTIONS:
        if function.arity == 1:
            answers = reports["cpu"]["reals"][function.name]["special"]
            lines.append(_row([f"`{function.name}`", *map(_number, answers)]))
    wrong = [
        f"- {level}, {dtype}: {text}"
        for level, report in reports.items()
        for measured in report["reals"].values()
        for dtype, found in measured.items()
        if isinstance(found, dict)
        for text in found["wrong"]
    ]
    lines += ["", "The signs of NaN are not defined."]
    return [*lines, *(["Where a level differs in kind:", "", *wrong] if wrong else [])]


def _complexes(reports: Reports) -> list[str]:
    columns = [("cpu", "complex64"), ("cpu", "complex128"), ("ptx", "complex64"), ("ptx", "complex128")]
    columns.append(("msl", "complex64"))
    names = {"cpu": "CPU", "ptx": "PTX", "msl": "Metal text, on clang"}
    lines = [
        "Distances in the plane, in ulp of the modulus of the exact result, over 2¹⁰ numbers with moduli from 2⁻²⁰ to 16. "
        "The formulas are Numba's; next to branch points (±1, ±i) and where a logarithm passes through zero they cancel, "
        "as the large figures show. No bound is promised.",
        "",
        _row(["function", *(f"{names[level]}, {dtype}" for level, dtype in columns)]),
        _row(["---"] * (len(columns) + 1)),
    ]
    for name in reports["cpu"]["complexes"]:
        figures = [f"{reports[level]['complexes'][name][dtype]:.1f}" for level, dtype in columns]
        lines.append(_row([f"`{name}`", *figures]))
    return lines
