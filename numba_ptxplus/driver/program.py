"""A kernel on the device: loaded once, launched often. Before: Artifact. After: CudaDevice.launch.

The parameter block of `base.params`, and the mailbox behind it, is handed to the driver as a buffer
(CU_LAUNCH_PARAM_BUFFER_POINTER): see abi.py.
"""

from __future__ import annotations

import ctypes
from typing import Any

from numba_gpucore.base.artifact import Artifact
from numba_gpucore.base.backend import LaunchConfig
from numba_gpucore.base.errors import LaunchError
from numba_ptxplus.driver.abi import FACT_COOPERATIVE, FACT_THROWS, PROGRAM_VARIABLE, DeviceCode, add_mailbox
from numba_ptxplus.driver.context import PrimaryContext
from numba_ptxplus.driver.failures import check, error_of

_LOG_NBYTES = 16384
#: Dynamic shared memory that needs no permission. Source: CUDA C++ Programming Guide, "Shared Memory".
_FREE_SHARED_NBYTES = 48 * 1024
#: Refusals of machine code after which the driver may still compile the PTX: the assembler is newer than the driver.
_TRY_PTX_AFTER = frozenset(
    {
        "CUDA_ERROR_NO_BINARY_FOR_GPU",
        "CUDA_ERROR_INVALID_IMAGE",
        "CUDA_ERROR_INVALID_SOURCE",
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
    }
)
# void* extra[] of cuLaunchKernel: key, value, key, value, end. Source: cuda.h
_BUFFER_POINTER, _BUFFER_SIZE, _END = 1, 2, 0
_Extra = ctypes.c_void_p * 5


class CudaProgram:
    """Fills base.backend.Program."""

    def __init__(self, context: PrimaryContext, artifact: Artifact, number: int):
        self.artifact = artifact
        self.number = number
        self._context = context
        self._takes_mailbox = bool(artifact.fact(FACT_THROWS))
        self._is_cooperative = bool(artifact.fact(FACT_COOPERATIVE))
        self._dynamic_limit_nbytes = max(0, _FREE_SHARED_NBYTES - artifact.shared_nbytes)
        with context:
            self._module = load_module(context, artifact)
            driver = context.driver
            doing = f"finding kernel '{artifact.kernel_name}'"
            self.function = check(driver.cuModuleGetFunction(self._module, artifact.entry.encode()), doing)
            if self._takes_mailbox:
                self._store(PROGRAM_VARIABLE, number)

    def _store(self, variable: str, value: int) -> None:
        driver = self._context.driver
        address, _nbytes = check(driver.cuModuleGetGlobal(self._module, variable.encode()), f"finding {variable}")
        check(driver.cuMemcpyHtoD(address, value.to_bytes(8, "little"), 8), f"setting {variable}")

    def max_resident_blocks(self, threads: int, dynamic_nbytes: int) -> int:
        """Blocks of `threads` threads that run at once on the whole device. Source: CUDA Driver API, Occupancy."""
        driver = self._context.driver
        with self._context:
            answer = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(self.function, threads, dynamic_nbytes)
        blocks: int = check(answer, "asking how many blocks run at once")
        return blocks * self._context.attribute("MULTIPROCESSOR_COUNT")

    def launch(self, config: LaunchConfig, params: bytes, stream: Any, mailbox_address: int) -> None:
        """Start the kernel; `params` is copied before this returns."""
        if self._takes_mailbox:
            params = add_mailbox(params, mailbox_address)
        driver = self._context.driver
        launch = driver.CUlaunchConfig()
        launch.gridDimX, launch.gridDimY, launch.gridDimZ = config.grid
        launch.blockDimX, launch.blockDimY, launch.blockDimZ = config.block
        launch.sharedMemBytes = config.dynamic_shared_nbytes
        launch.hStream = stream
        if self._is_cooperative:
            launch.attrs = [_cooperative_attribute(driver)]
            launch.numAttrs = 1
        with self._context:
            if config.dynamic_shared_nbytes > self._dynamic_limit_nbytes:
                self._permit_shared(config.dynamic_shared_nbytes)
            if params:
                buffer, nbytes = ctypes.c_char_p(params), ctypes.c_size_t(len(params))
                extra = _Extra(
                    _BUFFER_POINTER,
                    ctypes.cast(buffer, ctypes.c_void_p),
                    _BUFFER_SIZE,
                    ctypes.cast(ctypes.byref(nbytes), ctypes.c_void_p),
                    _END,
                )
                answer = driver.cuLaunchKernelEx(launch, self.function, 0, ctypes.addressof(extra))
            else:
                answer = driver.cuLaunchKernelEx(launch, self.function, 0, 0)
        if answer[0]:
            kernel = self.artifact.kernel_name
            raise error_of(answer[0], f"launching kernel '{kernel}' with grid {config.grid}, block {config.block}")

    def _permit_shared(self, nbytes: int) -> None:
        """Raise the kernel's limit of dynamic shared memory. Raises LaunchError where the device has less."""
        driver = self._context.driver
        limit = self._context.attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN") - self.artifact.shared_nbytes
        if nbytes > limit:
            raise LaunchError(
                f"kernel '{self.artifact.kernel_name}': {nbytes} bytes of dynamic shared memory asked for, beside "
                f"{self.artifact.shared_nbytes} static ones this device has {limit}"
            )
        attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        check(driver.cuFuncSetAttribute(self.function, attribute, nbytes), "asking for more shared memory")
        self._dynamic_limit_nbytes = nbytes

    def suggested_block(self, dynamic_shared_nbytes: int = 0, limit: int = 0) -> int:
        """The block size that keeps the device busiest, at most `limit` threads (0: no limit)."""
        driver = self._context.driver
        with self._context:
            _grid, block = check(
                driver.cuOccupancyMaxPotentialBlockSize(
                    self.function, driver.CUoccupancyB2DSize(0), dynamic_shared_nbytes, limit
                ),
                "choosing a block size",
            )
        return int(block)

    def attribute(self, name: str) -> int:
        """What the driver knows about the kernel: NUM_REGS, LOCAL_SIZE_BYTES, CONST_SIZE_BYTES, …"""
        driver = self._context.driver
        attribute = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        with self._context:
            return int(check(driver.cuFuncGetAttribute(attribute, self.function), f"asking for {name}"))


def _cooperative_attribute(driver: Any) -> Any:
    attribute = driver.CUlaunchAttribute()
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
    attribute.value.cooperative = 1
    return attribute


def load_module(context: PrimaryContext, artifact: Artifact) -> Any:
    """Machine code if there is some and the driver takes it, else PTX. Raises CudaError with the driver's log."""
    code = DeviceCode.unpack(artifact.code)
    driver = context.driver
    if code.cubin:
        answer = driver.cuModuleLoadData(code.cubin)
        if not answer[0]:
            return answer[1]
        if answer[0].name not in _TRY_PTX_AFTER:
            raise error_of(answer[0], f"loading kernel '{artifact.kernel_name}'")
    log = bytearray(_LOG_NBYTES)
    options = driver.CUjit_option
    names = [options.CU_JIT_ERROR_LOG_BUFFER, options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    answer = driver.cuModuleLoadDataEx(code.ptx.encode() + b"\0", len(names), names, [log, len(log)])
    if answer[0]:
        text = log.split(b"\0", 1)[0].decode(errors="replace")
        raise error_of(answer[0], f"compiling the PTX of kernel '{artifact.kernel_name}' for {artifact.arch}", text)
    return answer[1]
