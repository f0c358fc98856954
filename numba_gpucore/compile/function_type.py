"""The type of a device function as a value. Before: dispatcher. After: typing and lowering of programs that mention it.

A type of our own, because Numba's experimental function types lower a Dispatcher constant to its address in this
process as soon as anything has imported them.
"""

from __future__ import annotations

from numba_gpucore.compile.numba_api import LoweringRegistry, datamodel, types

FUNCTION_LOWERING = LoweringRegistry("device_functions")


class DeviceFunctionType(types.Dispatcher):
    """A device function that a program mentions; its value carries nothing, calls are resolved by type."""


DeviceFunctionModel = datamodel.models.OpaqueModel


@FUNCTION_LOWERING.lower_constant(DeviceFunctionType)
def function_constant(context, builder, ty, value):
    return context.get_dummy_value()
