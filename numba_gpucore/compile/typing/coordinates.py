"""Typing of where a thread is: threadIdx and its kin, laneid, grid, gridsize."""

from __future__ import annotations

from numba_gpucore import language
from numba_gpucore.compile.numba_api import datamodel, errors, templates, types
from numba_gpucore.compile.typing.registry import declare_typer, registry

VECTORS = (language.threadIdx, language.blockIdx, language.blockDim, language.gridDim)


class VectorType(types.Dummy):
    """The type of threadIdx, blockIdx, blockDim or gridDim; holds no data."""

    def __init__(self, vector: language.KernelVector):
        self.vector = vector
        super().__init__(vector.name)


# A vector assigned to a variable is a value without bits.
datamodel.register_default(VectorType)(datamodel.models.OpaqueModel)


@registry.register_attr
class VectorAttributes(templates.AttributeTemplate):
    key = VectorType

    def resolve_x(self, _vector):
        return types.int32

    def resolve_y(self, _vector):
        return types.int32

    def resolve_z(self, _vector):
        return types.int32


for _vector in VECTORS:
    registry.register_global(_vector, VectorType(_vector))
registry.register_global(language.laneid, types.int32)


def _place_signature(name: str, ndim: types.Type):
    if not isinstance(ndim, types.Integer):
        return None
    if not isinstance(ndim, types.IntegerLiteral):
        raise errors.RequireLiteralValue(f"{name}(ndim): ndim must be the literal 1, 2 or 3, not {ndim}")
    if ndim.literal_value not in (1, 2, 3):
        raise errors.NumbaValueError(f"{name}(ndim): ndim must be 1, 2 or 3, not {ndim.literal_value}")
    result = types.int64 if ndim.literal_value == 1 else types.UniTuple(types.int64, ndim.literal_value)
    return templates.signature(result, ndim)


@declare_typer(language.grid)
def type_grid(ndim):
    return _place_signature("grid", ndim)


@declare_typer(language.gridsize)
def type_gridsize(ndim):
    return _place_signature("gridsize", ndim)
