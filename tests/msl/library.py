"""Compiled MSL and its dispatches on the CPU. Before: checker.py, thunks.py. After: tests, the Metal double.

Kernels run as clang's machine code with a fiber for each GPU thread, in a chosen order; see runtime/*.c. Undefined
behaviour can be made to trap. Not covered: textures, samplers, matrices, boolN, packed_*, function constants; of
bfloat vectors and functions.
"""

from __future__ import annotations

import ctypes
import functools
import re
import signal
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tests.msl.checker import MslError, check_msl, translate_pragmas
from tests.msl.findings import KernelSignature
from tests.msl.memory import ACCESS_NONE, ACCESS_READ, ACCESS_READ_WRITE, DeviceBuffer, Runtime, load_runtime
from tests.msl.thunks import ANCHOR, row_symbol, thread_symbol, write_thunks
from tests.msl.toolchain import Build, MathMode, Toolchain, find_toolchain

Dim3 = tuple[int, int, int]
Order = Literal["forward", "reversed", "shuffled"]
_ORDERS: tuple[Order, ...] = ("forward", "reversed", "shuffled")
# Metal Feature Set Tables, "Maximum threads per threadgroup", "Maximum total threadgroup memory allocation".
MAX_THREADS = 1024
MAX_THREADGROUP_NBYTES = 32 * 1024
_END_OK, _END_DIVERGED, _END_FAULT, _END_TIMEOUT, _END_NO_MEMORY = range(5)


class KernelFault(Exception):
    """A dispatch ended badly: access out of bounds or to closed memory, divergent barrier, time-out, ..."""


@dataclass(frozen=True)
class RunOptions:
    """order: of threads and threadgroups; `seed` picks a shuffled one. flush_subnormals: as GPUs may.
    ended_threads_arrive: threads that returned count at barriers, which MSL does not promise.
    force_fibers: also kernels that never wait get a fiber a thread, so that faults name the thread."""

    order: Order = "forward"
    seed: int = 0
    flush_subnormals: bool = False
    ended_threads_arrive: bool = False
    force_fibers: bool = False
    stack_nbytes: int = 64 * 1024
    timeout_s: float = 20.0


@dataclass(frozen=True)
class RunStats:
    """What the scheduler counted: released barriers, SIMD-group functions, those that not all lanes reached."""

    barriers: int
    simd_operations: int
    divergent_simd_operations: int


class _Dispatch(ctypes.Structure):
    """dispatch_t of runtime/runtime.h."""

    _fields_ = [
        ("thread_entry", ctypes.c_void_p), ("row_entry", ctypes.c_void_p), ("args", ctypes.c_void_p),
        ("grid", ctypes.c_uint32 * 3), ("group", ctypes.c_uint32 * 3),
        ("static_memory", ctypes.c_void_p), ("static_nbytes", ctypes.c_uint64),
        ("dynamic_memory", ctypes.c_void_p), ("dynamic_nbytes", ctypes.c_uint64),
        *((name, ctypes.c_uint32) for name in
          ("order", "seed", "stack_nbytes", "timeout_ms", "flush_subnormals", "ended_threads_arrive")),
        ("end", ctypes.c_int32), ("signal", ctypes.c_int32), ("fault_address", ctypes.c_uint64),
        ("fault_position", ctypes.c_uint32 * 3), ("fault_group", ctypes.c_uint32 * 3),
        ("barriers", ctypes.c_uint64), ("simd_operations", ctypes.c_uint64),
        ("divergent_simd_operations", ctypes.c_uint64),
    ]  # fmt: skip


class Library:
    """Checked and compiled source. Made by compile_msl_library."""

    def __init__(self, kernels: Sequence[KernelSignature], path: Any, runtime: Runtime):
        self.kernels = {kernel.name: kernel for kernel in kernels}
        self.runtime = runtime
        self._dll = ctypes.CDLL(str(path))
        machine_code = path.read_bytes()
        # a kernel of this library may wait for others: each thread needs a fiber
        self._waits = b"__msl_barrier" in machine_code or b"__msl_simd_" in machine_code
        # threadgroup variables are all that .bss holds: program-scope ones are constant, no C run-time is linked in
        offset, self.static_nbytes = _find_section(machine_code, b".bss")
        if self.static_nbytes > MAX_THREADGROUP_NBYTES:
            raise MslError(f"{self.static_nbytes} bytes of threadgroup memory, limit {MAX_THREADGROUP_NBYTES}")
        self._static_memory = _load_address(self._dll) + offset

    def place(self, data: Any, label: str = "a buffer") -> DeviceBuffer:
        """Device memory with the bytes of an array or scalar."""
        return DeviceBuffer.holding(self.runtime, data, label)

    def run(
        self,
        kernel: str,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        buffers: Sequence[Any],
        *,
        threads: int | Sequence[int] | None = None,
        threadgroup_nbytes: Sequence[int] = (),
        resident: Sequence[DeviceBuffer] = (),
        **options: Any,
    ) -> list[Any]:
        """Dispatch `grid` blocks of `block` threads; buffers[i] goes to [[buffer(i)]]. Returns what each holds after.

        A DeviceBuffer stays where it is, None leaves an index free; arrays and scalars are copied in and out.
        threads: the grid in threads where the last blocks are smaller, instead of `grid`. threadgroup_nbytes[i]: size
        of [[threadgroup(i)]]. resident: buffers that only pointers in other buffers lead to. options: fields of
        RunOptions. Raises KernelFault.
        """
        bound = {
            i: data if isinstance(data, DeviceBuffer) else DeviceBuffer.holding(self.runtime, data, f"buffer {i}")
            for i, data in enumerate(buffers)
            if data is not None
        }
        params = [p for p in self.kernels[kernel].params if p.attribute == "buffer"]
        missing = [p.index for p in params if p.index not in bound]
        if missing:
            raise ValueError(f"kernel {kernel}: no buffer for index {missing}")
        constant = {p.index for p in params if p.space == "constant"}
        access = {bound[i]: ACCESS_READ if i in constant else ACCESS_READ_WRITE for i in bound}
        access.update((buffer, ACCESS_READ_WRITE) for buffer in resident)
        block = _dim3(block)
        total = _dim3(threads) if threads is not None else _product(_dim3(grid), block)
        self.dispatch(
            kernel,
            total,
            block,
            {i: buffer.address for i, buffer in bound.items()},
            dict(enumerate(threadgroup_nbytes)),
            access,
            RunOptions(**options),
        )
        return [_read_back(bound.get(i), data) for i, data in enumerate(buffers)]

    def dispatch(
        self,
        kernel: str,
        threads: Dim3,
        block: Dim3,
        addresses: Mapping[int, int],
        threadgroup_nbytes: Mapping[int, int],
        access: Mapping[DeviceBuffer, int],
        options: RunOptions,
    ) -> RunStats:
        """Dispatch with addresses at buffer indices. access: what kernels may do to which buffers meanwhile.

        Raises KernelFault, ValueError for more than MAX_THREADS threads in a block.
        """
        if not 0 < block[0] * block[1] * block[2] <= MAX_THREADS:
            raise ValueError(f"block {block} must have 1 to {MAX_THREADS} threads")
        sizes = {i: -(-nbytes // 16) * 16 for i, nbytes in threadgroup_nbytes.items()}
        scratch = DeviceBuffer(self.runtime, sum(sizes.values()), "threadgroup memory")
        signature = self.kernels[kernel]
        slots = (ctypes.c_uint64 * max(1, len(signature.params)))()
        for slot, param in enumerate(signature.params):
            if param.attribute == "buffer":
                slots[slot] = addresses[param.index or 0]
            elif param.attribute == "threadgroup":
                slots[slot] = scratch.address + sum(sizes[i] for i in sizes if i < (param.index or 0))
        dispatch = self._describe(kernel, threads, block, options)
        dispatch.args = ctypes.addressof(slots)
        dispatch.dynamic_memory, dispatch.dynamic_nbytes = scratch.address, scratch.nbytes
        opened = {**access, scratch: ACCESS_READ_WRITE}
        with self.runtime.lock:
            try:
                for buffer, allowed in opened.items():
                    buffer.protect(allowed)
                self.runtime.dll.msl_run(ctypes.byref(dispatch))
            finally:
                for buffer in opened:
                    buffer.protect(ACCESS_NONE)
        self._raise_fault(kernel, dispatch, list(opened))
        return RunStats(dispatch.barriers, dispatch.simd_operations, dispatch.divergent_simd_operations)

    def _describe(self, kernel: str, threads: Dim3, block: Dim3, options: RunOptions) -> _Dispatch:
        rows = not self._waits and not options.force_fibers and options.order == "forward"
        return _Dispatch(
            thread_entry=self._address(thread_symbol(kernel)),
            row_entry=self._address(row_symbol(kernel)) if rows else None,
            grid=(ctypes.c_uint32 * 3)(*threads),
            group=(ctypes.c_uint32 * 3)(*block),
            static_memory=self._static_memory,
            static_nbytes=self.static_nbytes,
            order=_ORDERS.index(options.order),
            seed=options.seed,
            stack_nbytes=options.stack_nbytes,
            timeout_ms=int(options.timeout_s * 1000),
            flush_subnormals=options.flush_subnormals,
            ended_threads_arrive=options.ended_threads_arrive,
        )

    def _address(self, symbol: str) -> int | None:
        return ctypes.cast(getattr(self._dll, symbol), ctypes.c_void_p).value

    def _raise_fault(self, kernel: str, dispatch: _Dispatch, buffers: Iterable[DeviceBuffer]) -> None:
        row = "the row from " if dispatch.row_entry else ""
        thread, group = list(dispatch.fault_position), list(dispatch.fault_group)
        who = f"kernel {kernel}, {row}thread {thread} of threadgroup {group}"
        if dispatch.end == _END_DIVERGED:
            raise KernelFault(f"{who}: waits at a barrier that other threads of its threadgroup never reach")
        if dispatch.end == _END_TIMEOUT:
            raise KernelFault(f"{who}: still running at the time-out")
        if dispatch.end == _END_NO_MEMORY:
            raise KernelFault(f"kernel {kernel}: no memory for the stacks")
        if dispatch.end == _END_FAULT:
            name = _SIGNAL_TEXTS.get(dispatch.signal, str(dispatch.signal))
            places = [place for b in buffers if (place := b.describe_fault(dispatch.fault_address))]
            where = f" at {places[0]}" if places else f" at address {dispatch.fault_address:#x}"
            is_access = dispatch.signal in (signal.SIGSEGV, signal.SIGBUS)
            raise KernelFault(f"{who}: {name}{where if is_access else ''}")
        for buffer in buffers:
            if buffer.is_overrun:
                raise KernelFault(f"kernel {kernel}: write past the end of {buffer.label} ({buffer.nbytes} bytes)")


_SIGNAL_TEXTS = {
    signal.SIGSEGV: "SIGSEGV, access to memory that is not open to it",
    signal.SIGBUS: "SIGBUS",
    signal.SIGILL: "SIGILL, undefined behaviour",
    signal.SIGTRAP: "SIGTRAP, undefined behaviour",
    signal.SIGFPE: "SIGFPE, integer division",
}


def compile_msl_library(
    source: str,
    msl_version: tuple[int, int] = (3, 1),
    math_mode: MathMode = "safe",
    *,
    trap_undefined: bool = False,
    toolchain: Toolchain | None = None,
) -> Library:
    """Check and compile MSL text. msl_version: (major, minor). trap_undefined: undefined behaviour is a KernelFault.

    Raises MslError that lists what is wrong.
    """
    toolchain = toolchain or find_toolchain()
    report = check_msl(source, msl_version, toolchain)
    if not report.ok:
        raise MslError(str(report))
    build = Build(msl_version, _math_mode_of(source) or math_mode, trap_undefined)
    text = f'#line 1 "msl"\n{translate_pragmas(source)}{write_thunks(report.kernels)}'
    return Library(report.kernels, toolchain.build_kernels(text, build), load_runtime(toolchain))


def _math_mode_of(source: str) -> MathMode | None:
    """What the source's own pragma says, which goes before the host's choice."""
    found = re.search(r"(?m)^\s*#\s*pragma\s+METAL\s+fp\s+math_mode\((safe|relaxed|fast)\)", source)
    modes: dict[str, MathMode] = {"safe": "safe", "relaxed": "relaxed", "fast": "fast"}
    return modes[found[1]] if found else None


def _dim3(size: int | Sequence[int]) -> Dim3:
    x, y, z = (*([size] if isinstance(size, int) else size), 1, 1)[:3]
    return x, y, z


def _product(a: Dim3, b: Dim3) -> Dim3:
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


def _read_back(buffer: DeviceBuffer | None, data: Any) -> Any:
    if buffer is None or isinstance(data, DeviceBuffer):
        return data
    like = np.asarray(data)
    return np.frombuffer(buffer.host.tobytes(), like.dtype).reshape(like.shape).copy()


def _find_section(elf: bytes, name: bytes) -> tuple[int, int]:
    """(address, size) of a section of a 64-bit little-endian ELF file (System V ABI, "Sections"); (0, 0) if absent."""
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    entry_nbytes, count, names_index = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + i * entry_nbytes) for i in range(count)]
    names = headers[names_index][4]
    return next(((h[3], h[5]) for h in headers if elf[names + h[0] :].startswith(name + b"\0")), (0, 0))


class _SymbolInfo(ctypes.Structure):
    """Dl_info of dladdr(3)."""

    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


@functools.cache
def _dladdr() -> Any:
    function = ctypes.CDLL(None).dladdr
    function.argtypes = [ctypes.c_void_p, ctypes.POINTER(_SymbolInfo)]
    return function


def _load_address(dll: ctypes.CDLL) -> int:
    info = _SymbolInfo()
    _dladdr()(ctypes.cast(getattr(dll, ANCHOR), ctypes.c_void_p), ctypes.byref(info))
    return info.base or 0
