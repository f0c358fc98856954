"""A call as an MSL expression. Before: `neutral_calls`, `llvm_calls`. After: `instructions`."""

from __future__ import annotations

from numba_gpucore.compile.intrinsics import parse_shared_symbol
from numba_metal.codegen.addresses import pointer
from numba_metal.codegen.definitions import neutral_name
from numba_metal.codegen.expressions import Expr
from numba_metal.codegen.ir_types import Instr
from numba_metal.codegen.llvm_calls import print_llvm_call, print_with_overflow
from numba_metal.codegen.neutral_calls import NEUTRAL
from numba_metal.codegen.values import CannotPrint, Values


def print_call(values: Values, instr: Instr, result_index: int | None = None) -> Expr:
    """The call's result. result_index: which one, of an LLVM intrinsic that returns a value and whether it wrapped."""
    name = instr.detail
    if result_index is not None:
        return print_with_overflow(values, instr, result_index)
    if name.startswith("llvm."):
        return print_llvm_call(values, instr)
    if parse_shared_symbol(neutral_name(name)):
        return pointer(values, instr.result)
    printer = NEUTRAL.get(neutral_name(name))
    if printer is None:
        raise CannotPrint(f"the function '{name}', which Metal does not have")
    return printer(values, instr)
