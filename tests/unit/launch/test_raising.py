"""What threads threw arrives as the right Python exception, at the right time, once."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.errors import DeviceError
from numba_gpucore.base.site import Frame, Hole, Site
from numba_gpucore.launch.allocate import Allocator
from numba_gpucore.launch.jit import jit
from numba_gpucore.launch.raising import resolve_exception
from numba_gpucore.launch.session import Session, default_session
from numba_gpucore.launch.streams import Event
from tests.unit.launch import fake_device
from tests.unit.launch.fake_device import FakeDevice

HOST = fake_device.platform("HOST")
REMOTE = fake_device.platform("REMOTE")
FRAME = Frame("kernel", "/somewhere/code.py", 10, 2)
BOUNDS = Site("builtins:IndexError", (Hole("int"), Hole("int"), Hole("int")), FRAME, is_bounds_check=True)


class ModuleError(Exception):
    pass


def kernel(x):
    pass


def launch(monkeypatch: pytest.MonkeyPatch, thrown_at: Site, py_func: Any = kernel, **thrown: Any) -> None:
    """Launch a kernel whose threads throw at a site."""

    def compile_kernel(request: CompileRequest, *_rest: Any) -> Any:
        return fake_device.artifact_for(request, sites=(thrown_at,))

    def run(device: FakeDevice, _params: bytes) -> None:
        device.throw(**thrown)

    monkeypatch.setattr("numba_gpucore.launch.miss.compile_kernel", compile_kernel)
    default_session().current_device(HOST).kernel = run  # type: ignore[attr-defined]
    jit(HOST, py_func)[1, 1](np.zeros(3, np.uint8))


def test_bounds_check_names_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(IndexError) as caught:
        launch(monkeypatch, BOUNDS, numbers=(1024, 0, 1000), count=17)
    error: Any = caught.value
    assert str(error) == (
        "index 1024 is out of bounds for axis 0 with size 1000\n"
        "kernel 'kernel' (code.py:12), block (3, 0, 0), thread (7, 0, 0); 17 threads failed\n"
        "GPUs do not check indices, and read or write whatever is there: "
        "NUMBA_BOUNDSCHECK=0, or @jit(boundscheck=False), runs the kernel like that"
    )
    assert (error.index, error.axis, error.size) == (1024, 0, 1000)
    assert (error.block, error.thread, error.kernel, error.count) == ((3, 0, 0), (7, 0, 0), "kernel", 17)


def test_asked_for_checks_are_not_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba_gpucore.launch.session._default", Session({"NUMBA_BOUNDSCHECK": "1"}))
    with pytest.raises(IndexError) as caught:
        launch(monkeypatch, BOUNDS, numbers=(1024, 0, 1000))
    assert "NUMBA_BOUNDSCHECK" not in str(caught.value)


def test_negative_index_is_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(IndexError, match=r"^index -5 is out of bounds for axis 1 with size 4\n"):
        launch(monkeypatch, BOUNDS, numbers=(2**64 - 5, 1, 4))


def test_bounds_check_without_details(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(IndexError) as caught:
        launch(monkeypatch, BOUNDS, details=False)
    assert str(caught.value) == (
        "index is out of bounds (which index, axis and size is unknown)\n"
        "kernel 'kernel' (code.py:12), block (3, 0, 0), thread (7, 0, 0); at least 1 thread failed\n"
        "GPUs do not check indices, and read or write whatever is there: "
        "NUMBA_BOUNDSCHECK=0, or @jit(boundscheck=False), runs the kernel like that"
    )
    assert not hasattr(caught.value, "index")


def test_place_in_a_device_function(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site("builtins:ValueError", ("bad",), Frame("helper", "/somewhere/other.py", 1, 4))
    with pytest.raises(ValueError, match=r"^bad\nkernel 'kernel' \(other\.py:5, in device function 'helper'\), block"):
        launch(monkeypatch, site)


def test_numbers_fill_holes(monkeypatch: pytest.MonkeyPatch) -> None:
    holes = (Hole("int"), Hole("uint"), Hole("float"), Hole("bool"))
    site = Site("builtins:ValueError", ("text", *holes, None, 1.5), FRAME)
    half = struct.unpack("<Q", struct.pack("<d", -0.5))[0]
    with pytest.raises(ValueError) as caught:
        launch(monkeypatch, site, numbers=(2**64 - 1, 2**64 - 1, half, 1))
    assert caught.value.args == ("text", -1, 2**64 - 1, -0.5, True, None, 1.5)
    with pytest.raises(ValueError) as caught:
        launch(monkeypatch, site, details=False)
    assert caught.value.args == ("text", *["<unknown>"] * 4, None, 1.5)


def test_without_arguments_the_place_is_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError, match=r"^kernel 'kernel' \(code\.py:12\)"):
        launch(monkeypatch, Site("builtins:ZeroDivisionError", (), FRAME))


def test_class_made_in_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    class LocalError(Exception):
        pass

    def raises(x):
        raise LocalError("far away")

    path = f"{__name__}:{LocalError.__qualname__}"
    with pytest.raises(LocalError, match="far away"):
        launch(monkeypatch, Site(path, ("far away",), FRAME), raises)


def test_class_found_by_name() -> None:
    assert resolve_exception(f"{__name__}:ModuleError") is ModuleError
    assert resolve_exception("builtins:KeyError") is KeyError
    for path, message in [("nowhere:E", "cannot be found here"), ("builtins:int", "not an exception class")]:
        with pytest.raises(DeviceError, match=message):
            resolve_exception(path)


def test_class_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeviceError, match=r"builtins:UnicodeDecodeError.* could not be constructed: TypeError"):
        launch(monkeypatch, Site("builtins:UnicodeDecodeError", (), FRAME))


def test_site_that_is_not_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeviceError, match="exception site 5 of 1"):
        launch(monkeypatch, BOUNDS, site=5)


def throw_later(monkeypatch: pytest.MonkeyPatch, device: FakeDevice) -> None:
    """Launch on a device array: nothing to wait for, so nothing is raised yet."""

    def compile_kernel(request: CompileRequest, *_rest: Any) -> Any:
        return fake_device.artifact_for(request, sites=(BOUNDS,))

    monkeypatch.setattr("numba_gpucore.launch.miss.compile_kernel", compile_kernel)
    array = Allocator(REMOTE).device_array(3)
    device.kernel = lambda device, _: device.throw(numbers=(9, 0, 3))
    jit(REMOTE, kernel)[1, 1](array)
    device.kernel = None


def test_raised_at_every_synchronisation_once(
    monkeypatch: pytest.MonkeyPatch, remote: FakeDevice, own_session: Session
) -> None:
    stream = own_session.open_stream(remote)  # type: ignore[arg-type]
    event = Event(lambda: stream)
    event.record()
    other = Allocator(REMOTE).to_device(np.arange(3))
    for synchronise in (
        lambda: own_session.synchronize(remote),  # type: ignore[arg-type]
        stream.synchronize,
        event.synchronize,
        other.copy_to_host,
        lambda: other[1],
        lambda: other.copy_to_device(np.arange(3)),
        lambda: jit(REMOTE, kernel)[1, 1](np.zeros(3)),
    ):
        throw_later(monkeypatch, remote)
        with pytest.raises(IndexError, match="index 9 is out of bounds"):
            synchronise()
        synchronise()


def test_auto_synchronize_raises(monkeypatch: pytest.MonkeyPatch, remote: FakeDevice, own_session: Session) -> None:
    stream = own_session.open_stream(remote)  # type: ignore[arg-type]
    with pytest.raises(IndexError), stream.auto_synchronize():
        throw_later(monkeypatch, remote)


def test_results_come_back_although_a_thread_threw(monkeypatch: pytest.MonkeyPatch, remote: FakeDevice) -> None:
    def compile_kernel(request: CompileRequest, *_rest: Any) -> Any:
        return fake_device.artifact_for(request, sites=(BOUNDS,))

    def run(device: FakeDevice, params: bytes) -> None:
        device.bytes_at(struct.unpack_from("<Q", params)[0])[:] = 5
        device.throw(numbers=(9, 0, 3))

    monkeypatch.setattr("numba_gpucore.launch.miss.compile_kernel", compile_kernel)
    remote.kernel = run
    array = np.zeros(3, np.uint8)
    with pytest.raises(IndexError):
        jit(REMOTE, kernel)[1, 1](array)
    assert array.tolist() == [5, 5, 5]
