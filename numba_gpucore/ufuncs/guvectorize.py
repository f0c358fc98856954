"""Generalized universal functions: a function of parts of arrays, applied along the loop axes. Before: decorators.
After: launch.kernel. One thread computes one part.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from numba_gpucore.base.argtypes import ArgType, ArrayType
from numba_gpucore.base.errors import OptionError
from numba_gpucore.base.number_types import has_weak_literals
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.records import dataclass
from numba_gpucore.dtypes import Signature
from numba_gpucore.elements import element_type
from numba_gpucore.launch.device_function import DeviceFunction
from numba_gpucore.launch.kernel import Kernel
from numba_gpucore.launch.pickling import reduce_decorated
from numba_gpucore.launch.platform import Platform
from numba_gpucore.launch.programs import ArgTypes
from numba_gpucore.launch.streams import Stream, check_stream
from numba_gpucore.ufuncs.core_layout import CoreLayout
from numba_gpucore.ufuncs.declared import Dtypes, choose_signature, element_dtype, given_dtypes, require_count
from numba_gpucore.ufuncs.loops import broadcast_shapes, broadcast_strides, dense_strides, memory_order, merge_axes
from numba_gpucore.ufuncs.operands import Operands, Result, is_on_device, is_scalar, shape_of
from numba_gpucore.ufuncs.sources import NUMBER, Kind, Parameter, part_kernel
from numba_gpucore.ufuncs.vectorize import as_numpy_does, compile_usual, launch_loop, loop_kernel


@dataclass(frozen=True)
class PartVersion:
    """One signature: dtypes, and how `core` takes each argument where it is an array."""

    inputs: Dtypes
    outputs: Dtypes
    parameters: tuple[Parameter, ...]


class GUFunc:
    """What `guvectorize` makes of a function that fills its last arguments; call it with the inputs, or with all.

    Loop axes are broadcast; `out=` takes the results; with `stream=` the call does not wait for the device. Results are
    device arrays if any argument is one. Without declared signatures, one is added for each new combination of types of
    inputs and outputs, which must all be given then.
    """

    def __init__(
        self,
        py_func: Callable[..., Any],
        platform: Platform,
        options: KernelOptions,
        layout: CoreLayout,
        signatures: Sequence[Signature] = (),
        identity: Any = None,
    ):
        functools.update_wrapper(self, py_func)
        self.py_func = py_func
        self.platform = platform
        self._options = options
        self.layout = layout
        self.identity = identity
        self.nin, self.nout = len(layout.inputs), len(layout.outputs)
        self.nargs = self.nin + self.nout
        self._signatures = tuple(signatures)
        self._core = DeviceFunction(py_func, platform, replace(options, device=True))
        self._versions: dict[Dtypes, PartVersion] = {}
        self._kernels: dict[tuple[Any, ...], Kernel] = {}
        for signature in signatures:
            self._declare(signature)

    def __repr__(self) -> str:
        return f"<gufunc '{self.py_func.__name__}' {self.signature} of {self.platform.target.package}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        arguments = (self.py_func, self.platform, self._options, self.layout, self._signatures, self.identity)
        return reduce_decorated(self, self.py_func, arguments)

    @property
    def signature(self) -> str:
        return str(self.layout)

    @property
    def types(self) -> list[str]:
        """The signatures, in NumPy's letters ("ff->f")."""
        return [
            f"{''.join(one.char for one in version.inputs)}->{''.join(one.char for one in version.outputs)}"
            for version in self._versions.values()
        ]

    @property
    def kernels(self) -> list[Kernel]:
        """Kernels made so far, one for each signature and number of loop axes."""
        return list(self._kernels.values())

    # Signatures -----------------------------------------------------------------------------------------------------

    def _declare(self, signature: Signature) -> None:
        """Compile the usual kernel of a declared signature, so that what is wrong with it shows there."""
        name = self.py_func.__name__
        if signature.result is not None:
            raise OptionError(
                f"guvectorized functions cannot return values: signature {signature} specifies {signature.result} "
                f"return type; '{name}' must store results in its last arguments"
            )
        require_count(name, signature, self.nargs)
        parameters = tuple(
            self._parameter(number, type_, len(core))
            for number, (type_, core) in enumerate(zip(signature.args, self._axes, strict=True))
        )
        dtypes = tuple(map(element_dtype, signature.args))
        version = PartVersion(dtypes[: self.nin], dtypes[self.nin :], parameters)
        self._versions[version.inputs] = version
        dense: list[ArgType] = [
            ArrayType(element_type(dtype), 1 + len(core), "C") for dtype, core in zip(dtypes, self._axes, strict=True)
        ]
        compile_usual(self._kernel(version, parameters, 1, tuple(dense)))

    @property
    def _axes(self) -> tuple[tuple[str, ...], ...]:
        """Core axes of inputs and outputs."""
        return (*self.layout.inputs, *self.layout.outputs)

    def _version_for(self, inputs: Sequence[Any], outs: Sequence[Any]) -> PartVersion:
        name = self.py_func.__name__
        if self._signatures:
            return self._versions[choose_signature(name, tuple(self._versions), inputs, "same_kind")]
        if any(one is None for one in outs):
            raise TypeError(
                f"gufunc '{name}' has no declared signatures: the types of its outputs decide too, so give them, as "
                f"{name}({', '.join(inspect.signature(self.py_func).parameters)}) or out="
            )
        weak = has_weak_literals(self.platform.target, self._options)
        dtypes = (*given_dtypes(inputs, weak), *(one.dtype for one in outs))
        if dtypes not in self._versions:
            kinds: list[Kind] = ["part" if core else "element" for core in self.layout.inputs]
            kinds += ["part" if core else "cell" for core in self.layout.outputs]
            self._versions[dtypes] = PartVersion(
                dtypes[: self.nin], dtypes[self.nin :], tuple(Parameter(kind) for kind in kinds)
            )
        return self._versions[dtypes]

    def _parameter(self, number: int, type_: ArgType, n_core: int) -> Parameter:
        ndim = type_.ndim if isinstance(type_, ArrayType) else 0
        if ndim == n_core and (n_core or number < self.nin):
            return Parameter("part" if n_core else "element")
        if ndim == 1 and n_core == 0:
            return Parameter("cell")
        wanted = f"a {n_core or 1}-d array"
        if not n_core and number < self.nin:
            wanted = f"a number or {wanted}"
        raise OptionError(
            f"gufunc '{self.py_func.__name__}': argument {number} has {n_core} core axes in {self.signature}, so its "
            f"type is {wanted}, not {type_}"
        )

    def _kernel(
        self, version: PartVersion, parameters: tuple[Parameter, ...], n_axes: int, usual: ArgTypes | None = None
    ) -> Kernel:
        key = (version, parameters, n_axes)
        if key not in self._kernels:
            function = part_kernel(self.py_func, parameters, n_axes, {"core": self._core})
            self._kernels[key] = loop_kernel(function, self.platform, self._options, usual)
        return self._kernels[key]

    # Calls ----------------------------------------------------------------------------------------------------------

    def __call__(self, *arguments: Any, out: Any = None, stream: Any = 0) -> Any:
        """The results: one, or a tuple. Raises TypeError where counts or types do not fit, ValueError where shapes do
        not."""
        given, outs = self._split(arguments, out)
        on = check_stream(stream)
        operands = Operands(self.platform, on)
        taken = [operands.take(value) for value in given]
        outs = [None if one is None else operands.take_output(one) for one in outs]
        version = self._version_for(taken, outs)
        inputs = [self._convert(*one) for one in zip(taken, version.inputs, version.parameters, strict=False)]
        loop_shapes, cores = self.layout.split_shapes([shape_of(one) for one in inputs])
        shape = self._loop_shape(loop_shapes, self._loops_of(outs, cores))
        results = self._open_results(operands, shape, cores, inputs, outs, version)
        if prod(shape):
            self._launch(operands, version, shape, inputs, results, on)
        finished = [operands.finish(one) for one in results]
        values = [as_numpy_does(value, given_out) for value, given_out in zip(finished, outs, strict=True)]
        return values[0] if self.nout == 1 else tuple(values)

    def _split(self, arguments: tuple[Any, ...], out: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        if out is not None and len(arguments) > self.nin:
            raise ValueError("cannot specify argument 'out' as both positional and keyword")
        if len(arguments) == self.nargs and out is None:
            return arguments[: self.nin], arguments[self.nin :]
        if len(arguments) != self.nin:
            raise TypeError(
                f"This gufunc accepts {_positional(self.nin)} (when providing input only) or "
                f"{_positional(self.nargs)} (when providing input and output). Got {_positional(len(arguments))}."
            )
        outs = out if isinstance(out, (tuple, list)) else (out,) if out is not None else (None,) * self.nout
        if len(outs) != self.nout:
            raise ValueError(f"gufunc '{self.py_func.__name__}' has {self.nout} outputs, out has {len(outs)}")
        return arguments, outs

    def _convert(self, value: Any, dtype: np.dtype, parameter: Parameter) -> Any:
        """A number or array of the declared dtype; a number as an array where `core` takes one."""
        if is_scalar(value):
            return dtype.type(value) if parameter.kind == "element" else np.array(value, dtype)
        if value.dtype == dtype:
            return value
        if is_on_device(value):
            raise TypeError(
                f"gufunc '{self.py_func.__name__}': compatible signature is possible by casting but a device array of "
                f"{value.dtype} does not support .astype() to {dtype}"
            )
        return value.astype(dtype)

    def _loops_of(self, outs: Sequence[Any], cores: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Loop shapes of the given outputs. Raises ValueError where their core shapes are others."""
        loops = []
        for out, core in zip(outs, cores, strict=True):
            if out is None:
                continue
            shape = tuple(out.shape)
            first = len(shape) - len(core)
            if first < 0 or shape[first:] != core:
                raise ValueError(f"output shape mismatch: an output ends in {core}, out has {shape}")
            loops.append(shape[:first])
        return loops

    def _loop_shape(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> tuple[int, ...]:
        """The loop of the outputs that were given, else that of the inputs: where each has one turn that of the first,
        since numba.cuda takes an array of one element for a number."""
        shape = broadcast_shapes(inputs)
        if outputs:
            loop, *others = outputs
            surplus = max(0, len(shape) - len(loop))
            fits = prod(shape[:surplus]) == 1 and broadcast_shapes([shape[surplus:], loop]) == loop
            if not fits or any(one != loop for one in others):
                raise ValueError(f"output shape mismatch: the loop has shape {shape}, outputs have {outputs}")
            return loop
        return inputs[0] if inputs and prod(shape) == 1 else shape

    def _open_results(
        self,
        operands: Operands,
        shape: tuple[int, ...],
        cores: Sequence[tuple[int, ...]],
        inputs: Sequence[Any],
        outs: Sequence[Any],
        version: PartVersion,
    ) -> list[Result]:
        to_host = not any(map(is_on_device, (*inputs, *outs)))
        results = []
        for out, core, dtype in zip(outs, cores, version.outputs, strict=True):
            if out is None:
                strides = dense_strides(shape, core, dtype.itemsize, range(len(shape)))
                results.append(operands.open_result((*shape, *core), strides, dtype, to_host))
                continue
            if out.dtype != dtype:
                raise TypeError(f"gufunc '{self.py_func.__name__}': an output has type {dtype}, out has {out.dtype}")
            results.append(operands.reuse(out, inputs))
        return results

    def _launch(
        self,
        operands: Operands,
        version: PartVersion,
        shape: tuple[int, ...],
        inputs: Sequence[Any],
        results: Sequence[Result],
        stream: Stream | None,
    ) -> None:
        values = [*map(operands.settle, inputs), *(one.array for one in results)]
        arrays = [(one, len(core)) for one, core in zip(values, self._axes, strict=True) if not is_scalar(one)]
        strides = [
            broadcast_strides(one.shape[: one.ndim - n], one.strides[: one.ndim - n], shape) for one, n in arrays
        ]
        loop = merge_axes(shape, strides, memory_order(shape, strides))
        views = iter(
            operands.view(one, (*loop.extents, *one.shape[one.ndim - n :]), (*steps, *one.strides[one.ndim - n :]))
            for (one, n), steps in zip(arrays, loop.strides, strict=True)
        )
        parameters = tuple(
            NUMBER if is_scalar(one) else parameter for one, parameter in zip(values, version.parameters, strict=True)
        )
        kernel = self._kernel(version, parameters, len(loop.extents))
        arguments = [one if is_scalar(one) else next(views) for one in values]
        launch_loop(kernel, prod(loop.extents), stream, arguments)


def _positional(count: int) -> str:
    return f"{count} positional argument{'s' * (count != 1)}"
