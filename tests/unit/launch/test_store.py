"""What a process takes of what another kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.site import Frame, Site
from numba_gpucore.launch import miss, store
from numba_gpucore.launch.jit import jit
from numba_gpucore.launch.session import Session
from tests.unit.launch import fake_device

HOST = fake_device.platform("HOST")


def nothing():
    pass


@pytest.mark.parametrize(("number", "n_compiled"), [(None, 1), (0, 1), (1, 2)])
def test_lines_of_functions_that_are_not_there_are_a_miss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int | None, n_compiled: int
) -> None:
    """The kernel has one function, with the number 0."""
    frame = Frame("nothing", __file__, nothing.__code__.co_firstlineno, 1, number)
    asked = []

    def compile_kernel(request: CompileRequest, *_rest: object):
        asked.append(request)
        return replace(fake_device.artifact_for(request), sites=(Site("builtins:KeyError", (), frame),))

    monkeypatch.setattr(miss, "compile_kernel", compile_kernel)
    monkeypatch.setattr(store, "number_functions", lambda artifact, _fingerprint: artifact)
    for _process in range(2):
        session = Session({"NUMBA_CACHE_DIR": str(tmp_path / "cache")})
        monkeypatch.setattr("numba_gpucore.launch.session._default", session)
        kernel = jit(HOST, nothing)
        kernel[1, 1]()
    assert len(asked) == n_compiled
    reasons = [reason for _signature, reason in kernel.stats.misses]
    assert reasons == ["its lines are in functions that the kernel does not have"] * (n_compiled - 1)
