"""Which functions LLVM calls to convert halves. Before: an optimised program. After: emit.

Where a processor has an instruction, LLVM uses it; a function that nothing calls would cost as much time as a small
kernel. Which it calls where is tested in tests/unit/test_half_conversions.py, for each architecture.
"""

from __future__ import annotations

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.cpu.arch import converts_doubles_to_halves, converts_halves

#: LLVM computes fma of halves in doubles, whose product of two halves is exact.
_DOUBLE = late_pattern(r"\bdouble\b|@llvm\.(?:fma|fmuladd)\.")


def half_files(text: str, arch: str) -> tuple[str, ...]:
    """The files ir/<name>.ll to link to a program with halves, in LLVM assembly."""
    files = () if converts_halves(arch) else ("half_float",)
    needs_double = _DOUBLE.search(text) and not converts_doubles_to_halves(arch)
    return (*files, "half_double") if needs_double else files
