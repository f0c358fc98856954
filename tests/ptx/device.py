"""A CUDA device that is the PTX machine: `base.backend.Device` for tests. Before: tests. After: machine.

`PLATFORM` is the target "ptxplus" with this device instead of a GPU, so that the ordinary path is tested: types, cache
key, compiling to PTX, ptxas, marshalling, launch, mailbox, copies back.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from numba_gpucore.base.artifact import Artifact
from numba_gpucore.base.backend import LaunchConfig, Limits
from numba_gpucore.base.channels import Channels
from numba_gpucore.base.mailbox import MAILBOX_NBYTES
from numba_gpucore.base.print_ring import CHANNEL_NBYTES, TakenPrints, take_prints
from numba_gpucore.launch import session
from numba_gpucore.launch.platform import Platform
from numba_ptxplus import driver
from numba_ptxplus.driver.abi import (
    FACT_COOPERATIVE,
    FACT_THROWS,
    PROGRAM_VARIABLE,
    DeviceCode,
    add_mailbox,
    whole_vectors,
)
from numba_ptxplus.target import TARGET
from tests.ptx.machine import GlobalMemory, PtxMachine

#: Of an H200 (CUDA C++ Programming Guide, "Compute Capabilities", 9.0).
LIMITS = Limits(
    max_threads_per_block=1024,
    max_block=(1024, 1024, 64),
    max_grid=(2**31 - 1, 65535, 65535),
    max_shared_nbytes=227 * 1024,
    multiprocessor_count=132,
)


class PtxMemory:
    """An allocation of the machine; given back when garbage collected."""

    def __init__(self, memory: GlobalMemory, nbytes: int):
        self.address = memory.allocate(whole_vectors(nbytes))
        self.nbytes = nbytes
        self._release = weakref.finalize(self, memory.release, self.address)

    def release(self) -> None:
        self._release()


@dataclass(frozen=True)
class PtxProgram:
    artifact: Artifact
    number: int
    machine: PtxMachine


class PtxChannel:
    """A base.channels.Channel in the machine's memory."""

    def __init__(self, memory: GlobalMemory):
        self._machine_memory = memory
        self.memory = PtxMemory(memory, CHANNEL_NBYTES)
        memory.write(self.memory.address, bytes(CHANNEL_NBYTES))

    def has_report(self) -> bool:
        return any(self._machine_memory.read(self.memory.address, 4))

    def take_mailbox(self) -> bytes:
        data = self._machine_memory.read(self.memory.address, MAILBOX_NBYTES)
        self._machine_memory.write(self.memory.address, bytes(MAILBOX_NBYTES))
        return data

    def take_prints(self) -> TakenPrints:
        channel = bytearray(self._machine_memory.read(self.memory.address, CHANNEL_NBYTES))
        taken = take_prints(memoryview(channel))
        self._machine_memory.write(self.memory.address, bytes(channel))
        return taken


class PtxQueue:
    """Work runs when it is given."""

    channel: PtxChannel

    def synchronize(self) -> None:
        pass

    def is_idle(self) -> bool:
        return True

    def call(self, function: Callable[[], Any]) -> None:
        function()


@dataclass(eq=False)
class PtxDevice:
    """Fills `base.backend.Device`."""

    kind: str = "cuda"
    index: int = 0
    name: str = "PTX machine"
    arch: str = "sm_90"
    limits: Limits = LIMITS
    uses_host_memory: bool = False
    checks_bounds: bool = False
    memory: GlobalMemory = field(default_factory=GlobalMemory)
    programs: dict[int, PtxProgram] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._channels = Channels(lambda: PtxChannel(self.memory))
        self._numbers = itertools.count(1)

    def allocate(self, nbytes: int) -> PtxMemory:
        return PtxMemory(self.memory, nbytes)

    def share_host_memory(self, data: memoryview) -> None:
        """Its memory is the machine's own."""

    def write(self, memory: PtxMemory, offset_nbytes: int, data: memoryview, queue: PtxQueue | None) -> None:
        self.memory.write(memory.address + offset_nbytes, np.frombuffer(data, np.uint8))

    def read(self, memory: PtxMemory, offset_nbytes: int, data: memoryview, queue: PtxQueue | None) -> None:
        target = np.frombuffer(data, np.uint8)
        target[:] = np.frombuffer(self.memory.read(memory.address + offset_nbytes, target.size), np.uint8)

    def load(self, artifact: Artifact) -> PtxProgram:
        machine = PtxMachine(DeviceCode.unpack(artifact.code).ptx, self.memory)
        program = PtxProgram(artifact, next(self._numbers), machine)
        self.programs[program.number] = program
        if artifact.fact(FACT_THROWS):
            self.memory.write(machine.address_of(PROGRAM_VARIABLE), program.number.to_bytes(8, "little"))
        return program

    def launch(self, program: PtxProgram, config: LaunchConfig, params: bytes, queue: PtxQueue | None) -> None:
        artifact = program.artifact
        is_cooperative = bool(artifact.fact(FACT_COOPERATIVE))
        if artifact.fact(FACT_THROWS):
            channel = self._channels.default if queue is None else queue.channel
            params = add_mailbox(params, channel.memory.address)
        program.machine.launch(
            artifact.entry, config.grid, config.block, params, config.dynamic_shared_nbytes, is_cooperative
        )

    def open_queue(self) -> PtxQueue:
        queue = PtxQueue()
        queue.channel = self._channels.lend(queue)
        return queue

    def synchronize(self) -> None:
        pass

    def take_mailbox(self, queue: PtxQueue | None = None) -> bytes:
        return self._channels.take_mailbox(None if queue is None else queue.channel)

    def take_prints(self) -> TakenPrints:
        return self._channels.take_prints()

    def program_of(self, number: int) -> PtxProgram | None:
        return self.programs.get(number)


BACKEND = replace(
    driver.BACKEND,
    count_devices=lambda: 1,
    open_device=lambda index: PtxDevice(index=index),  # type: ignore[arg-type,return-value]
)
PLATFORM = Platform(TARGET, (("cuda", f"{__name__}:BACKEND"), ("cpu", "numba_gpucore.cpu:BACKEND")))


def use_device(patch: pytest.MonkeyPatch, device: Any, **environ: str) -> session.Session:
    """Give a test a session of its own in which kernels of PLATFORM run on `device`, a PtxDevice or the driver's."""
    own_session = session.Session(environ)
    own_session._devices[PLATFORM.backend_path("cuda"), 0] = device
    patch.setattr(session, "_default", own_session)
    return own_session
