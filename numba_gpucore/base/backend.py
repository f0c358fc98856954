"""Where a program runs: the contract that every back-end fills. Before: base records. After: launch, compile.

Hot half (`Device`, `Program`, `Memory`): imported to launch. Cold half (`Codegen`): imported on a miss only, by the
name in `Backend.codegen`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from numba_gpucore.base.artifact import Artifact
from numba_gpucore.base.params import round_up
from numba_gpucore.base.print_ring import TakenPrints
from numba_gpucore.base.records import dataclass

Dim3 = tuple[int, int, int]


@dataclass(frozen=True)
class Limits:
    """What a launch may ask for. Sizes in bytes; extents in threads or blocks."""

    max_threads_per_block: int
    max_block: Dim3
    max_grid: Dim3
    max_shared_nbytes: int
    warp_size: int = 32
    multiprocessor_count: int = 1


@dataclass(frozen=True)
class LaunchConfig:
    """A checked launch shape. `dynamic_shared_nbytes` comes on top of the kernel's static shared memory."""

    grid: Dim3
    block: Dim3
    dynamic_shared_nbytes: int = 0


def whole_words(nbytes: int) -> int:
    """`nbytes` rounded up to whole 32-bit words: atomics on narrower numbers change the word that holds them."""
    return round_up(nbytes, 4)


class Memory(Protocol):
    """A block of device memory. `address` is what kernels see. Released when garbage collected or by `release()`."""

    @property
    def address(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def release(self) -> None: ...


class Program(Protocol):
    """A loaded kernel, ready to launch. `number` is what its threads write into the mailbox."""

    @property
    def artifact(self) -> Artifact: ...
    @property
    def number(self) -> int: ...


class Queue(Protocol):
    """A stream as the device sees it: work runs in order. Made by `Device.open_queue`.

    Some have `runs_here() -> bool`, which is looked for by name: whether the queue's own work asks, for which
    `synchronize` does not wait."""

    def synchronize(self) -> None:
        """Wait until all work given so far has ended. Does not look at the mailbox."""

    def is_idle(self) -> bool: ...

    def call(self, function: Callable[[], Any]) -> None:
        """Run a Python function after the work given so far, in order with it."""


class Mark(Protocol):
    """An event as the device sees it; not recorded, it counts as passed."""

    def record(self, queue: Any) -> None:
        """Put the mark behind the work given to `queue` so far."""

    def is_over(self) -> bool: ...

    def synchronize(self) -> None:
        """Wait for the mark. Does not look at the mailbox."""

    def hold_back(self, queue: Any) -> None:
        """Let later work of `queue` start only after this mark; the host does not wait."""

    def elapsed_ms(self, end: Any) -> float:
        """Milliseconds from this mark, which has passed, to `end`, which has too."""
        ...


class HostMemory(Memory, Protocol):
    """Memory that the host sees too, at `host_address`."""

    @property
    def host_address(self) -> int: ...


class Device(Protocol):
    """One device. Thread-safe. `queue=None` means the default stream.

    GPUs may have more, which is looked for by name: `open_event(timing) -> Mark` with `default_queue() -> Queue`,
    `allocate_pinned(nbytes, write_combined)` and `allocate_managed(nbytes) -> HostMemory`,
    `page_lock(address, nbytes) -> Callable` that unlocks; and their programs `suggested_block(shared_nbytes, limit)`.

    `uses_host_memory`: kernels can work on NumPy memory in place, so host arrays are passed without a copy, and work
    on the default stream has ended when the call that gave it returns.
    `checks_bounds`: bounds checks are on where the user said nothing.
    """

    kind: str
    index: int
    name: str
    arch: str
    limits: Limits
    uses_host_memory: bool
    checks_bounds: bool

    def allocate(self, nbytes: int) -> Memory:
        """Zero-size allocations are valid. GPUs hold `whole_words(nbytes)`. Raises DeviceMemoryError."""

    def share_host_memory(self, data: memoryview) -> Memory | None:
        """Device memory that is these host bytes themselves and keeps them alive; None where kernels cannot work on
        them in place, and the caller copies."""

    def write(self, memory: Memory, offset_nbytes: int, data: memoryview, queue: Queue | None) -> None:
        """Copy host bytes to the device, in order on `queue`; `data` may be reused once the queue has synchronised."""

    def read(self, memory: Memory, offset_nbytes: int, data: memoryview, queue: Queue | None) -> None:
        """Copy device bytes into writable host memory, in order on `queue`."""

    def load(self, artifact: Artifact) -> Program: ...

    def launch(self, program: Program, config: LaunchConfig, params: bytes, queue: Queue | None) -> None:
        """Start a kernel; `params` is laid out by `base.params` and copied. The caller keeps argument memory alive
        until the queue has synchronised. Raises LaunchError where the program needs more than the device has."""

    def open_queue(self) -> Queue: ...

    def synchronize(self) -> None:
        """Wait for all queues. Does not look at the mailbox."""

    def take_mailbox(self, queue: Queue | None = None) -> bytes:
        """Return a mailbox's bytes and reset it, if any thread of the queue's launches threw; else bytes of zero. None:
        of any launch, since who waits for the default stream waits for all. Cheap; never waits."""

    def take_prints(self) -> TakenPrints:
        """Take what threads printed. Asked only where a loaded program has `print_lines`. Never waits."""

    def program_of(self, number: int) -> Program | None:
        """The loaded program that has this number."""


class Codegen(Protocol):
    """The cold half of a back-end. `module` is an llvmlite ModuleRef, which the callee may change; `job` a `Job`.

    `links_nvidia_code`: it defines `gpu.libdevice.*` and `gpu.foreign.*`; others get modules with such functions of
    libdevice as have a counterpart, and never see the latter.
    """

    links_nvidia_code: bool

    def legalize(self, module: Any, job: Any) -> Any:
        """Link definitions of the neutral intrinsics, inline, optimise for the device. Returns the program: `module`
        itself or another in its place."""

    def emit(self, module: Any, job: Any) -> str:
        """The readable form of the program: MSL, PTX or LLVM assembly. Deterministic."""

    def assemble(self, text: str, job: Any) -> bytes:
        """What `Device.load` takes. Raises ToolchainError, keeping its input on disk."""

    def facts(self, module: Any, job: Any) -> tuple[tuple[str, int], ...]:
        """The Artifact's `backend_facts`, known after `legalize`."""


T_co = TypeVar("T_co", bound=Device, covariant=True)


@dataclass(frozen=True)
class Backend:
    """A way to run programs: "metal", "cuda" or "cpu".

    launch_abi: raised whenever Artifacts made before can no longer be launched. toolchain_id: cheap text naming every
    tool that decides the machine code (part of the cache key). count_devices: 0 where there is no such hardware or
    its vendor package is missing. codegen: "module:NAME" of the Codegen, imported on a miss. parse_arch: from what
    users write for an architecture, such as a compute capability, to its name in a CompileRequest; raises OptionError.
    older_archs: whose Artifacts an architecture may run too, best first. runs_on: whether it runs this one of those.
    checks_bounds: as its devices say. language: Pygments' name of what its Codegen emits. default_arch: whose text is
    shown to who has none of its devices and names no other.
    """

    kind: str
    launch_abi: int
    toolchain_id: Callable[[], str]
    count_devices: Callable[[], int]
    open_device: Callable[[int], Device]
    codegen: str
    parse_arch: Callable[[Any], str] = str
    older_archs: Callable[[str], tuple[str, ...]] = lambda arch: ()
    runs_on: Callable[[Artifact, str], bool] = lambda artifact, arch: True
    checks_bounds: bool = False
    language: str = "llvm"
    default_arch: str = ""
