"""How types lie in registers and memory where our targets differ from Numba's CPU. Before: none. After: contexts."""

from __future__ import annotations

from llvmlite import ir

from numba_gpucore.compile.captured_arrays import CapturedArrayType
from numba_gpucore.compile.function_type import DeviceFunctionModel, DeviceFunctionType
from numba_gpucore.compile.numba_api import datamodel, types
from numba_gpucore.compile.remembered_calls import RememberingFunction
from numba_gpucore.compile.weak_numbers import WeakComplex, WeakFloat, WeakModel


class FloatModel(datamodel.models.PrimitiveModel):
    """Numba's CPU model has no float16; here it is LLVM's `half`."""

    def __init__(self, dmm, fe_type):
        llvm_types = {types.float16: ir.HalfType(), types.float32: ir.FloatType(), types.float64: ir.DoubleType()}
        super().__init__(dmm, fe_type, llvm_types[fe_type])


def _make_data_models() -> datamodel.DataModelManager:
    manager = datamodel.DataModelManager()
    manager.register(types.Float, FloatModel)
    manager.register(WeakFloat, WeakModel)
    manager.register(WeakComplex, WeakModel)
    manager.register(DeviceFunctionType, DeviceFunctionModel)
    manager.register(CapturedArrayType, datamodel.models.ArrayModel)
    manager.register(RememberingFunction, datamodel.models.OpaqueModel)
    return manager.chain(datamodel.default_manager)


DATA_MODELS = _make_data_models()
