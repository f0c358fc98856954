"""Lowering of where a thread is: each place is one read of a neutral intrinsic."""

from __future__ import annotations

from numba_gpucore import language
from numba_gpucore.compile.llvm_calls import call_intrinsic
from numba_gpucore.compile.lower.registry import lower, lower_attribute, lower_constant
from numba_gpucore.compile.numba_api import cgutils, types
from numba_gpucore.compile.typing.coordinates import VectorType

AXES = ("x", "y", "z")


def _lower_vector_axis(axis: str) -> None:
    def implement(_context, builder, type_, _value):
        return call_intrinsic(builder, f"{type_.vector.intrinsic}.{axis}")

    lower_attribute(VectorType, axis)(implement)


for _axis in AXES:
    _lower_vector_axis(_axis)


@lower_constant(types.int32)
def lower_int32_constant(context, builder, type_, value):
    """An int32 global; laneid looks like one to Numba, and is read from the device."""
    if isinstance(value, language.KernelInteger):
        return call_intrinsic(builder, value.intrinsic)
    return context.get_value_type(type_)(int(value))


def _lower_places(function, intrinsic: str) -> None:
    @lower(function, types.IntegerLiteral)
    def implement(_context, builder, sig, _args):
        ndim = sig.args[0].literal_value
        places = [call_intrinsic(builder, f"{intrinsic}.{axis}") for axis in AXES[:ndim]]
        return places[0] if ndim == 1 else cgutils.pack_array(builder, places)


_lower_places(language.grid, "gpu.global_id")
_lower_places(language.gridsize, "gpu.global_size")
