"""Typing of short vectors: making them, their components, arithmetic. Before: vector_types. After: lower.vectors."""

from __future__ import annotations

import operator

from numba_gpucore import language
from numba_gpucore.compile.numba_api import AbstractTemplate, errors, npydecl, numpy_support, templates, types
from numba_gpucore.compile.typing.registry import registry
from numba_gpucore.compile.weak_numbers import strengthen
from numba_gpucore.vector_types import COMPONENTS, VECTOR_CLASSES, VectorClass


class NumberVector(types.Type):
    """`count` numbers of type `base`, as one value; `user_facing_object` makes it. Names are numba.cuda's."""

    def __init__(self, cls: VectorClass):
        self.user_facing_object = cls
        self.base_type: types.Number = numpy_support.from_dtype(cls.base.dtype)
        self.num_elements = cls.count
        super().__init__(cls.name)


NUMBER_VECTORS = {cls: NumberVector(cls) for cls in VECTOR_CLASSES}
#: numba.cuda.vector_types.vector_types.
vector_types = {vector.name: vector for vector in NUMBER_VECTORS.values()}
DIVISIONS = (operator.truediv, operator.itruediv)
ARITHMETIC = (
    operator.add, operator.sub, operator.mul, operator.iadd, operator.isub, operator.imul, *DIVISIONS,
)  # fmt: skip


def parse_item_type(dtype: types.Type) -> types.Type | None:
    """The type of an array's items by what names it: a NumPy dtype, or a vector class."""
    if isinstance(dtype, types.Function) and isinstance(dtype.typing_key, VectorClass):
        return NUMBER_VECTORS[dtype.typing_key]
    return npydecl.parse_dtype(dtype)


def _constructor(cls: VectorClass) -> type:
    vector = NUMBER_VECTORS[cls]

    def generic(_template, args, kws):
        if kws or not args:
            return None
        if not all(isinstance(part, (types.Number, types.Boolean, NumberVector)) for part in args):
            return None
        count = sum(part.num_elements if isinstance(part, NumberVector) else 1 for part in args)
        if count != cls.count:
            raise errors.TypingError(f"{cls.name}() takes {cls.count} components, not {count}")
        return templates.signature(vector, *(p if isinstance(p, NumberVector) else vector.base_type for p in args))

    return type(cls.name, (AbstractTemplate,), {"key": cls, "generic": generic})


for _class in VECTOR_CLASSES:
    _template = registry.register(_constructor(_class))
    registry.register_global(_class, types.Function(_template))


@registry.register_attr
class NumberVectorAttributes(templates.AttributeTemplate):
    key = NumberVector

    def generic_resolve(self, vector, name):
        return vector.base_type if name in tuple(COMPONENTS[: vector.num_elements]) else None


def _arithmetic_template(function) -> type:
    def generic(_template, args, kws):
        vectors = {type_ for type_ in args if isinstance(type_, NumberVector)}
        if len(vectors) != 1 or len(args) != 2:
            return None
        (vector,) = vectors
        if function in DIVISIONS and not isinstance(vector.base_type, types.Float):
            return None
        if not all(isinstance(type_, (NumberVector, types.Integer, types.Float)) for type_ in map(strengthen, args)):
            return None
        return templates.signature(vector, *(type_ if type_ == vector else vector.base_type for type_ in args))

    return type(f"vector_{function.__name__}", (AbstractTemplate,), {"key": function, "generic": generic})


for _function in ARITHMETIC:
    registry.register_global(_function)(_arithmetic_template(_function))


@registry.register_global(operator.neg)
class NegateVector(AbstractTemplate):
    def generic(self, args, kws):
        return templates.signature(args[0], args[0]) if isinstance(args[0], NumberVector) else None


@registry.register_global(language.fma)
class FmaOfVectors(AbstractTemplate):
    def generic(self, args, kws):
        first = args[0] if len(args) == 3 else None
        if isinstance(first, NumberVector) and isinstance(first.base_type, types.Float) and set(args) == {first}:
            return templates.signature(first, *args)
        return None


@registry.register
class ArrayView(AbstractTemplate):
    """`array.view(float32x4)`: the items in groups, read and written whole. Other dtypes are Numba's affair."""

    key = "gpucore.array.view"

    def generic(self, args, kws):
        if kws or len(args) != 1:
            return None
        item_type = parse_item_type(args[0])
        if isinstance(item_type, NumberVector):
            _check_view(self.this, item_type)
        if item_type is None:
            return None
        return templates.signature(self.this.copy(dtype=item_type), *args, recvr=self.this)


def _check_view(array: types.Array, vector: NumberVector) -> None:
    where = f"view({vector})"
    if array.dtype != vector.base_type or array.layout != "C" or array.ndim == 0:
        raise errors.TypingError(f"{where} needs an array of {vector.base_type} in C order, not {array}")
    if vector.num_elements == 3:
        raise errors.TypingError(
            f"{where}: vectors of three take the place of four in memory; use {vector.base_type}x4"
        )


@registry.register_attr
class ArrayViewAttribute(templates.AttributeTemplate):
    key = types.Array

    def resolve_view(self, array):
        return types.BoundFunction(ArrayView, array)
