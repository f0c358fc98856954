"""What a process has open: devices, and which of them targets use. Before: settings. After: Kernel, arrays, streams.

`default_session()` is the one object of its kind in a process.
"""

from __future__ import annotations

import importlib
import operator
import os
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from weakref import ReferenceType, WeakValueDictionary, ref

from numba_gpucore.base.backend import Backend, Device, Program, Queue
from numba_gpucore.base.errors import ArgumentError, DeviceError, LaunchError, OptionError
from numba_gpucore.base.records import dataclass
from numba_gpucore.base.settings import Settings
from numba_gpucore.launch.launch_config import CompilingLaunch
from numba_gpucore.launch.platform import Platform
from numba_gpucore.launch.store import KernelStore
from numba_gpucore.launch.streams import Held, Stream

if TYPE_CHECKING:
    from numba_gpucore.launch.printing import PrintDrain

_NO_THROW = bytes(4)


@dataclass(frozen=True)
class ProgramSource:
    """Whose code a loaded program is. adds_cuda_place: also tell the place as numba.cuda does with debug=True.
    checks_unasked: bounds are checked because the device does so, and nobody asked for it."""

    py_func: Callable[..., Any]
    adds_cuda_place: bool = False
    checks_unasked: bool = False


@dataclass(frozen=True)
class _StreamWork:
    """What lives as long as work of a stream may run, whoever lets go of the stream."""

    stream: ReferenceType[Stream]
    queue: Queue
    held: dict[int, Held]


class Session:
    """Devices are opened when first used, and forgotten in a forked child, which opens its own. A fork waits for
    compilations in other threads.

    A target's device is that of the thread's last `select_device`, else the first device of the first back-end that
    has one. The environment variable `target.device_variable` narrows the back-ends to one; "auto" takes all.
    defers_declared: decorators do not compile declared signatures, since whoever imports them does (`warm`).
    """

    def __init__(self, environ: Mapping[str, str] = os.environ):
        self._environ = environ
        self.settings = Settings.from_environment(environ)
        self.compiling = CompilingLaunch()
        self.store = KernelStore(self.settings, may_keep=lambda: not self.compiling.is_sensitive)
        self.defers_declared = False
        self._forget_devices()

    def _forget_devices(self) -> None:
        self.miss_lock = threading.RLock()
        self._devices: dict[tuple[str, int], Device] = {}
        self._defaults: dict[str, Device] = {}
        self._selected = threading.local()
        self._streams: dict[Device, Stream] = {}
        self._opened_streams: WeakValueDictionary[int, Stream] = WeakValueDictionary()
        self._work: dict[int, _StreamWork] = {}
        self._sources: dict[tuple[Device, int], ProgramSource] = {}
        self._drains: dict[Device, PrintDrain] = {}

    def backend(self, platform: Platform, kind: str) -> Backend:
        """The back-end of that name, imported now if need be."""
        module, _, name = platform.backend_path(kind).partition(":")
        backend: Backend = getattr(importlib.import_module(module), name)
        return backend

    def backend_of(self, platform: Platform, device: Device) -> Backend:
        """The back-end of a device. Raises LaunchError where the target has no such back-end."""
        target = platform.target
        if device.kind not in target.backends:
            raise LaunchError(
                f"kernels of {target.package} cannot run on {device.name} ({device.kind}); "
                f"they run on {', '.join(target.backends)}: make stream and arrays with {target.package}"
            )
        return self.backend(platform, device.kind)

    def open_device(self, platform: Platform, kind: str, index: int = 0) -> Device:
        """The device of that back-end and index; the same object each time. Raises DeviceError, ArgumentError."""
        try:
            index = operator.index(index)
        except TypeError:
            raise ArgumentError(f"a device is told by its number, from 0 on, not by {index!r}") from None
        path = platform.backend_path(kind)
        with self.miss_lock:
            if (path, index) not in self._devices:
                backend = self.backend(platform, kind)
                count = backend.count_devices()
                if not 0 <= index < count:
                    raise DeviceError(f"there is no {kind} device {index}: this machine has {count}")
                self._devices[path, index] = backend.open_device(index)
            return self._devices[path, index]

    def backend_kind(self, platform: Platform) -> str:
        """The back-end that a target uses here: what its environment variable says, else the first with a device."""
        target = platform.target
        allowed = ("auto", *target.backends)
        wanted = self._environ.get(target.device_variable, "").strip().lower() or "auto"
        if wanted not in allowed:
            raise OptionError(f"{target.device_variable} must be one of {', '.join(allowed)}, not {wanted!r}")
        kinds = target.backends if wanted == "auto" else (wanted,)
        for kind in kinds:
            if self.backend(platform, kind).count_devices() > 0:
                return kind
        raise DeviceError(
            f"{target.package} found no {' or '.join(kinds)} device; "
            f"{target.device_variable}=auto takes {target.backends[-1]} where there is no other"
        )

    def count_devices(self, platform: Platform) -> int:
        return self.backend(platform, self.backend_kind(platform)).count_devices()

    def current_device(self, platform: Platform) -> Device:
        """The device on which this thread's launches and allocations for a target take place."""
        name = platform.target.name
        selected: Device | None = getattr(self._selected, name, None)
        if selected is not None:
            return selected
        try:
            return self._defaults[name]
        except KeyError:
            return self._defaults.setdefault(name, self.open_device(platform, self.backend_kind(platform)))

    def select_device(self, platform: Platform, index: int) -> Device:
        """Make this thread use another device of the target's back-end. Raises DeviceError."""
        device = self.open_device(platform, self.backend_kind(platform), index)
        setattr(self._selected, platform.target.name, device)
        return device

    def unselect_device(self, platform: Platform) -> None:
        """Let this thread use the default device again."""
        setattr(self._selected, platform.target.name, None)

    def default_stream(self, device: Device) -> Stream:
        try:
            return self._streams[device]
        except KeyError:
            return self._streams.setdefault(device, Stream(device, None, self.raise_pending))

    def open_stream(self, device: Device) -> Stream:
        self._let_go_of_ended_work()
        stream = self._make_stream(device, device.open_queue())
        self._opened_streams[stream.handle] = stream
        return stream

    def _make_stream(self, device: Device, queue: Queue, external: bool = False) -> Stream:
        stream = Stream(device, queue, self.raise_pending, external)
        self._work[id(stream.held)] = _StreamWork(ref(stream), queue, stream.held)
        return stream

    def _let_go_of_ended_work(self) -> None:
        """Let go of what streams hold for work that has ended, and of streams without owner that have no other. A list,
        which is made in one step: other threads open streams meanwhile."""
        for work in list(self._work.values()):
            try:
                stream = work.stream()
                if stream is not None:
                    stream.let_go_if_idle()
                    del stream  # arrays that it held may have been all that kept it
                if work.stream() is None and work.queue.is_idle():
                    self._work.pop(id(work.held), None)
            except DeviceError:
                pass  # the device has failed, which who waits for it is told with what threads threw before

    def find_stream(self, device: Device, handle: int) -> Stream:
        """The stream that another package, or `Stream.handle`, names so. Raises ArgumentError for one that is unknown.

        0, 1 and 2 are the default streams of the CUDA Array Interface, which are one here.
        """
        if handle in (0, 1, 2):
            return self.default_stream(device)
        known = self._opened_streams.get(handle)
        if known is not None and known.queue is not None:
            return self._make_stream(known.device, known.queue, external=True)
        wrap = getattr(device, "wrap_stream", None)
        if wrap is None:
            raise ArgumentError(f"{handle:#x} is no stream of {device.name}; pass the handle of one made by stream()")
        return Stream(device, wrap(handle), self.raise_pending, external=True)

    def synchronize(self, device: Device) -> None:
        """Wait for all work of a device, then raise what its threads threw."""
        self.default_stream(device).synchronize()

    def note_source(self, device: Device, program: Program, source: ProgramSource) -> None:
        """Remember whose code a program is, so that exceptions can name it."""
        self._sources[device, program.number] = source
        if program.artifact.print_lines and device not in self._drains:
            from numba_gpucore.launch.printing import PrintDrain  # noqa: PLC0415  0.2 ms, for kernels that print

            self._drains[device] = PrintDrain(device)

    def raise_pending(self, device: Device, queue: Queue | None = None) -> None:
        """Write out what kernel threads printed and raise what those of the queue's launches threw since this was last
        asked, None: those of any launch. Never waits."""
        if self._work:
            self._let_go_of_ended_work()
        if device in self._drains:
            self._drains[device].write_out()
        mailbox = device.take_mailbox(queue)
        if mailbox[:4] != _NO_THROW:
            from numba_gpucore.launch.raising import raise_from_mailbox  # noqa: PLC0415  0.3 ms, where threads threw

            raise_from_mailbox(mailbox, device, self._sources)


#: How long a fork waits for another thread's compilation: longer than those of the largest kernels (40 s), and not for
#: ever for a lock that nobody gives back.
_FORK_WAIT_S = 60.0
_lock = threading.Lock()
_default: Session | None = None


def default_session() -> Session:
    """The session of this process, made on first use."""
    return _default or _open_default()


def _open_default() -> Session:
    global _default
    with _lock:
        if _default is None:
            session = Session()
            if hasattr(os, "register_at_fork"):
                # A child that is forked in the middle of another thread's compilation would have half a compiler.
                waits: list[bool] = []
                os.register_at_fork(
                    before=lambda: waits.append(session.miss_lock.acquire(timeout=_FORK_WAIT_S)),
                    after_in_parent=lambda: session.miss_lock.release() if waits.pop() else None,
                    after_in_child=session._forget_devices,
                )
            _default = session
        return _default
