"""The kernel object, and the path of a call. Before: jit. After: Device.launch.

A call goes: configuration → type keys → table → marshal → launch. On a new combination of types `_prepare` fills the
table: argument types → program (compiled on a miss) → packer.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
import pickle
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from numba_gpucore.base.argtypes import ArgType
from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.backend import Backend, Device, Program
from numba_gpucore.base.errors import ArgumentError, LaunchError, OptionError, SpecializedError
from numba_gpucore.base.number_types import has_weak_literals
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.target import Target
from numba_gpucore.dtypes import names_type
from numba_gpucore.launch import advice, miss
from numba_gpucore.launch.configure import SYNTAX, KernelNeeds, Shape, parse_configuration
from numba_gpucore.launch.convert import nearest_signatures
from numba_gpucore.launch.eager import kernel_arg_types
from numba_gpucore.launch.launch_config import LaunchDescription
from numba_gpucore.launch.marshal import make_packer
from numba_gpucore.launch.overloads import CompiledOverload, KernelReports
from numba_gpucore.launch.platform import Platform
from numba_gpucore.launch.prepared import PreparedLaunch
from numba_gpucore.launch.programs import ArgTypes, ProgramTable
from numba_gpucore.launch.session import default_session
from numba_gpucore.launch.signature import arg_type_of, type_key, weak_type_of
from numba_gpucore.launch.streams import Stream, check_stream

_DEFAULT_FORALL_BLOCK = 256


class Kernel(KernelReports):
    """A Python function that runs on a device, once for each thread: `kernel[grid, block](*args)`.

    signatures: argument types that the decorator declared; then only these can be called. to_warm: signatures to
    compile ahead of time. Launches from several threads may overlap; only compiling takes turns.
    """

    def __init__(
        self,
        py_func: Callable[..., Any],
        platform: Platform,
        options: KernelOptions,
        signatures: tuple[ArgTypes, ...] = (),
        extensions: tuple[Any, ...] = (),
        to_warm: tuple[Any, ...] = (),
    ):
        functools.update_wrapper(self, py_func)
        self.py_func = py_func
        self.platform = platform
        self.options = options
        self.extensions = list(extensions)
        self.specializations: dict[ArgTypes, Kernel] = {}
        self._launch_config_specializations: dict[Shape, Kernel] = {}
        self._sensitive: set[ArgTypes] = set()
        self._declared = signatures
        self._to_warm = to_warm
        self._warns = platform.target.speaks_as_cuda
        self._programs = ProgramTable(py_func, platform, options)
        self._table: dict[Hashable, PreparedLaunch] = {}
        self._parameters = inspect.signature(py_func)
        self._count = len(self._parameters.parameters)
        self._takes_all = any(p.kind is p.VAR_POSITIONAL for p in self._parameters.parameters.values())
        for signature in signatures:
            self._require_count(signature)

    def __repr__(self) -> str:
        return f"<kernel {self.py_func.__qualname__} of {self.platform.target.package}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        from numba_gpucore.launch.pickling import reduce_decorated  # noqa: PLC0415  0.1 ms

        arguments = (self.py_func, self.platform, self.options, self._declared, tuple(self.extensions))
        return reduce_decorated(self, self.py_func, arguments)

    @property
    def target(self) -> Target:
        return self.platform.target

    @property
    def _numba_type_(self) -> Any:
        return miss.numba_type_of(self)

    # Launching ------------------------------------------------------------------------------------------------------

    def __getitem__(self, item: Any) -> ConfiguredKernel:
        shape, stream = parse_configuration(item)
        if self._warns and math.prod(shape[0]) < advice.ENOUGH_BLOCKS:
            advice.warn_about_small_grid(
                shape, self._device_for(stream), default_session().settings.warns_of_small_grids
            )
        return ConfiguredKernel(self, shape, stream)

    def configure(self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: Any = 0) -> ConfiguredKernel:
        """The same as `kernel[griddim, blockdim, stream, sharedmem]`; sharedmem: dynamic shared memory in bytes."""
        return self[griddim, blockdim, stream, sharedmem]

    def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> ForAll:
        """A launch of at least `ntasks` threads in one dimension, in blocks of `tpb` threads (0: chosen)."""
        return ForAll(self, ntasks, tpb, stream, sharedmem)

    def __call__(self, *args: Any, **keywords: Any) -> None:
        raise LaunchError(f"kernel '{self.py_func.__name__}': launch configuration was not specified; write {SYNTAX}")

    def launch(self, shape: Shape, stream: Stream | None, args: tuple[Any, ...]) -> None:
        """Start the kernel. Raises ArgumentError, LaunchError, what compiling raises, and what threads threw if the
        launch had to wait for them."""
        if self.extensions:
            from numba_gpucore.launch.extensions import prepare_arguments  # noqa: PLC0415  0.1 ms

            args, after = prepare_arguments(self.extensions, args, stream)
            self._launch(shape, stream, args)
            for finish in after:
                finish()
        else:
            self._launch(shape, stream, args)

    def _launch(self, shape: Shape, stream: Stream | None, args: tuple[Any, ...]) -> None:
        device = self._device_for(stream)
        try:
            entry = self._table.get((device, *map(type_key, args)))
        except ArgumentError:
            entry = None
        if entry is None:
            # Outside of any `except`, so that what compiling raises is shown alone.
            entry = self._prepare(device, shape, stream, args)
        config = entry.configs.get(shape) or entry.check(shape)
        if config is None:
            self._specialization_for(shape).launch(shape, stream, args)
            return
        try:
            entry.run(config, stream, args)
        except ArgumentError as error:
            raise ArgumentError(f"kernel '{self.py_func.__name__}': {error}") from None

    def bind(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
        """One argument for each parameter, defaults filled in; `*args` is a tuple. Raises ArgumentError where a call of
        the function would raise TypeError."""
        try:
            bound = self._parameters.bind(*args, **keywords)
        except TypeError as error:
            raise ArgumentError(f"kernel '{self.py_func.__name__}': {error}") from None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _device_for(self, stream: Stream | None) -> Device:
        return default_session().current_device(self.platform) if stream is None else stream.device

    # Filling the table ----------------------------------------------------------------------------------------------

    def program_for(self, args: tuple[Any, ...], stream: Stream | None) -> Program:
        """The loaded program that arguments like these would run, compiled now if need be."""
        with default_session().miss_lock:
            return self._programs.program_for(self._device_for(stream), self._declared_for(self._types_of(args)))

    def _compile_for_args(self, *args: Any) -> Program:
        """The program for the launch that `default_session().compiling` describes."""
        launch = default_session().compiling.current
        return self.program_for(args, None if launch is None else launch.stream or None)

    def mark_launch_config_sensitive(self) -> None:
        """Say, while a launch compiles, that the code holds for its configuration only: others are compiled anew."""
        launch = default_session().compiling.current
        if launch is None:
            raise LaunchError(f"kernel '{self.py_func.__name__}' is not being compiled for a launch")
        launch.is_sensitive = True

    def _specialization_for(self, shape: Shape) -> Kernel:
        """The same kernel for another launch configuration."""
        if shape not in self._launch_config_specializations:
            kernel = Kernel(self.py_func, self.platform, self.options, self._declared)
            self._launch_config_specializations[shape] = kernel
        return self._launch_config_specializations[shape]

    def _prepare(self, device: Device, shape: Shape, stream: Stream | None, args: tuple[Any, ...]) -> PreparedLaunch:
        description = LaunchDescription(self, *shape, stream or 0, args)
        with default_session().compiling.described_by(description):
            program = self._compile_for_args(*args)
        packer = make_packer(args, program.artifact.arg_types, device)
        bounds = self.options.launch_bounds
        needs = KernelNeeds(
            self.py_func.__name__,
            program.artifact.shared_nbytes,
            bounds[0] if bounds else None,
            self.target.rules.max_shared_nbytes,
        )
        entry = PreparedLaunch(device, program, packer, needs, self._warns and packer.takes_host_arrays)
        if description.is_sensitive:
            entry.only_shape = shape
            self._sensitive.add(program.artifact.arg_types)
        self._table[(device, *map(type_key, args))] = entry
        return entry

    def _types_of(self, args: Sequence[Any]) -> ArgTypes:
        faults, types = [], []
        marks_weak = has_weak_literals(self.target, self.options)
        for position, (name, value) in enumerate(zip(self._parameters.parameters, args, strict=True)):
            try:
                type_ = arg_type_of(value)
                types.append(weak_type_of(value, type_) if marks_weak else type_)
            except ArgumentError as error:
                faults.append(f"argument {position} ('{name}'): {error}")
        if faults:
            raise ArgumentError(f"kernel '{self.py_func.__name__}': {'; '.join(faults)}")
        return tuple(types)

    def _declared_for(self, given: ArgTypes) -> ArgTypes:
        if not self._declared:
            return given
        nearest = nearest_signatures(given, self._declared)
        if len(nearest) != 1:
            problem = "Ambiguous overloading" if nearest else "No matching definition"
            declared = "; ".join(_type_list(types) for types in nearest or self._declared)
            raise ArgumentError(
                f"{problem} of kernel '{self.py_func.__name__}' for argument types {_type_list(given)}; "
                f"{'equally near' if nearest else 'declared'} are {declared}"
            )
        return nearest[0]

    def _require_count(self, types: Sequence[ArgType]) -> None:
        if len(types) != self._count:
            raise ArgumentError(
                f"kernel '{self.py_func.__name__}' takes {self._count} arguments, "
                f"signature {_type_list(types)} has {len(types)}"
            )

    def compile(self, sig: Any) -> CompiledOverload:
        """Compile for argument types, on the current device, without launching."""
        types = kernel_arg_types(sig)
        self._require_count(types)
        if self.specialized and types not in self._declared:
            raise SpecializedError(
                f"kernel '{self.py_func.__name__}' has one signature, {_type_list(self._declared[0])}"
            )
        session = default_session()
        with session.miss_lock:
            artifact = self._programs.artifact_for(session.current_device(self.platform), types)
        return self.overloads[artifact.arg_types]

    def recompile(self) -> None:
        """Compile all known signatures again, with the globals and closure variables of now."""
        session = default_session()
        known = self._programs.known_types()
        self._programs.forget()
        self._table.clear()
        with session.miss_lock:
            for types in known:
                self._programs.artifact_for(session.current_device(self.platform), types)

    @property
    def specialized(self) -> bool:
        """True where there is one declared signature."""
        return len(self._declared) == 1

    def compile_declared(self) -> None:
        """Compile the signatures that the decorator was given, so that what is wrong with them shows there."""
        session = default_session()
        if session.defers_declared:
            return
        with session.miss_lock:
            for types in self._declared:
                self._programs.artifact_for(session.current_device(self.platform), types)

    def types_to_warm(self) -> tuple[ArgTypes, ...]:
        """Argument types to compile ahead of time: of declared signatures, else of the decorator's list `warm`.

        Raises OptionError, and ArgumentError for a signature with another count of arguments.
        """
        try:
            types = self._declared or tuple(map(kernel_arg_types, self._to_warm))
        except OptionError as error:  # far from the decorator, whose line tells elsewhere which kernel it is
            raise OptionError(f"the list `warm` of kernel '{self.py_func.__qualname__}': {error}") from error
        for one in types:
            self._require_count(one)
        return types

    def request_for_arch(self, arch: str, types: ArgTypes) -> tuple[CompileRequest, Backend]:
        """What compiling for an architecture of any back-end of the target takes. Raises OptionError."""
        return self._programs.request_for_arch(arch, types)

    def specialize(self, *args: Any) -> Kernel:
        """A kernel for the types of these arguments only; types may stand for arguments. The same one each time."""
        if self.specialized:
            raise SpecializedError(f"Dispatcher already specialized: kernel '{self.py_func.__name__}' cannot be again")
        types = kernel_arg_types(args) if all(map(names_type, args)) else self._types_of(self.bind(args, {}))
        types = self._declared_for(types)
        if types not in self.specializations:
            kernel = Kernel(self.py_func, self.platform, self.options, (types,), tuple(self.extensions))
            kernel.compile(types)
            self.specializations[types] = kernel
        return self.specializations[types]


class ConfiguredKernel:
    """A kernel with a launch configuration; call it with the kernel's arguments."""

    __slots__ = ("_callbacks", "_shape", "_stream", "kernel")

    def __init__(self, kernel: Kernel, shape: Shape, stream: Stream | None):
        self.kernel = kernel
        self._shape = shape
        self._stream = stream
        self._callbacks: list[Callable[[Kernel, ConfiguredKernel], Any]] | None = None

    @property
    def pre_launch_callbacks(self) -> list[Callable[[Kernel, ConfiguredKernel], Any]]:
        """Functions that are called with kernel and configuration before each launch."""
        if self._callbacks is None:
            self._callbacks = []
        return self._callbacks

    def __reduce__(self) -> tuple[Any, ...]:
        if self._callbacks:
            raise pickle.PicklingError("Cannot pickle configured launches with pre-launch callbacks")
        return type(self), (self.kernel, self._shape, self._stream)

    @property
    def griddim(self) -> tuple[int, int, int]:
        return self._shape[0]

    @property
    def blockdim(self) -> tuple[int, int, int]:
        return self._shape[1]

    @property
    def sharedmem(self) -> int:
        return self._shape[2]

    @property
    def stream(self) -> Any:
        return self._stream or 0

    def __call__(self, *args: Any, **keywords: Any) -> None:
        kernel = self.kernel
        if keywords or len(args) != kernel._count or kernel._takes_all:
            args = kernel.bind(args, keywords)
        if self._callbacks:
            for callback in self._callbacks:
                callback(kernel, self)
        kernel.launch(self._shape, self._stream, args)


class ForAll:
    """A one-dimensional launch whose grid follows from the number of tasks."""

    def __init__(self, kernel: Kernel, ntasks: int, tpb: int, stream: Any, sharedmem: int):
        try:
            self._ntasks, self._block = operator.index(ntasks), operator.index(tpb)
        except TypeError:
            raise ArgumentError(f"forall takes whole numbers of tasks and threads, not {ntasks!r}, {tpb!r}") from None
        if ntasks < 0:
            raise LaunchError(f"Can't create ForAll with negative task count: {ntasks}")
        if tpb < 0:
            raise LaunchError(f"blocks cannot have {tpb} threads; 0 lets the device choose")
        self._kernel = kernel
        self._stream = check_stream(stream)
        self._sharedmem = sharedmem

    def __call__(self, *args: Any, **keywords: Any) -> None:
        if self._ntasks == 0:
            return
        block = self._block or self._chosen_block(self._kernel.bind(args, keywords))
        grid = -(-self._ntasks // block)
        self._kernel[grid, block, self._stream, self._sharedmem](*args, **keywords)

    def _chosen_block(self, args: tuple[Any, ...]) -> int:
        """What keeps the device busiest, where it can tell; it knows the kernel's own limit then."""
        program = self._kernel.program_for(args, self._stream)
        suggest = getattr(program, "suggested_block", None)
        if suggest is not None:
            return int(suggest(self._sharedmem))
        bounds = self._kernel.options.launch_bounds
        device = self._kernel._device_for(self._stream)
        return min(_DEFAULT_FORALL_BLOCK, device.limits.max_threads_per_block, *(bounds or ())[:1])


def _type_list(types: Sequence[ArgType]) -> str:
    return f"({', '.join(map(str, types))})"
