"""Universal functions: a scalar function, applied to each element. Before: decorators. After: launch.kernel.

A call goes: operands → declared signature → loop → kernel for that number of axes and those kinds of arguments.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from types import FunctionType
from typing import Any

import numpy as np

from numba_gpucore.base.argtypes import ArgType, ArrayType
from numba_gpucore.base.number_types import has_weak_literals
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.records import dataclass
from numba_gpucore.dtypes import Signature
from numba_gpucore.elements import element_type
from numba_gpucore.launch import miss
from numba_gpucore.launch.device_function import DeviceFunction
from numba_gpucore.launch.kernel import Kernel
from numba_gpucore.launch.pickling import reduce_decorated
from numba_gpucore.launch.platform import Platform
from numba_gpucore.launch.programs import ArgTypes, ProgramTable
from numba_gpucore.launch.session import default_session
from numba_gpucore.launch.streams import Stream, check_stream
from numba_gpucore.ufuncs.declared import (
    Dtypes,
    choose_signature,
    conversion_to,
    element_dtype,
    given_dtypes,
    require_count,
)
from numba_gpucore.ufuncs.loops import (
    broadcast_shapes,
    broadcast_strides,
    dense_strides,
    memory_order,
    merge_axes,
)
from numba_gpucore.ufuncs.operands import Operands, Result, is_on_device, is_scalar, shape_of
from numba_gpucore.ufuncs.reduction import Reduce
from numba_gpucore.ufuncs.sources import ELEMENT, NUMBER, Parameter, element_kernel

#: Threads a block: a kernel without shared memory fills any GPU with blocks of this size.
_BLOCK = 256


@dataclass(frozen=True)
class Version:
    """One signature: dtypes of the inputs and of the result."""

    inputs: Dtypes
    result: np.dtype


def loop_kernel(
    function: FunctionType, platform: Platform, options: KernelOptions, usual: ArgTypes | None = None
) -> Kernel:
    """A kernel of a ufunc. usual: the types of most calls, for whoever compiles ahead of time."""
    to_warm = () if usual is None else (usual,)
    return Kernel(function, platform, replace(options, device=False), to_warm=to_warm)


def compile_usual(kernel: Kernel) -> None:
    """Compile a kernel for its usual types, so that what is wrong with a declared signature shows where it stands."""
    if not default_session().defers_declared:
        for types in kernel.types_to_warm():
            kernel.compile(types)


def launch_loop(kernel: Kernel, n_turns: int, stream: Stream | None, arguments: Sequence[Any]) -> None:
    kernel[-(-n_turns // _BLOCK), _BLOCK, stream](*arguments)


class UFunc:
    """What `vectorize` makes of a function of numbers; call it with arrays, device arrays and numbers.

    Arguments are broadcast; `out=` takes the result; with `stream=` the call does not wait for the device. The result
    is a device array if any argument is one. Without declared signatures, one is added for each new combination of
    argument types.
    """

    def __init__(
        self,
        py_func: Callable[..., Any],
        platform: Platform,
        options: KernelOptions,
        signatures: Sequence[Signature] = (),
        identity: Any = None,
    ):
        functools.update_wrapper(self, py_func)
        self.py_func = py_func
        self.platform = platform
        self._options = options
        self.identity = identity
        self.nin = len(inspect.signature(py_func).parameters)
        self.nout = 1
        self.nargs = self.nin + 1
        self._signatures = tuple(signatures)
        self._core = DeviceFunction(py_func, platform, replace(options, device=True))
        self._versions: dict[Dtypes, Version] = {}
        self._kernels: dict[tuple[Any, ...], Kernel] = {}
        for signature in signatures:
            self._add(signature)

    def __repr__(self) -> str:
        return f"<ufunc '{self.py_func.__name__}' of {self.platform.target.package}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        arguments = (self.py_func, self.platform, self._options, self._signatures, self.identity)
        return reduce_decorated(self, self.py_func, arguments)

    @property
    def types(self) -> list[str]:
        """The signatures, in NumPy's letters ("ff->f")."""
        return [
            f"{''.join(one.char for one in version.inputs)}->{version.result.char}"
            for version in self._versions.values()
        ]

    @property
    def ntypes(self) -> int:
        return len(self._versions)

    @property
    def kernels(self) -> list[Kernel]:
        """Kernels made so far, one for each signature and way of walking over the operands."""
        return list(self._kernels.values())

    # Signatures -----------------------------------------------------------------------------------------------------

    def _add(self, signature: Signature) -> None:
        """Compile the usual kernel of a declared signature, so that what is wrong with it shows there."""
        name = self.py_func.__name__
        require_count(name, signature, self.nin)
        version = self._add_version(tuple(map(element_dtype, signature.args)), signature.result)
        dense: list[ArgType] = [ArrayType(element_type(one), 1, "C") for one in (*version.inputs, version.result)]
        compile_usual(self._kernel(version, [ELEMENT] * self.nin, 1, tuple(dense)))

    def _add_version(self, inputs: Dtypes, result: ArgType | None) -> Version:
        if result is None:
            device = default_session().current_device(self.platform)
            table = ProgramTable(self.py_func, self.platform, self._core.options)
            result = miss.result_type_of(table.request_for(device, tuple(map(element_type, inputs))))
        version = Version(inputs, element_dtype(result))
        self._versions[inputs] = version
        return version

    def _version_for(self, arguments: Sequence[Any]) -> Version:
        if self._signatures:
            return self._versions[choose_signature(self.py_func.__name__, tuple(self._versions), arguments)]
        given = given_dtypes(arguments, has_weak_literals(self.platform.target, self._options))
        return self._versions.get(given) or self._add_version(given, None)

    def _kernel(
        self, version: Version, parameters: Sequence[Parameter], n_axes: int, usual: ArgTypes | None = None
    ) -> Kernel:
        key = (version.inputs, tuple(parameters), n_axes)
        if key not in self._kernels:
            names: dict[str, Any] = {
                one.cast: conversion_to(dtype)
                for one, dtype in zip(parameters, version.inputs, strict=True)
                if one.cast
            }
            names["core"] = self._core
            function = element_kernel(self.py_func, parameters, n_axes, names)
            self._kernels[key] = loop_kernel(function, self.platform, self._options, usual)
        return self._kernels[key]

    # Calls ----------------------------------------------------------------------------------------------------------

    def __call__(self, *arguments: Any, out: Any = None, stream: Any = 0) -> Any:
        """The function of each element. Raises TypeError where types do not fit, ValueError where shapes do not."""
        inputs, out = self._split(arguments, out)
        on = check_stream(stream)
        operands = Operands(self.platform, on)
        inputs = [operands.take(value) for value in inputs]
        out = None if out is None else operands.take_output(out)
        version = self._version_for(inputs)
        shape = self._loop_shape(inputs, out, version)
        result = self._open_result(operands, shape, inputs, out, version)
        if prod(shape):
            self._launch(operands, version, shape, inputs, result, on)
        return as_numpy_does(operands.finish(result), out)

    def _split(self, arguments: tuple[Any, ...], out: Any) -> tuple[Sequence[Any], Any]:
        if isinstance(out, tuple):
            (out,) = out
        if len(arguments) == self.nin + 1 and out is None:
            return arguments[: self.nin], arguments[self.nin]
        if len(arguments) != self.nin:
            raise TypeError(
                f"ufunc '{self.py_func.__name__}' takes {self.nin} positional arguments, or {self.nin + 1} with the "
                f"output, not {len(arguments)}"
            )
        return arguments, out

    def _loop_shape(self, inputs: Sequence[Any], out: Any, version: Version) -> tuple[int, ...]:
        name = self.py_func.__name__
        try:
            shape = broadcast_shapes([shape_of(one) for one in inputs])
            fits = out is None or broadcast_shapes([shape, tuple(out.shape)]) == tuple(out.shape)
        except ValueError as error:
            raise ValueError(f"ufunc '{name}': {error}") from None
        if not fits:
            raise ValueError(f"ufunc '{name}': the result has shape {shape}, out has {tuple(out.shape)}")
        if out is None:
            return shape
        if not np.can_cast(version.result, out.dtype, "same_kind"):
            raise TypeError(f"ufunc '{name}': the result has type {version.result}, out has {out.dtype}")
        return tuple(out.shape)

    def _open_result(
        self, operands: Operands, shape: tuple[int, ...], inputs: Sequence[Any], out: Any, version: Version
    ) -> Result:
        if out is not None:
            return operands.reuse(out, inputs)
        arrays = [one for one in inputs if not is_scalar(one)]
        order = memory_order(shape, [broadcast_strides(one.shape, one.strides, shape) for one in arrays])
        strides = dense_strides(shape, (), version.result.itemsize, order)
        return operands.open_result(shape, strides, version.result, to_host=not any(map(is_on_device, arrays)))

    def _launch(
        self,
        operands: Operands,
        version: Version,
        shape: tuple[int, ...],
        inputs: Sequence[Any],
        result: Result,
        stream: Stream | None,
    ) -> None:
        settled = [operands.settle(one) for one in inputs]
        arrays = [one for one in (*settled, result.array) if not is_scalar(one)]
        strides = [broadcast_strides(one.shape, one.strides, shape) for one in arrays]
        loop = merge_axes(shape, strides, memory_order(shape, strides))
        views = iter(operands.view(one, loop.extents, steps) for one, steps in zip(arrays, loop.strides, strict=True))
        values, parameters = [], []
        for number, (one, dtype) in enumerate(zip(settled, version.inputs, strict=True)):
            if is_scalar(one):
                values.append(dtype.type(one))
                parameters.append(NUMBER)
            else:
                values.append(next(views))
                parameters.append(ELEMENT if one.dtype == dtype else Parameter("element", f"cast{number}"))
        kernel = self._kernel(version, parameters, len(loop.extents))
        launch_loop(kernel, prod(loop.extents), stream, (*values, next(views)))

    def reduce(self, array: Any, axis: int = 0, stream: Any = 0) -> Any:
        """The function of all elements of a 1-D array, in any order, so it should be associative.

        Raises TypeError for functions of other than two arguments and for empty arrays without identity.
        """
        name = self.py_func.__name__
        if self.nin != 2:
            raise TypeError(f"ufunc '{name}' has {self.nin} arguments; only functions of two can reduce")
        on = check_stream(stream)
        values = Operands(self.platform, on).take(array)
        if values.ndim != 1 or axis not in (0, -1):
            raise ValueError(f"ufunc '{name}': only 1-D arrays can be reduced, along their one axis")
        if values.size == 0 and self.identity is None:
            raise TypeError(f"Reduction on an empty array, and ufunc '{name}' has no identity")
        version = self._version_for([values, values])
        if not version.inputs[0] == version.inputs[1] == version.result:
            raise TypeError(f"ufunc '{name}' cannot reduce: its result {version.result} is not its arguments' type")
        if values.size == 0:
            return version.result.type(self.identity)
        if values.dtype != version.result:
            if is_on_device(values):
                raise TypeError(f"a device array of {values.dtype} does not support .astype() to {version.result}")
            values = values.astype(version.result)
        return self._reduction(values, stream=on or 0)

    @functools.cached_property
    def _reduction(self) -> Reduce:
        return Reduce(self.platform, self._core, has_init=False)


def as_numpy_does(result: Any, out: Any) -> Any:
    """A number instead of a new array without axes."""
    return result[()] if out is None and isinstance(result, np.ndarray) else result
