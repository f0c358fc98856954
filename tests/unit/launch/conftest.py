"""What tests of the launch half share: a session of their own, and a compiler that answers without compiling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from numba_gpucore.base.artifact import Artifact, CompileRequest
from numba_gpucore.launch import miss, session
from tests.unit.launch import fake_device
from tests.unit.launch.fake_device import FakeDevice


@pytest.fixture(autouse=True)
def own_session(monkeypatch: pytest.MonkeyPatch) -> session.Session:
    """A session with devices of its own."""
    fresh = session.Session({})
    monkeypatch.setattr(session, "_default", fresh)
    return fresh


@pytest.fixture
def host(own_session: session.Session) -> FakeDevice:
    """The device of platform HOST, whose kernels work on NumPy memory."""
    return own_session.current_device(fake_device.platform("HOST"))  # type: ignore[return-value]


@pytest.fixture
def remote(own_session: session.Session) -> FakeDevice:
    """The device of platform REMOTE, which has memory of its own."""
    return own_session.current_device(fake_device.platform("REMOTE"))  # type: ignore[return-value]


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[CompileRequest]]:
    """What the compiler was asked for; it answers with Artifacts that hold no code."""
    asked: list[CompileRequest] = []

    def compile_kernel(request: CompileRequest, *_rest: Any) -> Artifact:
        asked.append(request)
        return fake_device.artifact_for(request)

    monkeypatch.setattr(miss, "compile_kernel", compile_kernel)
    yield asked
