"""Which functions LLVM calls to convert halves. Before: an optimised program. After: emit.

Where a processor has an instruction, LLVM uses it; a function that nothing calls would cost as much time as a small
kernel. Which it calls where is tested in tests/unit/test_half_conversions.py, for each architecture.
"""

from __future__ import annotations

from numba_gpucore.cpu.arch import converts_doubles_to_halves, converts_halves

#: What rounds float64 to halves mentions one of these: LLVM computes fma of halves in doubles, in which the product of
#: two halves is exact.
_DOUBLES = ("double", "@llvm.fma.", "@llvm.fmuladd.")


def half_files(text: str, arch: str) -> tuple[str, ...]:
    """The files ir/<name>.ll to link to a program in LLVM assembly."""
    if "half" not in text:
        return ()
    files = () if converts_halves(arch) else ("half_float",)
    needs_double = any(word in text for word in _DOUBLES) and not converts_doubles_to_halves(arch)
    return (*files, "half_double") if needs_double else files
