"""The text of docs/math.md. Before: generate_math measures. After: readers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.accuracy.functions import F16, F32, F64, FUNCTIONS, LevelName, RealFunction
from tests.accuracy.levels import TYPES
from tests.accuracy.samples import COUNTS, edges
from tests.accuracy.specials import NUMBERS, SHOWN


@dataclass(frozen=True)
class Results:
    """machine: processor and C library. divide: by what the counts of tests/accuracy/samples.py were divided.

    reals, complexes: by function, then level, then type, what generate_math measured.
    """

    machine: str
    divide: int
    reals: dict[str, Any]
    complexes: dict[str, Any]

    def count(self, dtype: Any) -> int:
        return COUNTS[dtype] // self.divide


HEAD = """\
# Mathematics

How exact the functions of `math`, `cmath` and NumPy's scalar ufuncs are in kernels, and what numbers do at their edges.
Written by `make docs-math`; the bounds are those of `tests/accuracy/functions.py`, to which `make test` holds each
function.

Errors are in ulp, units in the last place of the exact result: a result that is the nearest number errs by at most 0.5.
Each column gives the largest error over these arguments, then the bound:

- float16: all 65,536 numbers;
- float32: one bit pattern drawn from each of {n32:,} equal parts of all of them, {more32:,} more from the interval in
  which the function is neither trivial nor infinite, and {edges32:,} edges: ends of the range, whole and half numbers,
  multiples of π/4, powers of two, and the neighbours of all these;
- float64: the same with {n64:,} and {more64:,}, against mpmath with 200 bits. float16 and float32 are held against NumPy
  and SciPy in float64.

Functions of two numbers get as many pairs, half from everywhere and half from such intervals (65,536 of float16).

"CPU" is the CPU device: the C library of the host ({cpu}), but for what is marked ¹, which is
computed in double precision or corrected, since the library's own form errs by more than 2 ulp. "PTX" is libdevice's code on the PTX
machine of `tests/ptx`, which computes the hardware's approximate instructions exactly; the bound is NVIDIA's and half
an ulp, since NVIDIA counts from the nearest number. "Metal" is emitted Metal text, compiled by clang for this CPU: *for
functions that MSL has, that measures the C library and says nothing about Apple's GPUs*, whose bound by the MSL
specification stands in the last column, **not measured**. Functions that MSL lacks are ours.

Zeros, infinities, NaN and arguments outside the domain give what C17 annex F says, on all three: `make test` compares
every function on {n_special} special numbers, or all pairs of them.
Apple's GPUs may take float32 numbers below 2**-126 for zeros and make zeros of such results (MSL specification 8.1),
which clang does not.
"""

COLUMNS: dict[str, str] = {"cpu": "CPU", "ptx": "PTX", "msl": "Metal text, on clang"}
#: What cpu/math_definitions.py does not leave to the C library's own form.
CORRECTED = {"float32": {"erfc", "lgamma", "log10", "tanh", "tgamma"}, "float64": {"cbrt"}}

# ruff: noqa: E501  rows of tables cannot be broken
INTEGERS = """\
## Integers

Operators compute in int64, or in uint64 if both operands are unsigned, as Numba types them; NumPy's ufuncs compute in
the type of their arguments. A variable that is an int64 here and a uint64 there is an int64 of the same bits.
`tests/device/kernels_semantics.py` tests every width on every device.

| operation | result |
|---|---|
| `+ - *` | wrap, as in NumPy |
| `-x`, `~x`, `abs(x)` | wrap in the type of `x`, as in NumPy |
| comparisons, `min`, `max` of a signed and an unsigned integer | Python's: whole numbers, none is rounded. Of an int64 and a uint64 the smaller is an int64, the larger a uint64 |
| `x // y`, `x % y`, `divmod` | Python's signs: rounded down, the remainder has the sign of `y` |
| `x // 0`, `x % 0` | 0, as in NumPy; with `debug=True` ZeroDivisionError |
| `MIN // -1`, `MIN % -1` | wraps to `MIN`, and 0, as in NumPy |
| `x / y` | the nearest float64 (Metal: both are rounded to float32 first); `x / 0` is ±∞ or NaN, with `debug=True` ZeroDivisionError |
| `x << n`, `x >> n` with `n` ≥ width or `n` < 0 | everything is shifted out: 0, or −1 for negative `x >> n`, as in NumPy |
| `x ** n`, `n` ≥ 0 | wraps, as in NumPy |
| `x ** n`, `n` < 0 | what remains of the fraction: 1 and −1 for those bases, else 0; `MIN` for `0 ** n`. NumPy raises ValueError |
| `int(x)`, `np.int32(x)`, storing a float | towards zero; out of range the nearest integer of the type, NaN gives 0. C leaves this open; NumPy gives what the host's processor does |
| integer → float | the nearest, ties to even, as in NumPy; too large for float16 is ∞ |
| `round(x)`, `np.rint(x)` | halves to even; `round` of an integer is that integer |
| `round(x, n)` | as `np.round`: `x * 10**n` is rounded, halves to even, and divided. Python rounds the exact decimal number, and may give the neighbour |
| `x % y`, `x // y` of floats | Python's, the sign of zero included: `-0.0` only for negative `y`; `x // 0.0` is ±∞ or NaN, with `debug=True` ZeroDivisionError |
| `np.fmod(x, y)` | the sign of `x`, as in C and NumPy; 0 for `y == 0` |
| float functions of NumPy on integers of 8 and 16 bits; any on a float32 and an integer | Numba's choice, float32, where NumPy takes float16 or float64 |
"""


def render(results: Results) -> str:
    head = HEAD.format(
        cpu=results.machine,
        n_special=len(NUMBERS),
        n32=results.count(F32),
        more32=results.count(F32) // 4,
        edges32=edges(F32).size,
        n64=results.count(F64),
        more64=results.count(F64) // 4,
    )
    parts = [head, "## float32\n", *_table(F32, results, with_apple=True), _near_zeros(results)]
    parts += ["\n## float64\n", "numba_ptxplus only.\n", *_table(F64, results)]
    parts += ["\n## float16\n", "Computed in float32 and rounded once more.\n", *_table(F16, results)]
    parts += ["\n## fastmath=True\n", *_fastmath(results)]
    parts += ["\n## Special numbers\n", *_specials(results)]
    parts += ["\n## Complex functions\n", *_complexes(results), "\n" + INTEGERS]
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


def _cell(results: Results, level: LevelName, function: RealFunction, dtype: Any) -> str:
    error = results.reals[function.name][level][dtype.name]["error"]
    mark = "¹" if level == "cpu" and function.name in CORRECTED.get(dtype.name, ()) else ""
    return f"{error:.2f}{mark} ≤ {function.bound(level, dtype):g}"


def _table(dtype: Any, results: Results, with_apple: bool = False) -> list[str]:
    levels = [level for level, types in TYPES.items() if dtype in types]
    heads = ["function", *(COLUMNS[level] for level in levels)]
    heads += ["MSL specification (not measured)"] if with_apple else []
    lines = [_row(heads), _row(["---"] * len(heads))]
    for function in FUNCTIONS:
        cells = [_spelled(function), *(_cell(results, level, function, dtype) for level in levels)]
        if with_apple:
            cells.append(function.apple[0] if function.apple else "ours")
        lines.append(_row(cells))
    return lines


def _near_zeros(results: Results) -> str:
    lines = []
    for function in FUNCTIONS:
        if function.near_zeros is None:
            continue
        low, high = function.near_zeros[0]
        errors = {level: results.reals[function.name][level]["float32"]["near_zeros"] for level in ("ptx", "msl")}
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


def _fastmath(results: Results) -> list[str]:
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
            measured = results.reals[function.name]["cpu"]["fastmath"]
            apple = function.apple[1] if function.apple else "ours"
            lines.append(_row([_spelled(function), f"{measured:.2f}", function.nvidia_fast or "as above", apple]))
    return lines


def _number(value: float) -> str:
    return f"{value:.6g}"


def _specials(results: Results) -> list[str]:
    lines = [_row(["function", *map(_number, SHOWN)]), _row(["---"] * (len(SHOWN) + 1))]
    for function in FUNCTIONS:
        if function.arity == 1:
            answers = results.reals[function.name]["cpu"]["special"]
            lines.append(_row([f"`{function.name}`", *map(_number, answers)]))
    wrong = [
        f"- {COLUMNS[level]}, {dtype.name}: {text}"
        for by_level in results.reals.values()
        for level, types in TYPES.items()
        for dtype in types
        for text in by_level[level][dtype.name]["wrong"]
    ]
    lines += ["", "The signs of NaN are not defined."]
    return [*lines, *(["Where a level differs in kind:", "", *wrong] if wrong else [])]


def _complexes(results: Results) -> list[str]:
    columns = [("cpu", "complex64"), ("cpu", "complex128"), ("ptx", "complex64"), ("ptx", "complex128")]
    columns.append(("msl", "complex64"))
    lines = [
        "Distances in the plane, in ulp of the modulus of the exact result, over 2¹⁰ numbers with moduli from 2⁻²⁰ to 16. "
        "The formulas are Numba's; next to branch points (±1, ±i) and where a logarithm passes through zero they may "
        "cancel. No bound is promised. Parts that are infinite or NaN, or become so on the way, may make both parts of a "
        "result NaN, where C17 annex G has rules. `x / 0` is what NumPy gives, with `debug=True` ZeroDivisionError.",
        "",
        _row(["function", *(f"{COLUMNS[level]}, {dtype}" for level, dtype in columns)]),
        _row(["---"] * (len(columns) + 1)),
    ]
    for name, measured in results.complexes.items():
        figures = [f"{measured[level][dtype]:.1f}" for level, dtype in columns]
        lines.append(_row([f"`{name}`", *figures]))
    return lines
