"""CUDA's names for operations on float16, as stubs. Before: language. After: typed in compile/typing.

Thin aliases of operators and of `math`; all take halves. Arithmetic rounds once, to nearest; functions are computed in
float32 and rounded. Source: CUDA Math API, "Half Precision Intrinsics".
"""

from __future__ import annotations

from numba_gpucore.language import kernel_only


@kernel_only
def hadd(a: float, b: float) -> float:
    """a + b."""


@kernel_only
def hsub(a: float, b: float) -> float:
    """a - b."""


@kernel_only
def hmul(a: float, b: float) -> float:
    """a * b."""


@kernel_only
def hdiv(a: float, b: float) -> float:
    """a / b."""


@kernel_only
def hfma(a: float, b: float, c: float) -> float:
    """a * b + c, rounded once."""


@kernel_only
def hneg(a: float) -> float:
    """-a."""


@kernel_only
def habs(a: float) -> float:
    """abs(a)."""


@kernel_only
def hmax(a: float, b: float) -> float:
    """The larger one; where one is NaN, the other."""


@kernel_only
def hmin(a: float, b: float) -> float:
    """The smaller one; where one is NaN, the other."""


@kernel_only
def heq(a: float, b: float) -> bool:
    """a == b; False where one is NaN."""


@kernel_only
def hne(a: float, b: float) -> bool:
    """a != b; False where one is NaN, unlike Python's."""


@kernel_only
def hlt(a: float, b: float) -> bool:
    """a < b; False where one is NaN."""


@kernel_only
def hle(a: float, b: float) -> bool:
    """a <= b; False where one is NaN."""


@kernel_only
def hgt(a: float, b: float) -> bool:
    """a > b; False where one is NaN."""


@kernel_only
def hge(a: float, b: float) -> bool:
    """a >= b; False where one is NaN."""


@kernel_only
def hsin(a: float) -> float:
    """Sine."""


@kernel_only
def hcos(a: float) -> float:
    """Cosine."""


@kernel_only
def htanh(a: float) -> float:
    """Hyperbolic tangent."""


@kernel_only
def hexp(a: float) -> float:
    """e**a."""


@kernel_only
def hexp2(a: float) -> float:
    """2**a."""


@kernel_only
def hexp10(a: float) -> float:
    """10**a."""


@kernel_only
def hlog(a: float) -> float:
    """Natural logarithm."""


@kernel_only
def hlog2(a: float) -> float:
    """Binary logarithm."""


@kernel_only
def hlog10(a: float) -> float:
    """Decimal logarithm."""


@kernel_only
def hsqrt(a: float) -> float:
    """Square root, correctly rounded."""


@kernel_only
def hrsqrt(a: float) -> float:
    """1 / sqrt(a)."""


@kernel_only
def hrcp(a: float) -> float:
    """1 / a."""


@kernel_only
def hceil(a: float) -> float:
    """The next whole number above."""


@kernel_only
def hfloor(a: float) -> float:
    """The next whole number below."""


@kernel_only
def hrint(a: float) -> float:
    """The nearest whole number, half to even."""


@kernel_only
def htrunc(a: float) -> float:
    """The next whole number towards 0."""
