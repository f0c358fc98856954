"""Type inference for devices. Before: Numba's untyped passes. After: the rest of its typed passes.

Numba lets functions return arrays only where it counts references to their memory. A device counts none and needs none:
views of arguments and of shared memory outlive every call. Only local arrays end with the function that made them.
"""

from __future__ import annotations

import random

import numpy as np

from numba_gpucore import language
from numba_gpucore.compile.ir_questions import assignments_of, called_type
from numba_gpucore.compile.numba_api import (
    NopythonTypeInference,
    errors,
    ir,
    register_pass,
    typeinfer,
    types,
)

#: What the functions of the modules random and numpy.random are methods of.
_HOST_GENERATORS = (random.Random, np.random.RandomState)


@register_pass(mutates_CFG=True, analysis_only=False)
class InferTypes(NopythonTypeInference):
    """Numba's inference without its limit on returned arrays, but with one on local arrays."""

    _name = "infer_types_for_device"

    def run_pass(self, state):
        context = state.targetctx
        state.targetctx = context.subtarget(enable_nrt=True)
        try:
            super().run_pass(state)
        except errors.TypingError as error:
            error.other_errors, error.failed_function = _other_errors(state), state.func_id.func
            raise
        finally:
            state.targetctx = context
        _refuse_host_random(state.func_ir, state.typemap)
        if _holds_array(state.return_type):
            _refuse_local_results(state.func_ir, state.typemap)
        return True


class _CollectingInferer(typeinfer.TypeInferer):
    """Goes on after a statement that has no type, such as one with an unknown name."""

    def __init__(self, *args):
        super().__init__(*args)
        self.found: list[errors.TypingError] = []

    def constrain_statement(self, inst):
        try:
            super().constrain_statement(inst)
        except errors.TypingError as error:
            self.found.append(error)


def _other_errors(state) -> list[errors.TypingError]:
    """All that type inference finds wrong, not only the first; what follows from another error is not among them.

    As numba.core.typed_passes.type_inference_stage.
    """
    warnings = errors.WarningsFixer(errors.NumbaWarning)
    inferer = _CollectingInferer(state.typingctx, state.func_ir, warnings)
    stack = state.typingctx.callstack.register(state.targetctx.target, inferer, state.func_id, state.args)
    found: list[Exception] = []
    try:
        with stack, warnings:
            for index, (name, type_) in enumerate(zip(state.func_ir.arg_names, state.args, strict=True)):
                inferer.seed_argument(name, index, type_)
            if state.return_type is not None:
                inferer.seed_return(state.return_type)
            inferer.build_constraint()
            found = list(inferer.propagate(raise_errors=False) or ())
    except errors.TypingError as error:
        found = [error]
    return [error for error in (*inferer.found, *found) if isinstance(error, errors.TypingError)]


def _holds_array(type_: types.Type) -> bool:
    if isinstance(type_, types.BaseTuple):
        return any(map(_holds_array, type_))
    return isinstance(type_, types.Array)


def _refuse_local_results(func_ir, typemap) -> None:
    """Raise TypingError if the function may return a view of one of its local arrays."""
    assignments = list(assignments_of(func_ir))
    tainted = {s.target.name for s in assignments if _makes_local_array(s.value, typemap)}
    size = 0
    while len(tainted) > size:
        size = len(tainted)
        tainted |= {
            s.target.name
            for s in assignments
            if _holds_array(typemap[s.target.name]) and not tainted.isdisjoint(_names_read(s.value))
        }
    for block in func_ir.blocks.values():
        last = block.terminator
        if isinstance(last, ir.Return) and last.value.name in tainted:
            raise errors.TypingError(
                f"'{func_ir.func_id.func_name}' returns a local.array, whose memory ends with the call: "
                "let the caller make the array and pass it",
                last.loc,
            )


def _refuse_host_random(func_ir, typemap) -> None:
    """Raise TypingError for a call of Python's or NumPy's random numbers, which Numba takes from host memory."""
    for call in (statement.value for statement in assignments_of(func_ir)):
        function = called_type(call, typemap)
        key = function.typing_key if isinstance(function, types.Function) else None
        if isinstance(getattr(key, "__self__", None), _HOST_GENERATORS):
            name = getattr(key, "__name__", "random")
            raise errors.TypingError(
                f"no device has the generator of '{name}' — use create_xoroshiro128p_states and "
                "xoroshiro128p_uniform_float32 and their kin, or pass random numbers in an array",
                call.loc,
            )


def _makes_local_array(value, typemap) -> bool:
    function = called_type(value, typemap)
    return isinstance(function, types.Function) and function.typing_key is language.local.array


def _names_read(value) -> set[str]:
    if isinstance(value, ir.Var):
        return {value.name}
    return {var.name for var in value.list_vars()} if isinstance(value, ir.Expr) else set()
