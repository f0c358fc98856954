"""The kernel object: arguments, what is compiled when, what goes wrong. Launch configurations: test_configurations."""

from __future__ import annotations

import os
import pickle
import struct
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest

from numba_gpucore import dtypes
from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.errors import ArgumentError, LaunchError, SpecializedError
from numba_gpucore.launch.allocate import Allocator
from numba_gpucore.launch.jit import jit
from numba_gpucore.launch.session import Session, default_session
from tests.unit.launch import fake_device
from tests.unit.launch.fake_device import FakeDevice

HOST = fake_device.platform("HOST")
REMOTE = fake_device.platform("REMOTE")


def body(x, n=3, *, factor=2.0):
    """Stands for a kernel; the fake device does not run it."""


def two(x, y):
    pass


def nothing():
    pass


@pytest.fixture(autouse=True)
def _compiler(requests: list[CompileRequest]) -> None:
    pass


def test_keywords_and_defaults(host: FakeDevice) -> None:
    kernel = jit(HOST, body)
    array = np.zeros(4)
    for call in (
        lambda k: k(array),
        lambda k: k(x=array),
        lambda k: k(array, 3),
        lambda k: k(array, factor=2.0),
        lambda k: k(array, n=3, factor=2.0),
    ):
        call(kernel[1, 1])
        assert host.launches[-1][2] == struct.pack("<3qd", array.ctypes.data, 4, 3, 2.0)
    assert len(host.programs) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "kernel 'body': missing a required argument: 'x'"),
        ((1, 2, 3, 4), "kernel 'body': too many positional arguments"),
    ],
)
def test_wrong_number_of_arguments(arguments: tuple[int, ...], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        jit(HOST, body)[1, 1](*arguments)


def test_star_arguments_are_a_tuple(host: FakeDevice) -> None:
    def variadic(x, *rest):
        pass

    jit(HOST, variadic)[1, 1](1, 2, 3.0)
    assert host.launches[-1][2] == struct.pack("<qqd", 1, 2, 3.0)


def test_every_wrong_argument_is_named() -> None:
    with pytest.raises(ArgumentError) as caught:
        jit(HOST, two)[1, 1]([1], {})
    assert str(caught.value).startswith(
        "kernel 'two': argument 0 ('x'): a value of type list cannot be passed to a kernel; what can: NumPy arrays"
    )
    assert "; argument 1 ('y'): a value of type dict" in str(caught.value)


def test_compiled_once_for_each_combination_of_types(requests: list[CompileRequest]) -> None:
    kernel = jit(HOST, two)
    for x, y in [(1, 2.0), (3, 4.0), (np.zeros(3), 1), (np.ones((2, 2))[0], 2), (1, 2.0)]:
        kernel[1, 1](x, y)
    assert [", ".join(map(str, request.arg_types)) for request in requests] == [
        "int64, float64",
        "array(float64, 1d, C), int64",
    ]
    assert kernel.signatures == [request.arg_types for request in requests]


def test_request_tells_all_that_decides(requests: list[CompileRequest]) -> None:
    jit(HOST, nothing, fastmath=True)[1, 1]()
    (request,) = requests
    assert (request.py_func, request.target.name) == (nothing, "tests-host")
    assert (request.backend, request.arch) == ("fake", "fake1")
    assert (request.codegen, request.launch_abi) == ("none:NONE", 1)
    assert request.options.fastmath


@pytest.mark.parametrize(
    ("options", "setting", "expected"),
    [
        ({}, None, True),
        ({}, "0", False),
        ({"boundscheck": False}, "1", False),
        ({"boundscheck": True}, "0", True),
        ({"debug": True}, None, True),
    ],
)
def test_bounds_checks(
    requests: list[CompileRequest], monkeypatch: pytest.MonkeyPatch, options: dict, setting: str | None, expected: bool
) -> None:
    """Decorator before environment before the device's own default (on)."""
    environ = {} if setting is None else {"NUMBA_BOUNDSCHECK": setting}
    monkeypatch.setattr("numba_gpucore.launch.session._default", Session(environ))
    jit(HOST, nothing, **options)[1, 1]()
    assert requests[-1].options.boundscheck is expected


def test_declared_signatures_are_the_only_ones(host: FakeDevice, requests: list[CompileRequest]) -> None:
    kernel = jit(HOST, ["void(float32[:], int32)", dtypes.void(dtypes.float64[:], dtypes.int32)])(two)
    kernel[1, 1](np.zeros(8, np.float32)[::2], 7)
    assert host.launches[-1][2][8:] == struct.pack("<qqi", 4, 8, 7)
    kernel[1, 1](np.zeros(3), np.int8(7))
    assert [str(request.arg_types[0]) for request in requests] == ["array(float32, 1d, A)", "array(float64, 1d, A)"]
    with pytest.raises(ArgumentError, match=r"No matching definition of kernel 'two' for argument types \(array\(int8"):
        kernel[1, 1](np.zeros(3, np.int8), 7)


def test_declared_signature_must_fit_the_function() -> None:
    with pytest.raises(ArgumentError, match=r"kernel 'two' takes 2 arguments, signature \(int32\) has 1"):
        jit(HOST, "void(int32)")(two)


def test_declaring_compiles_at_once(requests: list[CompileRequest]) -> None:
    """As in numba.cuda: what is wrong with a declared signature shows where it is declared."""
    jit(HOST, ["void(int32, int32)", "void(float32, int32)"])(two)
    assert [str(request.arg_types[0]) for request in requests] == ["int32", "float32"]


def test_compile_and_overloads(requests: list[CompileRequest], host: FakeDevice) -> None:
    kernel = jit(HOST, two)
    overload = kernel.compile("void(int32, float32[::1])")
    assert [str(t) for t in overload.signature] == ["int32", "array(float32, 1d, C)"]
    assert list(kernel.overloads) == [overload.signature]
    assert kernel.overloads["void(int32, float32[::1])"].artifact is overload.artifact
    assert kernel.get_max_threads_per_block() == {overload.signature: 256}
    assert kernel.get_shared_mem_per_block(overload.signature) == 0
    assert host.programs == []
    kernel[1, 1](np.int32(1), np.zeros(2, np.float32))
    assert len(requests) == 1


def test_specialize(requests: list[CompileRequest]) -> None:
    kernel = jit(HOST, two).specialize(1, np.zeros(3))
    assert kernel.specialized and len(requests) == 1
    assert kernel.get_regs_per_thread() == 0
    with pytest.raises(SpecializedError, match="already specialized"):
        kernel.specialize(1, 2)
    with pytest.raises(ArgumentError, match="No matching definition"):
        kernel[1, 1](np.zeros(3), np.zeros(3))


def test_specialize_by_types_gives_the_same_kernel() -> None:
    kernel = jit(HOST, two)
    by_types = kernel.specialize(dtypes.int64, dtypes.float64[::1])
    assert kernel.specialize(1, np.zeros(3)) is by_types
    assert kernel.specialize(1, 2) is not by_types
    assert len(kernel.specializations) == 2


def test_ambiguous_call() -> None:
    kernel = jit(HOST, ["void(float32, float64)", "void(float64, float32)", "void(int64, int64)"])(two)
    with pytest.raises(ArgumentError) as caught:
        kernel[1, 1](1.0, 2.0)
    assert str(caught.value) == (
        "Ambiguous overloading of kernel 'two' for argument types (float64, float64); "
        "equally near are (float32, float64); (float64, float32)"
    )


def test_looks_like_its_function() -> None:
    kernel = jit(HOST, body)
    assert (kernel.py_func, kernel.__name__, kernel.__doc__, kernel.__module__) == (
        body, "body", body.__doc__, __name__,
    )  # fmt: skip
    assert "body" in repr(kernel)


@pytest.mark.parametrize(("signatures", "device"), [(["void(int64, float64)"], False), (None, True)])
def test_pickle_of_a_function_that_kept_its_name(signatures: Any, device: bool) -> None:
    decorated = jit(HOST, signatures, device=device)(two)
    again = pickle.loads(pickle.dumps(decorated))
    assert type(again) is type(decorated)
    assert (again.py_func, again.options, again.signatures) == (two, decorated.options, decorated.signatures)


@jit(HOST)
def decorated_in_place(x):
    pass


def test_pickle_of_a_local_kernel() -> None:
    """Its function travels by value, with the device function in its closure."""
    step = 3

    @jit(HOST, device=True)
    def inner(x):
        return x + step

    @jit(HOST)
    def outer(x):
        x[0] = inner(x[0])

    again = pickle.loads(pickle.dumps(outer))
    assert again is not outer and again.py_func.__closure__[0].cell_contents.py_func(1) == 4
    configured = pickle.loads(pickle.dumps(again[5, 8]))
    assert (configured.griddim, configured.blockdim) == ((5, 1, 1), (8, 1, 1))


def test_callbacks_before_launches() -> None:
    seen = []
    configured = jit(HOST, nothing)[3, 4]
    configured.pre_launch_callbacks.append(lambda kernel, launch: seen.append((kernel.__name__, launch.blockdim)))
    configured()
    configured()
    assert seen == [("nothing", (4, 1, 1))] * 2
    with pytest.raises(pickle.PicklingError, match="pre-launch callbacks"):
        pickle.dumps(configured)


def test_pickle_of_a_global_kernel() -> None:
    assert pickle.loads(pickle.dumps(decorated_in_place)) is decorated_in_place


def test_threads_launch_while_one_compiles(monkeypatch: pytest.MonkeyPatch, host: FakeDevice) -> None:
    """A known combination of types launches although another thread is compiling."""
    kernel = jit(HOST, two)
    kernel[1, 1](1, 2)
    entered, go_on = threading.Event(), threading.Event()

    def slow(request: CompileRequest, *_rest: Any) -> Any:
        entered.set()
        assert go_on.wait(60)
        return fake_device.artifact_for(request)

    monkeypatch.setattr("numba_gpucore.launch.miss.compile_kernel", slow)
    compiling = threading.Thread(target=lambda: kernel[1, 1](1.0, 2.0))
    compiling.start()
    assert entered.wait(60)
    kernel[1, 1](3, 4)
    assert host.launches[-1][2] == struct.pack("<qq", 3, 4)
    go_on.set()
    compiling.join()
    assert host.launches[-1][2] == struct.pack("<dd", 1.0, 2.0)


def test_threads_compile_a_combination_once(requests: list[CompileRequest]) -> None:
    kernel = jit(HOST, two)
    threads = [threading.Thread(target=lambda: kernel[1, 1](1, 2)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(requests) == 1


def test_argument_handlers_run_around_the_launch(host: FakeDevice) -> None:
    order: list[str] = []

    class Doubler:
        def prepare_args(self, ty: Any, val: Any, stream: Any, retr: list) -> tuple[Any, Any]:
            order.append(f"prepare {ty}")
            retr.append(lambda: order.append(f"after {len(host.launches)} launches"))
            return ty, val * 2

    jit(HOST, two, extensions=[Doubler()])[1, 1](1, 2.5)
    assert host.launches[-1][2] == struct.pack("<qd", 2, 5.0)
    assert order == ["prepare int64", "prepare float64", "after 1 launches", "after 1 launches"]


def test_arguments_live_until_the_stream_has_ended(remote: FakeDevice, own_session: Session) -> None:
    kernel = jit(REMOTE, two)
    array = Allocator(REMOTE).to_device(np.zeros(3))
    stream = own_session.open_stream(remote)  # type: ignore[arg-type]
    kernel[1, 1, stream](array, 1)
    assert [held.objects[0] for held in stream.held.values()] == [array]
    stream.synchronize()
    assert not stream.held


def test_default_stream_holds_a_bounded_number_of_launches(remote: FakeDevice, own_session: Session) -> None:
    kernel = jit(REMOTE, nothing)
    for _ in range(5000):
        kernel[1, 1]()
    assert len(own_session.default_stream(remote).held) <= 1024  # type: ignore[arg-type]
    assert remote.synchronized == 5000 // 1025


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_child_opens_its_own_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba_gpucore.launch.session._default", None)
    kernel = jit(HOST, two)
    kernel[1, 1](1, 2)
    parent = default_session().current_device(HOST)
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: fork in a process with threads
        child = os.fork()
    if child == 0:
        device: Any = default_session().current_device(HOST)
        kernel[1, 1](3, 4)
        os.write(writer, bytes([device is not parent, len(device.launches), len(device.programs)]))
        os._exit(0)
    os.waitpid(child, 0)
    assert tuple(os.read(reader, 3)) == (True, 1, 1)


def test_stats_tell_where_kernels_are_kept(own_session: Session) -> None:
    paths = [jit(HOST, nothing, cache=cache).stats.cache_path for cache in (True, False)]
    assert paths == [own_session.settings.cache_folder, None]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_waits_for_another_threads_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba_gpucore.launch.session._default", None)
    session, compiling, forking, steps = default_session(), threading.Event(), threading.Event(), bytearray()

    def compile_slowly() -> None:
        with session.miss_lock:
            compiling.set()
            forking.wait()
            time.sleep(0.2)  # long enough for the other thread to fork, if it could
            steps.append(1)

    thread = threading.Thread(target=compile_slowly)
    thread.start()
    compiling.wait()
    forking.set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: fork in a process with threads
        child = os.fork()
    if child == 0:
        os._exit(len(steps))
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    freed = []  # seen from another thread: the one that forked could take a lock again that it has kept

    def take_lock() -> None:
        freed.append(session.miss_lock.acquire(blocking=False))
        session.miss_lock.release()  # later forks of this process wait for it

    other = threading.Thread(target=take_lock)
    other.start()
    other.join()
    assert freed == [True]


def test_stream_of_another_kind_of_device(own_session: Session) -> None:
    stream = own_session.open_stream(fake_device.FakeDevice(True, kind="other"))  # type: ignore[arg-type]
    with pytest.raises(LaunchError, match=r"kernels of tests cannot run on Fake Device \(other\); they run on fake"):
        jit(HOST, nothing)[1, 1, stream]()


def test_selected_device_is_that_threads(own_session: Session) -> None:
    kernel = jit(HOST, nothing)
    second: Any = own_session.select_device(HOST, 1)
    kernel[1, 1]()
    other = threading.Thread(target=kernel[1, 1])
    other.start()
    other.join()
    own_session.unselect_device(HOST)
    kernel[1, 1]()
    first: Any = own_session.current_device(HOST)
    assert (len(second.launches), len(first.launches)) == (1, 2)


def test_devices_are_told_by_numbers(own_session: Session) -> None:
    with pytest.raises(ArgumentError, match="a device is told by its number, from 0 on, not by 'first'"):
        own_session.select_device(HOST, "first")  # type: ignore[arg-type]
    assert own_session.select_device(HOST, np.int64(1)) is own_session.select_device(HOST, 1)  # type: ignore[arg-type]
