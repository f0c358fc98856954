"""float16 as a number like the others, for type inference. Before: Numba's templates. After: contexts mix this in.

Numba has the type and its conversions but no operation on it: what takes float32 takes float16 by promotion. Here every
overload with float32 has one with float16 beside it. As in NumPy, a half stays one beside bool, int8 and uint8, beside
Python numbers where those are weak, and beside nothing else. `half_ufuncs` has what concerns NumPy's functions.
"""

from __future__ import annotations

import operator

from numba_gpucore.compile.flags import active_flag
from numba_gpucore.compile.numba_api import AbstractTemplate, TypingRegistry, templates, types
from numba_gpucore.compile.targets import FOR_OUR_TARGETS
from numba_gpucore.compile.weak_numbers import WeakFloat, weak_float

HALF_TYPING = TypingRegistry()
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


def to_half(type_: types.Type) -> types.Type:
    if isinstance(type_, types.BaseTuple):
        return types.BaseTuple.from_types([to_half(item) for item in type_])
    if isinstance(type_, types.Array):
        return type_.copy(dtype=to_half(type_.dtype))
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
                yield templates.signature(to_half(case.return_type), *map(to_half, case.args))


@HALF_TYPING.register_global(float)
class FloatOfHalf(AbstractTemplate):
    """float(half) is the half, as float(float32) is the float32 to Numba."""

    metadata = FOR_OUR_TARGETS

    def generic(self, args, kws):
        return templates.signature(types.float16, types.float16) if args == (types.float16,) else None


@HALF_TYPING.register_global(complex)
class ComplexOfHalf(AbstractTemplate):
    """complex(half) and complex(half, half) are complex64: there is no narrower one."""

    metadata = FOR_OUR_TARGETS

    def generic(self, args, kws):
        if types.float16 in args and all(map(joins_halves, args)):
            return templates.signature(types.complex64, *[types.float32] * len(args))
        return None
