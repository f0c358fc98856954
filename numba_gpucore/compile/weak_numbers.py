"""The types of Python numbers whose width is still open. Before: flags. After: weak_literals decides by them.

`WeakFloat` and `WeakComplex` turn into their partner's type in an operation, as in NumPy 2. Until then they are carried
as `carrier`: double precision where a program may have it, else single, so that no double comes in with them.

Source: NEP 50, "Promotion rules for Python scalars".
"""

from __future__ import annotations

import operator

from llvmlite import ir

from numba_gpucore.compile.flags import active_flag
from numba_gpucore.compile.numba_api import (
    AbstractTemplate,
    AttributeTemplate,
    Conversion,
    LoweringRegistry,
    TypingRegistry,
    datamodel,
    types,
    typing,
)
from numba_gpucore.compile.targets import FOR_OUR_TARGETS

WEAK_TYPING = TypingRegistry()
WEAK_LOWERING = LoweringRegistry("weak_literals")


class WeakNumber(types.Number):
    """carrier: the type as which the number is computed where nothing decides otherwise."""

    def __init__(self, name: str, carrier: types.Type):
        self.carrier = carrier
        super().__init__(name=name)

    @property
    def key(self):
        return self.name, self.carrier

    def unify(self, typingctx, other):
        if isinstance(other, types.Integer | types.Boolean):
            return self.carrier
        return None


class WeakFloat(WeakNumber):
    """A Python float."""

    def __init__(self, carrier: types.Float):
        super().__init__("float", carrier)

    def cast_python_value(self, value):
        return float(value)

    def can_convert_to(self, typingctx, other):
        if isinstance(other, types.Float):
            return Conversion.safe if other == self.carrier else Conversion.promote
        if isinstance(other, WeakComplex):
            return Conversion.promote
        return Conversion.unsafe if isinstance(other, types.Complex) else None

    def unify(self, typingctx, other):
        if isinstance(other, types.Float | types.Complex | WeakComplex):
            return other
        return super().unify(typingctx, other)


class WeakComplex(WeakNumber):
    """A Python complex number."""

    def __init__(self, carrier: types.Complex):
        super().__init__("complex", carrier)

    def cast_python_value(self, value):
        return complex(value)

    def can_convert_to(self, typingctx, other):
        if isinstance(other, types.Complex):
            return Conversion.safe if other == self.carrier else Conversion.promote
        return None

    def unify(self, typingctx, other):
        if isinstance(other, types.Complex):
            return other
        if isinstance(other, types.Float):
            return types.complex128 if other == types.float64 else types.complex64
        if isinstance(other, WeakFloat):
            return self
        return super().unify(typingctx, other)


_FLOATS = {True: WeakFloat(types.float64), False: WeakFloat(types.float32)}
_COMPLEXES = {True: WeakComplex(types.complex128), False: WeakComplex(types.complex64)}


def weak_float() -> WeakFloat:
    """The type of Python floats in the function that is being compiled."""
    return _FLOATS[active_flag("has_float64")]


def weak_complex() -> WeakComplex:
    """The type of Python complex numbers in the function that is being compiled."""
    return _COMPLEXES[active_flag("has_float64")]


def weak_number(carrier: types.Type) -> WeakNumber:
    """The weak type with this carrier. Raises KeyError."""
    return {type_.carrier: type_ for type_ in (*_FLOATS.values(), *_COMPLEXES.values())}[carrier]


def strengthen(type_: types.Type) -> types.Type:
    """What a weak number is where nothing else decides; other types stay."""
    return type_.carrier if isinstance(type_, WeakNumber) else type_


@WEAK_TYPING.register_global(float)
class FloatOfInteger(AbstractTemplate):
    """float(integer) where there is no float64; other calls are left to Numba."""

    metadata = FOR_OUR_TARGETS

    def generic(self, args, kws):
        if len(args) == 1 and isinstance(args[0], types.Integer | types.Boolean) and not active_flag("has_float64"):
            return typing.signature(types.float32, args[0])
        return None


@WEAK_TYPING.register_global(float)
class FloatOfText(AbstractTemplate):
    """float("inf") and its kin, which are literals to the program."""

    metadata = FOR_OUR_TARGETS

    def generic(self, args, kws):
        if len(args) == 1 and isinstance(args[0], types.StringLiteral) and active_flag("weak_literals"):
            return typing.signature(weak_float(), *args)
        return None


_NARROW_REALS = (types.Integer, types.Boolean, WeakFloat)


@WEAK_TYPING.register_global(complex)
class ComplexOfNarrow(AbstractTemplate):
    """complex(x, y) of numbers among which no float64 is, which Numba makes complex128; the rest is left to Numba."""

    metadata = FOR_OUR_TARGETS

    def generic(self, args, kws):
        floats = [type_ for type_ in args if not isinstance(type_, _NARROW_REALS)]
        if kws or not set(floats) <= {types.float16, types.float32, types.complex64}:
            return None
        if active_flag("has_float64") and not (floats and any(isinstance(type_, WeakFloat) for type_ in args)):
            return None
        return typing.signature(types.complex64, *args)


class _WeakAttributes(AttributeTemplate):
    """Those of the carrier."""

    def generic_resolve(self, type_, name):
        return self.context.resolve_getattr(type_.carrier, name)


@WEAK_TYPING.register_attr
class WeakFloatAttributes(_WeakAttributes):
    key = WeakFloat


@WEAK_TYPING.register_attr
class WeakComplexAttributes(_WeakAttributes):
    key = WeakComplex


@WEAK_LOWERING.lower_getattr_generic(WeakFloat)
@WEAK_LOWERING.lower_getattr_generic(WeakComplex)
def lower_attribute(context, builder, type_, value, name):
    return context.get_getattr(type_.carrier, name)(context, builder, type_.carrier, value, name)


class WeakModel(datamodel.models.ProxyModel):
    """Represented as the carrier is."""

    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type)
        self._proxied_model = dmm.lookup(fe_type.carrier)


class ExactConstant(ir.Constant):
    """A Python float as a constant of its carrier that still knows the number: a half is rounded from it at once."""

    def __init__(self, type_: ir.Type, value: float):
        super().__init__(type_, value)
        self.exact = value


@WEAK_LOWERING.lower_cast(WeakFloat, types.Float)
def cast_weak_to_float(context, builder, fromty, toty, value):
    if isinstance(value, ExactConstant):
        return context.get_constant(toty, value.exact)
    return context.cast(builder, value, fromty.carrier, toty)


@WEAK_LOWERING.lower_cast(WeakFloat, types.Complex)
@WEAK_LOWERING.lower_cast(WeakComplex, types.Complex)
@WEAK_LOWERING.lower_cast(WeakFloat, types.Integer)
@WEAK_LOWERING.lower_cast(WeakFloat, types.Boolean)
@WEAK_LOWERING.lower_cast(WeakComplex, types.Boolean)
def cast_weak(context, builder, fromty, toty, value):
    return context.cast(builder, value, fromty.carrier, toty)


@WEAK_LOWERING.lower(bool, WeakFloat)
@WEAK_LOWERING.lower(bool, WeakComplex)
def truth_of_weak(context, builder, sig, args):
    return context.cast(builder, args[0], sig.args[0].carrier, types.boolean)


def _comparison_of_carriers(function):
    def compare_weak(context, builder, sig, args):
        carriers = typing.signature(sig.return_type, *(type_.carrier for type_ in sig.args))
        return context.get_function(function, carriers)(builder, args)

    return compare_weak


for _function in (operator.lt, operator.gt):  # what Numba's min and max ask for, past typing
    WEAK_LOWERING.lower(_function, WeakFloat, WeakFloat)(_comparison_of_carriers(_function))


@WEAK_LOWERING.lower_cast(WeakFloat, WeakComplex)
def cast_weak_float_to_weak_complex(context, builder, fromty, toty, value):
    return context.cast(builder, value, fromty.carrier, toty.carrier)


@WEAK_LOWERING.lower_constant(WeakFloat)
def weak_float_constant(context, builder, type_, value):
    return ExactConstant(context.get_value_type(type_), float(value))


@WEAK_LOWERING.lower_constant(WeakComplex)
def weak_complex_constant(context, builder, type_, value):
    return context.get_constant_generic(builder, type_.carrier, value)
