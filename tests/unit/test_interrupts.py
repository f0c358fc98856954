"""Ctrl-C while a kernel is compiled: raised by the launch, which leaves the compiler whole."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

import numba_metal as gpu
from numba_gpucore.base.interrupts import interrupts_held
from numba_gpucore.compile import driver

pytestmark = pytest.mark.usefixtures("hears_ctrl_c")


def fill(x):
    x[gpu.grid(1)] = 7


@pytest.mark.parametrize("step", ["lower_kernel", "load_codegen"])
def test_a_compilation_ends_before_the_interrupt_is_raised(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = getattr(driver, step)
    ended = []

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        result = whole(*arguments)
        ended.append(step)
        return result

    monkeypatch.setattr(driver, step, interrupted)
    kernel = gpu.jit(fill)
    x = np.zeros(4, np.float32)
    with pytest.raises(KeyboardInterrupt):
        kernel[1, 4](x)
    assert ended
    monkeypatch.undo()
    kernel[1, 4](x)
    assert x.tolist() == [7] * 4


def test_a_question_to_the_compiler_is_answered_before_the_interrupt_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = gpu.jit("void(float32[:])")(fill)
    whole = driver.lower_kernel
    ended = []

    def interrupted(request):
        signal.raise_signal(signal.SIGINT)
        result = whole(request)
        ended.append(request)
        return result

    monkeypatch.setattr(driver, "lower_kernel", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kernel.inspect_llvm()
    assert ended


def test_the_program_s_own_handler_is_asked_afterwards() -> None:
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with interrupts_held():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            assert heard == []
        assert heard == [signal.SIGINT]
        signal.raise_signal(signal.SIGINT)
        assert len(heard) == 2
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_ignored_interrupt_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts_held():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


FORKS_UNDER_A_LOCK = """
import os, threading
from numba_gpucore.launch import session
own = session.default_session()
thread = threading.Thread(target=own.miss_lock.acquire)
thread.start()
thread.join()
session._FORK_WAIT_S = 0.1
child = os.fork()
if child == 0:
    os._exit(own.miss_lock.acquire(timeout=0) is not True)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_does_not_wait_for_ever_for_a_compilation_that_was_left(run_python) -> None:
    """The child has a lock of its own."""
    run_python("-c", FORKS_UNDER_A_LOCK)
