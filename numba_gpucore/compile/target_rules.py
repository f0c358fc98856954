"""What a program uses that its target does not have. Before: typing. After: driver raises all of it at once.

Found in typed programs, whichever device they run on, so that what runs on the CPU device under a target can be
expressed for the target's own devices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from numba_gpucore import language
from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.errors import Fault, UnsupportedKernelError
from numba_gpucore.base.number_types import has_float64 as may_have_float64
from numba_gpucore.compile.call_chains import is_library_file
from numba_gpucore.compile.flags import active_flag
from numba_gpucore.compile.ir_questions import assignments_of, called_type
from numba_gpucore.compile.numba_api import ir, types
from numba_gpucore.compile.numba_types import to_numba
from numba_gpucore.compile.weak_literals import has_float64

FLOAT64_ADVICE = (
    "Use float32 arrays, np.float32(...) for NumPy's numbers, and Python's floats, which take the other operand's "
    "type. Or let @jit(float64='float32'), or NUMBA_METAL_FLOAT64=float32 for a whole run, compute in float32 and "
    "convert host arrays on the way in and back."
)
#: Functions of the kernel language that read, modify and write one element.
_ATOMICS = frozenset(getattr(language.atomic, name) for name in vars(language.atomic) if not name.startswith("_"))


def check_target_rules(result: Any, request: CompileRequest) -> None:
    """Raise UnsupportedKernelError with every place of a typed kernel and its callees that its target cannot have."""
    faults = list(result.library.all_rule_faults())
    if not may_have_float64(request.target, request.options):
        faults += _float64_arguments(result, request)
    if faults:
        advice = FLOAT64_ADVICE if any("float64" in fault.what for fault in faults) else ""
        raise UnsupportedKernelError(request.py_func.__name__, faults, advice)


def _float64_arguments(result: Any, request: CompileRequest) -> Iterator[Fault]:
    code = request.py_func.__code__
    for name, type_ in zip(result.fndesc.args, request.arg_types, strict=True):
        if has_float64(to_numba(type_)):
            yield Fault(code.co_filename, code.co_firstlineno, f"float64: the argument '{name}', {type_}")


def find_rule_faults(func_ir: Any, typemap: dict[str, types.Type]) -> tuple[Fault, ...]:
    """What the active flags forbid in one typed function, each kind once a line; nothing for library functions."""
    filename = func_ir.loc.filename
    lacks_atomic64, narrows_float64 = active_flag("lacks_atomic64"), active_flag("narrows_float64")
    lacks_float64 = not active_flag("has_float64")
    if not (lacks_atomic64 or narrows_float64 or lacks_float64) or is_library_file(filename):
        return ()
    faults = []
    float64_lines: dict[int, dict[str, None]] = {}
    for statement in assignments_of(func_ir):
        line = statement.loc.line
        if lacks_atomic64 and _is_wide_atomic(statement.value, typemap):
            faults.append(Fault(filename, line, "an atomic operation on 64-bit integers", "use 32-bit integers"))
        if narrows_float64 and _views_as_float64(statement.value, func_ir, typemap):
            what = "float64: a view of other numbers as float64, whose bits float64='float32' does not change"
            faults.append(Fault(filename, line, what))
        is_float64 = lacks_float64 and has_float64(typemap[statement.target.name])
        if is_float64 and not isinstance(statement.value, ir.Arg):
            float64_lines.setdefault(line, {}).update(_names_in(statement))
    for line, names in float64_lines.items():
        faults.append(Fault(filename, line, f"float64: {' and '.join(names) or 'an expression'}"))
    return tuple(dict.fromkeys(faults))


def _names_in(statement: ir.Assign) -> dict[str, None]:
    """The names of the program that an assignment reads or gives a value, in quotes."""
    value, target = statement.value, statement.target.unversioned_name
    names = [value.name] if isinstance(value, ir.Global | ir.FreeVar) else []
    names += [] if target.startswith("$") else [target]
    return {f"'{name}'": None for name in names}


def _is_wide_atomic(value: Any, typemap: dict[str, types.Type]) -> bool:
    function = called_type(value, typemap)
    if not (isinstance(function, types.Function) and function.typing_key in _ATOMICS and value.args):
        return False
    array = typemap[value.args[0].name]
    return isinstance(array, types.Array) and array.dtype in (types.int64, types.uint64)


def _views_as_float64(value: Any, func_ir: Any, typemap: dict[str, types.Type]) -> bool:
    """True for `array.view(np.float64)` and its kin."""
    function = called_type(value, typemap)
    is_view = isinstance(function, types.BoundFunction) and str(function.typing_key).endswith("array.view")
    if not is_view or not value.args:
        return False
    for found in func_ir._definitions[value.args[0].name]:
        match found:
            case ir.Expr(op="getattr", attr="float64" | "complex128" | "double"):
                return True
            case ir.Const(value=dtype) | ir.Global(value=dtype) | ir.FreeVar(value=dtype):
                return dtype in ("float64", "complex128", "f8", "c16") or dtype in (np.float64, np.complex128)
    return False
