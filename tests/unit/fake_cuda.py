"""A stand-in for `cuda.bindings.driver` without a GPU: notes calls, holds their number of arguments against the real
functions', and keeps "device" memory on the host, so that copies copy. Handles and enumerations are the real ones."""

from __future__ import annotations

import ctypes
import inspect
from typing import Any

from cuda.bindings import driver as real

ATTRIBUTES = {
    "COMPUTE_CAPABILITY_MAJOR": 9,
    "COMPUTE_CAPABILITY_MINOR": 0,
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_BLOCK_DIM_X": 1024,
    "MAX_BLOCK_DIM_Y": 1024,
    "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": 2**31 - 1,
    "MAX_GRID_DIM_Y": 65535,
    "MAX_GRID_DIM_Z": 65535,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448,
    "WARP_SIZE": 32,
    "MULTIPROCESSOR_COUNT": 132,
}


class FakeCuda:
    """calls: (name, arguments) of every call. failures: name → CUresult to answer once. globals: module variables."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.failures: dict[str, Any] = {}
        self.stack: list[Any] = []
        self.memory: dict[int, Any] = {}
        self.globals: dict[bytes, int] = {}
        self.launches: list[tuple[Any, bytes]] = []

    def __getattr__(self, name: str) -> Any:
        value = getattr(real, name)  # AttributeError for a name that cuda-bindings lacks
        if not (name.startswith("cu") and name[2].isupper()):
            return value
        signature = inspect.signature(value)

        def call(*arguments: Any) -> tuple[Any, ...]:
            signature.bind(*arguments)
            self.calls.append((name, arguments))
            if name in self.failures:
                return (self.failures.pop(name), None)
            answer = getattr(self, f"_{name}", lambda *_: ())(*arguments)
            return (real.CUresult.CUDA_SUCCESS, *answer)

        return call

    def named(self, name: str) -> list[tuple[Any, ...]]:
        return [arguments for called, arguments in self.calls if called == name]

    # -- answers

    def _cuDeviceGet(self, ordinal: int) -> tuple[Any, ...]:
        return (real.CUdevice(ordinal),)

    def _cuDevicePrimaryCtxRetain(self, device: Any) -> tuple[Any, ...]:
        return (real.CUcontext(0x1000 + int(device)),)

    def _cuCtxPushCurrent(self, context: Any) -> tuple[Any, ...]:
        self.stack.append(context)
        return ()

    def _cuCtxPopCurrent(self) -> tuple[Any, ...]:
        return (self.stack.pop(),)

    def _cuDeviceGetName(self, length: int, device: Any) -> tuple[Any, ...]:
        return (b"Fake GPU".ljust(length, b"\0"),)

    def _cuDeviceGetAttribute(self, attribute: Any, device: Any) -> tuple[Any, ...]:
        return (ATTRIBUTES[attribute.name.removeprefix("CU_DEVICE_ATTRIBUTE_")],)

    def _reserve(self, nbytes: int) -> int:
        buffer = (ctypes.c_uint8 * nbytes)()
        address = ctypes.addressof(buffer)
        self.memory[address] = buffer
        return address

    def _cuMemAlloc(self, nbytes: int) -> tuple[Any, ...]:
        self._require_context()
        return (real.CUdeviceptr(self._reserve(nbytes)),)

    def _cuMemAllocManaged(self, nbytes: int, flags: int) -> tuple[Any, ...]:
        return (real.CUdeviceptr(self._reserve(nbytes)),)

    def _cuMemHostAlloc(self, nbytes: int, flags: int) -> tuple[Any, ...]:
        return (self._reserve(nbytes),)

    def _cuMemHostGetDevicePointer(self, address: int, flags: int) -> tuple[Any, ...]:
        return (real.CUdeviceptr(address),)

    def _cuMemFree(self, address: Any) -> tuple[Any, ...]:
        self._require_context()
        del self.memory[int(address)]
        return ()

    _cuMemFreeHost = _cuMemFree

    def _cuMemcpyHtoDAsync(self, target: Any, source: int, nbytes: int, stream: Any) -> tuple[Any, ...]:
        self._require_context()
        ctypes.memmove(int(target), source, nbytes)
        return ()

    def _cuMemcpyDtoHAsync(self, target: int, source: Any, nbytes: int, stream: Any) -> tuple[Any, ...]:
        self._require_context()
        ctypes.memmove(target, int(source), nbytes)
        return ()

    def _cuMemcpyHtoD(self, target: Any, source: bytes, nbytes: int) -> tuple[Any, ...]:
        ctypes.memmove(int(target), source, nbytes)
        return ()

    def _cuMemGetInfo(self) -> tuple[Any, ...]:
        return (1 << 30, 2 << 30)

    def _cuModuleLoadData(self, image: bytes) -> tuple[Any, ...]:
        return (real.CUmodule(0x2000),)

    def _cuModuleLoadDataEx(self, image: bytes, count: int, options: Any, values: Any) -> tuple[Any, ...]:
        return (real.CUmodule(0x2001),)

    def _cuModuleGetFunction(self, module: Any, name: bytes) -> tuple[Any, ...]:
        return (real.CUfunction(0x3000),)

    def _cuModuleGetGlobal(self, module: Any, name: bytes) -> tuple[Any, ...]:
        self.globals[name] = self._reserve(8)
        return (real.CUdeviceptr(self.globals[name]), 8)

    def _cuStreamCreate(self, flags: int) -> tuple[Any, ...]:
        return (real.CUstream(0x4000),)

    def _cuEventCreate(self, flags: int) -> tuple[Any, ...]:
        return (real.CUevent(0x5000),)

    def _cuEventElapsedTime(self, start: Any, end: Any) -> tuple[Any, ...]:
        return (1.5,)

    def _cuLaunchHostFunc(self, stream: Any, function: Any, data: Any) -> tuple[Any, ...]:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(int(function))(None)
        return ()

    def _cuOccupancyMaxActiveBlocksPerMultiprocessor(self, function, threads, dynamic_nbytes) -> tuple[Any, ...]:
        return (2048 // threads,)

    def _cuOccupancyMaxPotentialBlockSize(self, function, sizes, dynamic, limit) -> tuple[Any, ...]:
        return (264, 768)

    def _cuFuncGetAttribute(self, attribute: Any, function: Any) -> tuple[Any, ...]:
        return (24,)

    def _cuLaunchKernelEx(self, config: Any, function: Any, params: Any, extra: int) -> tuple[Any, ...]:
        self._require_context()
        self.launches.append((config, read_launch_buffer(extra) if extra else b""))
        return ()

    def _require_context(self) -> None:
        assert self.stack, "no context is current"


def read_launch_buffer(extra: int) -> bytes:
    """The parameter bytes that a `void* extra[]` names. Source: cuda.h, CU_LAUNCH_PARAM_*."""
    entries = (ctypes.c_void_p * 5).from_address(extra)
    assert [entries[i] or 0 for i in (0, 2, 4)] == [1, 2, 0]
    nbytes = ctypes.c_size_t.from_address(entries[3]).value
    return ctypes.string_at(entries[1], nbytes)
