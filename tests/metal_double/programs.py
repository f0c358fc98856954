"""Libraries, functions and pipelines of the double. Before: device.py. After: commands.py dispatches them."""

from __future__ import annotations

from typing import Any

from tests.metal_double.gpu import Gpu
from tests.metal_double.objc_objects import NSError, ObjCObject, RuleError, load_facts, selector
from tests.metal_double.world import World
from tests.msl import Library, MslError, compile_msl_library
from tests.msl.toolchain import MathMode

_MATH_MODES: tuple[MathMode, ...] = ("safe", "relaxed", "fast")  # in the order of MTLMathMode
_COMPILE_FAILURE = 3  # MTLLibraryErrorCompileFailure


class _Allocated:
    """What `MTLSomething.alloc()` gives: `init` makes the object."""

    def __init__(self, make: Any):
        self.init = make


class CompileOptions(ObjCObject):
    """Metal, MTLCompileOptions. Fast math is on until it is turned off."""

    def __init__(self, world: World):
        self._macos = world.macos
        self.math_mode: MathMode = "fast"
        self.has_precise_functions = False
        self.msl_version = world.max_msl_version

    @selector("setLanguageVersion:", documented="MTLCompileOptions, languageVersion")
    def setLanguageVersion_(self, version: int) -> None:
        self.msl_version = version >> 16, version & 0xFFFF

    @selector("setMathMode:", documented="MTLCompileOptions, mathMode", since=(15, 0))
    def setMathMode_(self, mode: int) -> None:
        self.math_mode = _MATH_MODES[mode]

    @selector(
        "setMathFloatingPointFunctions:", documented="MTLCompileOptions, mathFloatingPointFunctions", since=(15, 0)
    )
    def setMathFloatingPointFunctions_(self, functions: int) -> None:
        self.has_precise_functions = functions == load_facts()["enums"]["MTLMathFloatingPointFunctionsPrecise"]

    @selector("setFastMathEnabled:")
    def setFastMathEnabled_(self, is_enabled: bool) -> None:
        self.math_mode = "fast" if is_enabled else "safe"
        self.has_precise_functions = not is_enabled


class MetalLibrary(ObjCObject):
    """Metal, MTLLibrary."""

    def __init__(self, gpu: Gpu, library: Library):
        self._macos = gpu.world.macos
        self._library = library

    @selector("functionNames")
    def functionNames(self) -> list[str]:
        return list(self._library.kernels)

    @selector("newFunctionWithName:")
    def newFunctionWithName_(self, name: str) -> Function | None:
        return Function(self._library, name) if name in self._library.kernels else None


class Function(ObjCObject):
    """Metal, MTLFunction."""

    def __init__(self, library: Library, name: str):
        self.library = library
        self._name = name

    @selector("name")
    def name(self) -> str:
        return self._name


class ComputePipelineDescriptor(ObjCObject):
    """Metal, MTLComputePipelineDescriptor."""

    def __init__(self) -> None:
        self.function: Function | None = None
        self.max_threads = 0

    @selector("setComputeFunction:", documented="MTLComputePipelineDescriptor, computeFunction")
    def setComputeFunction_(self, function: Function) -> None:
        self.function = function

    @selector("setLabel:")
    def setLabel_(self, label: str) -> None:
        pass

    @selector(
        "setMaxTotalThreadsPerThreadgroup:",
        documented="MTLComputePipelineDescriptor, maxTotalThreadsPerThreadgroup",
    )
    def setMaxTotalThreadsPerThreadgroup_(self, threads: int) -> None:
        self.max_threads = threads


class ComputePipelineState(ObjCObject):
    """Metal, MTLComputePipelineState."""

    def __init__(self, library: Library, name: str, max_threads: int):
        self.library = library
        self.name = name
        self._max_threads = max_threads

    @selector("maxTotalThreadsPerThreadgroup")
    def maxTotalThreadsPerThreadgroup(self) -> int:
        return self._max_threads

    @selector("threadExecutionWidth")
    def threadExecutionWidth(self) -> int:
        return 32

    @selector("staticThreadgroupMemoryLength")
    def staticThreadgroupMemoryLength(self) -> int:
        return self.library.static_nbytes


def compile_library(gpu: Gpu, source: str, options: CompileOptions) -> tuple[MetalLibrary | None, NSError | None]:
    """Metal, MTLDevice newLibraryWithSource:options:error:."""
    world = gpu.world
    if options.math_mode == "safe" and not options.has_precise_functions:
        raise RuleError("newLibraryWithSource: mathMode is safe, mathFloatingPointFunctions is fast")
    if options.msl_version > world.max_msl_version:
        version = ".".join(map(str, options.msl_version))
        return None, _library_error(f"the language version {version} is not supported on this OS")
    try:
        library = compile_msl_library(
            source, options.msl_version, options.math_mode, trap_undefined=world.trap_undefined
        )
    except MslError as error:
        return None, _library_error(f"program_source: {error}")
    return MetalLibrary(gpu, library), None


def _library_error(text: str) -> NSError:
    return NSError("MTLLibraryErrorDomain", _COMPILE_FAILURE, text)


def make_pipeline(gpu: Gpu, descriptor: ComputePipelineDescriptor) -> ComputePipelineState:
    """Metal, MTLDevice newComputePipelineStateWithDescriptor:options:reflection:error:."""
    if descriptor.function is None:
        raise RuleError("newComputePipelineState: the descriptor has no computeFunction")
    name = descriptor.function.name()
    natural = gpu.world.pipeline_threads.get(name, 1024)
    max_threads = min(descriptor.max_threads, gpu.world.max_pipeline_threads) if descriptor.max_threads else natural
    return ComputePipelineState(descriptor.function.library, name, max_threads)


def allocatable(make: Any) -> type:
    """A class object whose `alloc().init()` is `make()`."""
    return type("Class", (), {"alloc": staticmethod(lambda: _Allocated(make))})
