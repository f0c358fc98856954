"""Python floats that take the type of the other operand, as in NumPy 2. Before: flags. After: contexts mix this in.

`WeakFloat` is the type of a float literal, global, closure constant or argument under the flag `weak_literals`. It
lives as a double that constant folding removes, and turns into its partner's type in an operation.

Without float64 (flag `has_float64` off), no overload may bring in a float64 that no argument has: int / int,
math.f(int) and the like give float32.

Source: NEP 50, "Promotion rules for Python scalars"; the trap that `0 + float32` falls into, see `can_convert`.
"""

from __future__ import annotations

from types import MappingProxyType

from llvmlite import ir

from numba_gpucore.compile.flags import active_flag
from numba_gpucore.compile.numba_api import (
    AbstractTemplate,
    Conversion,
    LoweringRegistry,
    TypingRegistry,
    datamodel,
    errors,
    types,
    typing,
)

WEAK_TYPING = TypingRegistry()
WEAK_LOWERING = LoweringRegistry("weak_literals")

_FLOAT64_TYPES = (types.float64, types.complex128)


class WeakFloat(types.Number):
    """A Python float whose width is still open."""

    def __init__(self):
        super().__init__(name="float")

    def cast_python_value(self, value):
        return float(value)

    def can_convert_to(self, typingctx, other):
        if isinstance(other, types.Float):
            return Conversion.safe if other == default_float() else Conversion.promote
        if isinstance(other, types.Complex):
            return Conversion.unsafe
        return None

    def unify(self, typingctx, other):
        if isinstance(other, (types.Float, types.Complex)):
            return other
        if isinstance(other, (types.Integer, types.Boolean)):
            return default_float()
        return None


weak_float = WeakFloat()


def default_float() -> types.Float:
    """What a float is where nothing else decides."""
    return types.float64 if active_flag("has_float64") else types.float32


@WEAK_TYPING.register_global(float)
class FloatOfInteger(AbstractTemplate):
    """float(integer) where there is no float64; other calls are left to Numba."""

    metadata = MappingProxyType({"target": "gpucore"})

    def generic(self, args, kws):
        if len(args) == 1 and isinstance(args[0], types.Integer | types.Boolean) and not active_flag("has_float64"):
            return typing.signature(types.float32, args[0])
        return None


class WeakFloatModel(datamodel.models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.DoubleType())


@WEAK_LOWERING.lower_cast(WeakFloat, types.Float)
def cast_weak_to_float(context, builder, fromty, toty, value):
    return context.cast(builder, value, types.float64, toty)


@WEAK_LOWERING.lower_cast(WeakFloat, types.Complex)
def cast_weak_to_complex(context, builder, fromty, toty, value):
    return context.cast(builder, value, types.float64, toty)


@WEAK_LOWERING.lower_cast(WeakFloat, types.Integer)
def cast_weak_to_integer(context, builder, fromty, toty, value):
    return context.cast(builder, value, types.float64, toty)


@WEAK_LOWERING.lower_constant(WeakFloat)
def weak_constant(context, builder, ty, value):
    return ir.DoubleType()(value)


def has_float64(type_: types.Type) -> bool:
    """True if a value of this type holds a double-precision number."""
    if isinstance(type_, types.BaseTuple):
        return any(map(has_float64, type_))
    if isinstance(type_, (types.Array, types.Optional)):
        return has_float64(type_.dtype if isinstance(type_, types.Array) else type_.type)
    return type_ in _FLOAT64_TYPES


def _strengthen(type_: types.Type) -> types.Type:
    return default_float() if isinstance(type_, WeakFloat) else type_


class WeakLiteralTyping:
    """The rules as overrides of a typing context; each does nothing unless its flag is on."""

    _rates = False

    def resolve_value_type(self, val):
        if active_flag("weak_literals"):
            if type(val) is float:
                return weak_float
            if type(val) is tuple and any(type(item) in (float, tuple) for item in val):
                return types.BaseTuple.from_types([self.resolve_value_type(item) for item in val])
        return super().resolve_value_type(val)

    def resolve_overload(self, key, cases, args, kws, **options):
        if not active_flag("has_float64") and not any(map(has_float64, args)):
            narrow = [
                case for case in cases if not has_float64(case.return_type) and not any(map(has_float64, case.args))
            ]
            found = super().resolve_overload(key, narrow, args, kws, **options) if narrow else None
            if found is not None:
                return found
        return super().resolve_overload(key, cases, args, kws, **options)

    def resolve_function_type(self, func, args, kws):
        """Where no overload takes a weak float, it becomes the float that it would be alone."""
        keywords = dict(kws)
        weak = any(isinstance(type_, WeakFloat) for type_ in (*args, *keywords.values()))
        if not weak:
            return super().resolve_function_type(func, args, kws)
        try:
            found = super().resolve_function_type(func, args, kws)
        except errors.TypingError:
            found = None
        if found is not None:
            return found
        strong = {name: _strengthen(type_) for name, type_ in keywords.items()}
        return super().resolve_function_type(func, tuple(map(_strengthen, args)), strong)

    def _rate_arguments(self, *args, **options):
        before, self._rates = self._rates, True
        try:
            return super()._rate_arguments(*args, **options)
        finally:
            self._rates = before

    def can_convert(self, fromty, toty):
        # Without float64 cases, Numba would choose (int64, int64) for `0 + float32`: no overload turns float into int.
        is_float = isinstance(fromty, (types.Float, WeakFloat))
        if is_float and isinstance(toty, types.Integer) and not active_flag("has_float64") and self._rates:
            return None
        if isinstance(fromty, WeakFloat) and isinstance(toty, types.Integer):
            return Conversion.unsafe
        return super().can_convert(fromty, toty)

    def unify_pairs(self, first, second):
        if first == second:
            return first
        for weak, other in ((first, second), (second, first)):
            if isinstance(weak, WeakFloat) and isinstance(other, types.Number | types.Boolean):
                return weak.unify(self, other)
        unified = super().unify_pairs(first, second)
        if not active_flag("has_float64") and unified == types.float64 and types.float64 not in (first, second):
            return types.float32
        return unified
