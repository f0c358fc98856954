"""bfloat16, the upper half of a float32, as a number type. Before: dtypes. After: lower.bfloat16.

Numba has no such type. As in ml_dtypes, whose dtype it is to NumPy, it stays what it is beside bool, int8, uint8 and
weak Python numbers; beside anything else it counts as float32, and so it does in functions.
"""

from __future__ import annotations

import operator

import numpy as np

from numba_gpucore import dtypes
from numba_gpucore.compile.numba_api import AbstractTemplate, Conversion, datamodel, templates, types
from numba_gpucore.compile.targets import FOR_OUR_TARGETS
from numba_gpucore.compile.typing.registry import registry
from numba_gpucore.compile.weak_numbers import WeakFloat
from numba_gpucore.dtypes import BFLOAT16_NAME

ARITHMETIC = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow,
)  # fmt: skip
COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
SIGNS = (operator.neg, operator.pos, abs)
CONVERSIONS = (float, complex, round)
_NARROW_INTEGERS = (types.boolean, types.int8, types.uint8)


class BFloat16(types.Number):
    """Eight bits of exponent and of precision."""

    bitwidth = 16

    def __init__(self):
        super().__init__(BFLOAT16_NAME)

    def cast_python_value(self, value):
        return float(value)

    def can_convert_to(self, typingctx, other):
        if other in (types.float32, types.float64):
            return Conversion.promote if other == types.float32 else Conversion.safe
        if isinstance(other, types.Complex):
            return Conversion.safe
        return Conversion.unsafe if isinstance(other, (types.Integer, types.Float, types.Boolean)) else None

    def can_convert_from(self, typingctx, other):
        if other in _NARROW_INTEGERS:
            return Conversion.safe
        if isinstance(other, WeakFloat):
            return Conversion.promote
        return Conversion.unsafe if isinstance(other, (types.Integer, types.Float)) else None

    def unify(self, typingctx, other):
        if other == self or other in _NARROW_INTEGERS or isinstance(other, WeakFloat):
            return self
        return typingctx.unify_pairs(types.float32, other)


bfloat16 = BFloat16()


class RecordOfBFloat16(types.Record):
    """A record that cannot ask Numba for its dtype."""

    def __init__(self, fields, dtype):
        self._dtype = dtype
        super().__init__(fields, dtype.itemsize, dtype.isalignedstruct)

    @property
    def dtype(self):
        return self._dtype


datamodel.register_default(RecordOfBFloat16)(datamodel.models.RecordModel)


registry.register_global(dtypes.bfloat16, types.NumberClass(bfloat16))


def type_ml_dtypes_value(value: object) -> types.Type | None:
    """The type of `ml_dtypes.bfloat16`, its scalars and arrays of it; None for anything else. Told by name: the package
    need not be there."""
    if isinstance(value, np.ndarray):
        layout = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "A"
        is_ours = value.dtype.name == BFLOAT16_NAME
        return types.Array(bfloat16, value.ndim, layout, readonly=True) if is_ours else None
    cls = value if isinstance(value, type) else type(value)
    if (cls.__module__, cls.__name__) != ("ml_dtypes", BFLOAT16_NAME):
        return None
    return types.NumberClass(bfloat16) if cls is value else bfloat16


def widen(type_: types.Type) -> types.Type:
    """float32 for bfloat16; other types stay."""
    return types.float32 if isinstance(type_, BFloat16) else type_


def _template_for(function, keeps: bool) -> type:
    """`keeps`: results are bfloat16 where no operand is wider."""

    def generic(template, args, kws):
        if kws or not any(isinstance(type_, BFloat16) for type_ in args):
            return None
        if keeps and all(isinstance(t, (BFloat16, WeakFloat)) or t in _NARROW_INTEGERS for t in args):
            return templates.signature(bfloat16, *[bfloat16] * len(args))
        return template.context.resolve_function_type(function, tuple(map(widen, args)), {})

    attributes = {"key": function, "generic": generic, "metadata": FOR_OUR_TARGETS}
    return type(f"bfloat16_{function.__name__}", (AbstractTemplate,), attributes)


for _function in (*ARITHMETIC, *SIGNS):
    registry.register_global(_function)(_template_for(_function, keeps=True))
for _widening in (*COMPARISONS, *CONVERSIONS):
    registry.register_global(_widening)(_template_for(_widening, keeps=False))


@registry.register_global(int)
class IntOfBFloat16(AbstractTemplate):
    metadata = FOR_OUR_TARGETS

    def generic(self, args, kws):
        return templates.signature(types.int64, bfloat16) if args == (bfloat16,) else None
