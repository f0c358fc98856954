"""A loaded kernel: library, function and pipelines. Before: Artifact (MSL text). After: batch.py encodes launches."""

from __future__ import annotations

import struct
from typing import Any

from numba_gpucore.base.artifact import Artifact
from numba_gpucore.base.backend import Dim3
from numba_gpucore.base.errors import DeviceError, LaunchError
from numba_gpucore.base.params import POINTER_NBYTES, lay_out_params
from numba_gpucore.base.records import dataclass
from numba_metal.driver.abi import (
    FACT_MATH_MODE,
    FACT_MSL_VERSION,
    FACT_THROWS,
    FACT_USES_DYNAMIC_SHARED,
    MATH_MODES,
)
from numba_metal.driver.bridge import Bridge
from numba_metal.driver.failures import refused_source

#: Warp functions of the kernel language are written for this many lanes.
_SIMD_WIDTH = 32


@dataclass(frozen=True)
class Pipeline:
    """A compiled kernel, with what a launch has to ask of it."""

    native: Any
    max_threads: int
    static_shared_nbytes: int


class MetalProgram:
    """base.backend.Program. Thread-safe: pipelines are only ever added.

    `address_offsets`: where in the parameter block the device pointers are, in bytes.
    """

    def __init__(self, bridge: Bridge, native: Any, artifact: Artifact, number: int):
        self.artifact = artifact
        self.number = number
        facts = dict(artifact.backend_facts)
        self.throws = bool(facts.get(FACT_THROWS, 0))
        self.uses_dynamic_shared = bool(facts.get(FACT_USES_DYNAMIC_SHARED, 0))
        self.address_offsets = tuple(
            slot.offset_nbytes for slot in lay_out_params(artifact.arg_types) if slot.kind == "address"
        )
        self._bridge = bridge
        self._native = native
        with bridge.pool():
            self._function = self._find_function(_compile_library(bridge, native, artifact, facts))
            self._pipelines = [self._make_pipeline(None)]
        self._max_shared_nbytes = native.maxThreadgroupMemoryLength()
        width = self._pipelines[0].native.threadExecutionWidth()
        if width != _SIMD_WIDTH:
            raise DeviceError(
                f"kernel '{artifact.kernel_name}' runs in SIMD-groups of {width} threads on {native.name()}; "
                f"only GPUs with {_SIMD_WIDTH} are supported"
            )

    def _find_function(self, library: Any) -> Any:
        function = library.newFunctionWithName_(self.artifact.entry)
        if function is None:
            names = ", ".join(library.functionNames())
            raise DeviceError(f"the Metal library has no kernel '{self.artifact.entry}', only {names or 'nothing'}")
        return function

    def _make_pipeline(self, max_threads: int | None) -> Pipeline:
        """max_threads: make the compiler leave room for blocks of that many threads, at the cost of registers."""
        descriptor = self._bridge.metal.MTLComputePipelineDescriptor.alloc().init()
        descriptor.setComputeFunction_(self._function)
        descriptor.setLabel_(self.artifact.kernel_name)
        if max_threads is not None:
            descriptor.setMaxTotalThreadsPerThreadgroup_(max_threads)
        make = self._native.newComputePipelineStateWithDescriptor_options_reflection_error_
        native, error = make(descriptor, self._bridge.metal.MTLPipelineOptionNone, None, None)
        if native is None:
            raise refused_source(self.artifact.kernel_name, self.artifact.code.decode(), error)
        return Pipeline(native, native.maxTotalThreadsPerThreadgroup(), native.staticThreadgroupMemoryLength())

    def pipeline_for(self, block: Dim3, dynamic_shared_nbytes: int) -> Pipeline:
        """The pipeline for a launch of this shape. Raises LaunchError where no pipeline of the kernel can run it."""
        threads = block[0] * block[1] * block[2]
        pipeline = self._pipelines[-1]
        if threads > pipeline.max_threads:
            pipeline = self._widen(threads, pipeline.max_threads)
        if pipeline.static_shared_nbytes + dynamic_shared_nbytes > self._max_shared_nbytes:
            raise LaunchError(
                f"kernel '{self.artifact.kernel_name}' needs {pipeline.static_shared_nbytes} bytes of static and "
                f"{dynamic_shared_nbytes} of dynamic shared memory a block; {self._native.name()} has "
                f"{self._max_shared_nbytes}. Use smaller shared arrays"
            )
        return pipeline

    def _widen(self, threads: int, previous_limit: int) -> Pipeline:
        with self._bridge.pool():
            pipeline = self._make_pipeline(threads)
        if threads > pipeline.max_threads:
            limit = max(pipeline.max_threads, previous_limit)
            raise LaunchError(
                f"kernel '{self.artifact.kernel_name}' can have {limit} threads a block on "
                f"{self._native.name()}, not {threads}: it uses too many registers. Use a smaller block"
            )
        self._pipelines.append(pipeline)
        return pipeline

    def addresses(self, params: bytes) -> list[int]:
        """The device pointers in a parameter block."""
        return [_ADDRESS.unpack_from(params, offset)[0] for offset in self.address_offsets]


_ADDRESS = struct.Struct("<Q")
assert _ADDRESS.size == POINTER_NBYTES


def _set_math_mode(bridge: Bridge, options: Any, mode: int) -> None:
    is_safe = MATH_MODES[mode] == "safe"
    if not hasattr(options, "setMathMode_"):  # before macOS 15
        options.setFastMathEnabled_(not is_safe)
        return
    options.setMathMode_(mode)
    # The functions of the language have a mode of their own, which is the fast one, without NaN, unless it is set.
    functions = "Precise" if is_safe else "Fast"
    options.setMathFloatingPointFunctions_(getattr(bridge.metal, f"MTLMathFloatingPointFunctions{functions}"))


def _compile_library(bridge: Bridge, native: Any, artifact: Artifact, facts: dict[str, int]) -> Any:
    """Raises ToolchainError, keeping the source."""
    source = artifact.code.decode()
    options = bridge.metal.MTLCompileOptions.alloc().init()
    major, minor = divmod(facts[FACT_MSL_VERSION], 100)
    options.setLanguageVersion_(major << 16 | minor)  # values of MTLLanguageVersion
    _set_math_mode(bridge, options, facts[FACT_MATH_MODE])
    library, error = native.newLibraryWithSource_options_error_(source, options, None)
    if library is None:
        raise refused_source(artifact.kernel_name, source, error)
    return library
