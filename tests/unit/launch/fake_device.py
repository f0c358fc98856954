"""Devices for tests of the launch half: they note what they are given, and run a Python function as the kernel.

`HOST` works on NumPy memory in place, like the CPU device; `REMOTE` has memory of its own, at addresses that mean
nothing on the host, like a GPU.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from numba_gpucore.base.artifact import Artifact, CompileRequest
from numba_gpucore.base.backend import Backend, LaunchConfig, Limits
from numba_gpucore.base.mailbox import MAILBOX_NBYTES
from numba_gpucore.base.target import Target
from numba_gpucore.launch.platform import Platform

LIMITS = Limits(max_threads_per_block=256, max_block=(256, 256, 64), max_grid=(2**31 - 1, 65535, 65535),
                max_shared_nbytes=1024)  # fmt: skip


class FakeMemory:
    """Bytes at a made-up address, or at their real one."""

    _next_address = itertools.count(1 << 40, 1 << 20)

    def __init__(self, nbytes: int, on_host: bool):
        self.bytes = np.zeros(max(nbytes, 1), np.uint8)
        self.nbytes = nbytes
        self.address = self.bytes.ctypes.data if on_host else next(self._next_address)
        self.is_released = False

    def release(self) -> None:
        self.is_released = True


@dataclass
class FakeProgram:
    artifact: Artifact
    number: int


class FakeQueue:
    """Work runs at once, or when synchronized if `is_lazy`."""

    def __init__(self, is_lazy: bool = False):
        self.is_lazy = is_lazy
        self.work: list[Callable[[], Any]] = []

    def call(self, function: Callable[[], Any]) -> None:
        self.work.append(function)
        if not self.is_lazy:
            self.synchronize()

    def synchronize(self) -> None:
        while self.work:
            self.work.pop(0)()

    def is_idle(self) -> bool:
        return not self.work


@dataclass(eq=False)
class FakeDevice:
    uses_host_memory: bool
    kind: str = "fake"
    index: int = 0
    name: str = "Fake Device"
    arch: str = "fake1"
    limits: Limits = LIMITS
    checks_bounds: bool = True
    memories: list[FakeMemory] = field(default_factory=list)
    programs: list[FakeProgram] = field(default_factory=list)
    launches: list[tuple[FakeProgram, LaunchConfig, bytes]] = field(default_factory=list)
    mailbox: bytes = bytes(MAILBOX_NBYTES)
    synchronized: int = 0
    kernel: Callable[[FakeDevice, bytes], None] | None = None

    def allocate(self, nbytes: int) -> FakeMemory:
        self.memories.append(FakeMemory(nbytes, self.uses_host_memory))
        return self.memories[-1]

    def share_host_memory(self, data: memoryview) -> None:
        """Host arrays are copied."""

    def write(self, memory: FakeMemory, offset_nbytes: int, data: memoryview, queue: FakeQueue | None) -> None:
        place = self._place(memory, offset_nbytes, data)
        self._run(queue, lambda: np.copyto(place, np.frombuffer(data, np.uint8)))

    def read(self, memory: FakeMemory, offset_nbytes: int, data: memoryview, queue: FakeQueue | None) -> None:
        place = self._place(memory, offset_nbytes, data)
        self._run(queue, lambda: np.copyto(np.frombuffer(data, np.uint8), place))

    @staticmethod
    def _place(memory: FakeMemory, offset_nbytes: int, data: memoryview) -> np.ndarray:
        assert 0 <= offset_nbytes and offset_nbytes + data.nbytes <= memory.nbytes
        return memory.bytes[offset_nbytes : offset_nbytes + data.nbytes]

    @staticmethod
    def _run(queue: FakeQueue | None, work: Callable[[], Any]) -> None:
        if queue is None:
            work()
        else:
            queue.call(work)

    def bytes_at(self, address: int) -> np.ndarray:
        """The content of the memory that starts at an address, as uint8."""
        (found,) = (m for m in self.memories if m.address == address and not m.is_released)
        return found.bytes[: found.nbytes]

    def load(self, artifact: Artifact) -> FakeProgram:
        self.programs.append(FakeProgram(artifact, len(self.programs)))
        return self.programs[-1]

    def launch(self, program: FakeProgram, config: LaunchConfig, params: bytes, queue: FakeQueue | None) -> None:
        self.launches.append((program, config, params))
        kernel = self.kernel
        if kernel is not None:
            self._run(queue, lambda: kernel(self, params))

    def open_queue(self) -> FakeQueue:
        return FakeQueue()

    def synchronize(self) -> None:
        self.synchronized += 1

    def take_mailbox(self, queue: Any = None) -> bytes:
        taken, self.mailbox = self.mailbox, bytes(MAILBOX_NBYTES)
        return taken

    def program_of(self, number: int) -> FakeProgram | None:
        return self.programs[number] if number < len(self.programs) else None

    def throw(self, site: int = 0, count: int = 1, numbers: tuple[int, ...] = (), details: bool = True) -> None:
        """Fill the mailbox as thread (7, 0, 0) of block (3, 0, 0), running the program loaded last, would."""
        program = len(self.programs) - 1
        four = (*numbers, 0, 0, 0, 0)[:4]
        self.mailbox = struct.pack("<4I3I3IQ4Q", count, 1, site, details, 3, 0, 0, 7, 0, 0, program, *four)


def _backend(uses_host_memory: bool) -> Backend:
    return Backend(
        kind="fake",
        launch_abi=1,
        toolchain_id=lambda: "none",
        count_devices=lambda: 2,
        open_device=lambda index: FakeDevice(uses_host_memory, index=index),  # type: ignore[arg-type,return-value]
        codegen="none:NONE",
    )


HOST = _backend(True)
REMOTE = _backend(False)


def platform(name: str) -> Platform:
    """A platform whose only back-end is HOST or REMOTE."""
    target = Target(f"tests-{name.lower()}", "tests", ("fake",), "TESTS_DEVICE")
    return Platform(target, (("fake", f"{__name__}:{name}"),))


def artifact_for(request: CompileRequest, shared_nbytes: int = 0, sites: tuple[Any, ...] = ()) -> Artifact:
    """What a compiler would answer, without code."""
    return Artifact(
        kernel_name=request.py_func.__qualname__, entry="entry", backend=request.backend, arch=request.arch,
        launch_abi=request.launch_abi, arg_types=request.arg_types, code=b"", shared_nbytes=shared_nbytes, sites=sites,
    )  # fmt: skip
