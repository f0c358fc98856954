"""Typing by NumPy 2's rules, and without float64. Before: flags, weak_numbers. After: contexts mix this in.

Under the flag `weak_literals` a float or complex literal, global, closure constant or argument is a weak number.
Without float64 (flag `has_float64` off), no overload may bring in a float64 that no argument has: int / int,
math.f(int) and the like give float32. Under `narrows_float64` what the program says is float64 is float32.

Source: NEP 50, "Promotion rules for Python scalars"; the trap that `0 + float32` falls into, see `can_convert`.
"""

from __future__ import annotations

from numba_gpucore.compile.flags import active_flag
from numba_gpucore.compile.numba_api import Conversion, errors, types
from numba_gpucore.compile.weak_numbers import WeakFloat, WeakNumber, strengthen, weak_complex, weak_float

_NARROWER = {types.float64: types.float32, types.complex128: types.complex64}
_PYTHON_NUMBERS = (float, complex)


def has_float64(type_: types.Type) -> bool:
    """True if a value of this type holds a double-precision number."""
    match type_:
        case types.BaseTuple():
            return any(map(has_float64, type_))
        case types.Array() | types.EnumMember():
            return has_float64(type_.dtype)
        case types.Optional():
            return has_float64(type_.type)
        case types.Record():
            return any(has_float64(field) for _name, field in type_.members)
    return type_ in _NARROWER


def narrow_type(type_: types.Type) -> types.Type:
    """The type with float32 in place of float64, also where it is the type of a type such as np.float64."""
    match type_:
        case types.Array():
            return type_.copy(dtype=narrow_type(type_.dtype))
        case types.BaseTuple():
            cls = getattr(type_, "instance_class", None)
            return types.BaseTuple.from_types([narrow_type(item) for item in type_], cls)
        case types.NumberClass():
            return types.NumberClass(narrow_type(type_.instance_type))
        case types.DType():
            return types.DType(narrow_type(type_.dtype))
        case types.EnumMember() | types.EnumClass():
            return type(type_)(type_.instance_class, narrow_type(type_.dtype))
    return _NARROWER.get(type_, type_)


def narrow_if_asked(type_: types.Type) -> types.Type:
    """`narrow_type` where the function that is being compiled computes in float32 only."""
    return narrow_type(type_) if active_flag("narrows_float64") else type_


class WeakLiteralTyping:
    """The rules as overrides of a typing context; each does nothing unless its flag is on."""

    _rates = False

    def resolve_value_type(self, val):
        if active_flag("weak_literals"):
            if type(val) is float:
                return weak_float()
            if type(val) is complex:
                return weak_complex()
            if isinstance(val, tuple) and any(type(item) in _PYTHON_NUMBERS or isinstance(item, tuple) for item in val):
                return types.BaseTuple.from_types([self.resolve_value_type(item) for item in val], type(val))
        found = narrow_if_asked(super().resolve_value_type(val))
        if isinstance(found, (types.EnumMember, types.EnumClass)) and not active_flag("has_float64"):
            return narrow_type(found)  # as members are that come as arguments
        return found

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
        """Where no overload takes a weak number, it becomes the number that it would be alone."""
        keywords = dict(kws)
        weak = any(isinstance(type_, WeakNumber) for type_ in (*args, *keywords.values()))
        if not weak:
            return super().resolve_function_type(func, args, kws)
        try:
            found = super().resolve_function_type(func, args, kws)
        except errors.TypingError:
            found = None
        if found is not None:
            return found
        strong = {name: strengthen(type_) for name, type_ in keywords.items()}
        return super().resolve_function_type(func, tuple(map(strengthen, args)), strong)

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
            if isinstance(weak, WeakNumber) and isinstance(other, types.Number | types.Boolean):
                return weak.unify(self, other)
        unified = super().unify_pairs(first, second)
        if unified == types.float64 and isinstance(first, types.Integer) and isinstance(second, types.Integer):
            # int64 and uint64: what Numba's operators give for them, and all 64 bits stay
            return types.int64
        if not active_flag("has_float64") and unified == types.float64 and types.float64 not in (first, second):
            return types.float32
        return unified
