"""Literals that make a single-precision program compute in double precision. Before: typing. After: driver warns.

Numba's rule, which CUDA programs expect, is that a Python float is float64: `x[i] * 0.1` of a float32 array is computed
in float64, at a small fraction of the speed of float32 on most GPUs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.errors import Fault
from numba_gpucore.base.number_types import has_float64 as may_have_float64
from numba_gpucore.base.number_types import has_weak_literals
from numba_gpucore.compile.call_chains import is_library_file
from numba_gpucore.compile.ir_questions import assignments_of
from numba_gpucore.compile.numba_api import errors, ir, types
from numba_gpucore.compile.numba_types import to_numba
from numba_gpucore.compile.weak_literals import has_float64

_SINGLE = (types.float16, types.float32, types.complex64)
_OPERATIONS = frozenset({"binop", "inplace_binop", "call"})


def find_double_literals(func_ir: Any, typemap: dict[str, types.Type]) -> tuple[Fault, ...]:
    """The float literals that widen single-precision numbers in one typed function; none in library functions."""
    filename = func_ir.loc.filename
    if is_library_file(filename):
        return ()
    assignments = list(assignments_of(func_ir))
    literals = {s.target.name: text for s in assignments if (text := _literal_text(s.value)) is not None}
    if not literals:
        return ()
    found = (
        Fault(filename, s.loc.line, literals[name])
        for s in assignments
        if has_float64(typemap[s.target.name])
        for name in _widening_operands(s.value, literals, typemap)
    )
    return tuple(dict.fromkeys(found))


def _literal_text(value: Any) -> str | None:
    match value:
        case ir.Const(value=float() | complex() as number):
            return f"the literal {number!r}"
        case ir.Global(name=name, value=number) | ir.FreeVar(name=name, value=number):
            return f"'{name}', {number!r}," if type(number) in (float, complex) else None
    return None


def _widening_operands(value: Any, literals: dict[str, str], typemap: dict[str, types.Type]) -> Iterator[str]:
    if not (isinstance(value, ir.Expr) and value.op in _OPERATIONS):
        return
    operands = [var.name for var in value.list_vars()]
    if any(typemap[name] in _SINGLE for name in operands):
        yield from (name for name in operands if name in literals)


def warn_about_double_literals(result: Any, request: CompileRequest) -> None:
    """Give one NumbaPerformanceWarning if only literals bring double precision into a kernel."""
    if not may_have_float64(request.target, request.options) or has_weak_literals(request.target, request.options):
        return
    if any(has_float64(to_numba(type_)) for type_ in request.arg_types):
        return
    literals = sorted(result.library.all_double_literals())
    if literals:
        first = literals[0]
        more = f", and {len(literals) - 1} more" if len(literals) > 1 else ""
        text = (
            f"kernel '{request.py_func.__name__}' has no float64 data, yet {first.what} in "
            f"{first.filename}:{first.line}{more} makes it compute in float64, which most GPUs do "
            "slowly; write np.float32(...), or let Python's floats take the other operand's type: "
            "@jit(weak_literals=True)"
        )
        warnings.warn_explicit(text, errors.NumbaPerformanceWarning, first.filename, first.line)
