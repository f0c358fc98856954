"""NumPy's ufuncs, and operators on arrays, of halves and bfloat16. Before: half_typing. After: late_features loads it.

Ufuncs of halves give halves. Lowering is in `lower.half_ufuncs`.
"""

from __future__ import annotations

import numpy as np

from numba_gpucore.compile.half_typing import joins_halves, to_half
from numba_gpucore.compile.numba_api import TypingRegistry, npydecl, templates, types, ufunc_db
from numba_gpucore.compile.targets import FOR_OUR_TARGETS
from numba_gpucore.compile.typing.bfloat16 import BFloat16, widen

HALF_UFUNC_TYPING = TypingRegistry()


class HalfUfunc:
    """Types a call with halves as that of floats, then has halves in place of them if nothing wider takes part.

    The loop stays that of floats, and rounds its result once more. That is what NumPy computes: 24 bits are enough for
    + - * / and square roots to round twice as once (Figueroa, "When is double rounding innocuous?", 1995), and its
    other loops of halves go through float themselves. `lower.half_ufuncs` has the exceptions. Numbers of type bfloat16
    count as float32.
    """

    metadata = FOR_OUR_TARGETS

    def generic(self, args, kws):
        items = [type_.dtype if isinstance(type_, types.Array) else type_ for type_ in args[: self.ufunc.nin]]
        if any(isinstance(type_, BFloat16) for type_ in args):
            return super().generic(tuple(map(widen, args)), kws)
        if types.float16 not in items:
            return None
        floats = items[:1] if self.ufunc is np.ldexp else items
        is_half = all(map(joins_halves, floats))
        widened = tuple(_widen(type_) if is_half or type_ == types.float16 else type_ for type_ in args)
        found = super().generic(widened, kws)
        if found is None:
            return None
        has_arrays = any(isinstance(type_, types.Array) for type_ in args)
        taken = [
            type_ if isinstance(type_, types.Array) else to_half(wide) if is_half and not has_arrays else wide
            for type_, wide in zip(args, widened, strict=True)
        ]
        is_implicit = len(args) == self.ufunc.nin
        result = to_half(found.return_type) if is_half and is_implicit else found.return_type
        return templates.signature(result, *taken)


def _widen(type_: types.Type) -> types.Type:
    if isinstance(type_, types.Array):
        return type_.copy(dtype=_widen(type_.dtype))
    return types.float32 if joins_halves(type_) else type_


def _register_ufuncs() -> None:
    for ufunc in ufunc_db.get_ufuncs():
        template = type(f"HalfUfunc_{ufunc.__name__}", (HalfUfunc, npydecl.Numpy_rules_ufunc), {"key": ufunc})
        HALF_UFUNC_TYPING.register_global(ufunc, types.Function(template))
    for base in (
        npydecl.NumpyRulesArrayOperator,
        npydecl.NumpyRulesInplaceArrayOperator,
        npydecl.NumpyRulesUnaryArrayOperator,
    ):
        for function in base._op_map:
            template = type(f"Half{base.__name__}_{function.__name__}", (HalfUfunc, base), {"key": function})
            HALF_UFUNC_TYPING.register_global(function)(template)


_register_ufuncs()
