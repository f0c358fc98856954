"""float16 as a number like the others, for type inference. Before: Numba's templates. After: contexts mix this in.

Numba has the type and its conversions but no operation on it: what takes float32 takes float16 by promotion. Here every
overload with float32 has one with float16 beside it, and ufuncs of halves give halves. As in NumPy, a half stays one
beside bool, int8 and uint8, beside Python numbers where those are weak, and beside nothing else.
"""

from __future__ import annotations

import operator
from types import MappingProxyType

import numpy as np

from numba_gpucore.compile.flags import active_flag
from numba_gpucore.compile.numba_api import AbstractTemplate, TypingRegistry, npydecl, templates, types, ufunc_db
from numba_gpucore.compile.typing.bfloat16 import BFloat16
from numba_gpucore.compile.weak_numbers import WeakFloat, weak_float

HALF_TYPING = TypingRegistry()
#: Templates of a target come before Numba's, which are for every target.
_FOR_OUR_TARGETS = MappingProxyType({"target": "gpucore"})
_NARROW = frozenset({types.float16, types.boolean, types.int8, types.uint8})
#: Where a Python integer beside a half becomes one, if literals are weak. Powers are not here: they multiply.
_JOINING = frozenset(
    {
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, divmod,
        operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, min, max,
    }
)  # fmt: skip


def joins_halves(type_: types.Type) -> bool:
    """True if a half stays one beside a number of this type."""
    return type_ in _NARROW or isinstance(type_, WeakFloat)


def _to_half(type_: types.Type) -> types.Type:
    if isinstance(type_, types.BaseTuple):
        return types.BaseTuple.from_types([_to_half(item) for item in type_])
    if isinstance(type_, types.Array):
        return type_.copy(dtype=_to_half(type_.dtype))
    return types.float16 if type_ == types.float32 else type_


class HalfTyping:
    """The rules as overrides of a typing context."""

    def resolve_overload(self, key, cases, args, kws, **options):
        if types.float16 in args:
            cases = [*cases, *_half_cases(cases, args)]
        return super().resolve_overload(key, cases, args, kws, **options)

    def resolve_function_type(self, func, args, kws):
        if types.float16 in args and active_flag("weak_literals") and _function_of(func) in _JOINING:
            args = tuple(weak_float() if isinstance(type_, types.IntegerLiteral) else type_ for type_ in args)
        return super().resolve_function_type(func, args, kws)


def _function_of(func):
    return func.typing_key if isinstance(func, types.Function) else func


def _half_cases(cases, args):
    """The cases of float32 with float16 instead, as far as `args` can be these halves."""
    for case in cases:
        if types.float32 in case.args and len(case.args) == len(args):
            pairs = zip(case.args, args, strict=True)
            if all(joins_halves(type_) for wanted, type_ in pairs if wanted == types.float32):
                yield templates.signature(_to_half(case.return_type), *map(_to_half, case.args))


# -- ufuncs, and operators on arrays


class HalfUfunc:
    """Types a call with halves as that of floats, then has halves in place of them if nothing wider takes part.

    The loop stays that of floats, and rounds its result once more. That is what NumPy computes: 24 bits are enough for
    + - * / and square roots to round twice as once (Figueroa, "When is double rounding innocuous?", 1995), and its
    other loops of halves go through float themselves. `lower.halves` has the exceptions. Numbers of type bfloat16 count
    as float32.
    """

    metadata = _FOR_OUR_TARGETS

    def generic(self, args, kws):
        items = [type_.dtype if isinstance(type_, types.Array) else type_ for type_ in args[: self.ufunc.nin]]
        if any(isinstance(type_, BFloat16) for type_ in args):
            return super().generic(tuple(types.float32 if isinstance(t, BFloat16) else t for t in args), kws)
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
            type_ if isinstance(type_, types.Array) else _to_half(wide) if is_half and not has_arrays else wide
            for type_, wide in zip(args, widened, strict=True)
        ]
        is_implicit = len(args) == self.ufunc.nin
        result = _to_half(found.return_type) if is_half and is_implicit else found.return_type
        return templates.signature(result, *taken)


def _widen(type_: types.Type) -> types.Type:
    if isinstance(type_, types.Array):
        return type_.copy(dtype=_widen(type_.dtype))
    return types.float32 if joins_halves(type_) else type_


def _register_ufuncs() -> None:
    for ufunc in ufunc_db.get_ufuncs():
        template = type(f"HalfUfunc_{ufunc.__name__}", (HalfUfunc, npydecl.Numpy_rules_ufunc), {"key": ufunc})
        HALF_TYPING.register_global(ufunc, types.Function(template))
    for base in (
        npydecl.NumpyRulesArrayOperator,
        npydecl.NumpyRulesInplaceArrayOperator,
        npydecl.NumpyRulesUnaryArrayOperator,
    ):
        for function in base._op_map:
            template = type(f"Half{base.__name__}_{function.__name__}", (HalfUfunc, base), {"key": function})
            HALF_TYPING.register_global(function)(template)


_register_ufuncs()


@HALF_TYPING.register_global(float)
class FloatOfHalf(AbstractTemplate):
    """float(half) is the half, as float(float32) is the float32 to Numba."""

    metadata = _FOR_OUR_TARGETS

    def generic(self, args, kws):
        return templates.signature(types.float16, types.float16) if args == (types.float16,) else None


@HALF_TYPING.register_global(complex)
class ComplexOfHalf(AbstractTemplate):
    """complex(half) and complex(half, half) are complex64: there is no narrower one."""

    metadata = _FOR_OUR_TARGETS

    def generic(self, args, kws):
        if types.float16 in args and all(map(joins_halves, args)):
            return templates.signature(types.complex64, *[types.float32] * len(args))
        return None
