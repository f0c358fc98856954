"""Typing of number classes: the light dtypes are in kernels what `np.float32` is, and complex ones take two parts."""

from __future__ import annotations

from numba_gpucore import dtypes
from numba_gpucore.compile.numba_api import numpy_support, templates, types
from numba_gpucore.compile.typing.registry import registry

for _dtype in dtypes.DTYPES:
    registry.register_global(_dtype, types.NumberClass(numpy_support.from_dtype(_dtype.dtype)))


@registry.register_attr
class ComplexClassAttributes(templates.AttributeTemplate):
    """`np.complex64(re, im)`, which Numba has with one argument only."""

    key = types.NumberClass

    def resolve___call__(self, number_class):
        type_ = number_class.instance_type
        if not isinstance(type_, types.Complex):
            return None

        def typer(real, imag=None):
            part = type_.underlying_float
            if imag is None:
                return templates.signature(type_, real) if isinstance(real, (types.Number, types.Boolean)) else None
            if all(isinstance(value, (types.Integer, types.Float, types.Boolean)) for value in (real, imag)):
                return templates.signature(type_, part, part)
            return None

        return types.Function(templates.make_callable_template(key=type_, typer=typer))
