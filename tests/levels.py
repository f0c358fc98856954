"""The places where kernels can run here, each with numba.cuda's names. Before: nothing. After: tests that must hold on
all of them.

"metal double" is the Metal driver over the double of Apple's framework, which compiles the emitted text with clang;
"ptx machine" interprets the emitted PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

import numba_metal
import numba_ptxplus
from numba_gpucore.cuda_api.names import public_names
from numba_gpucore.cuda_api.submodules import SELDOM_NAMES, late_name
from numba_gpucore.launch import session
from tests.metal_double import World, installed
from tests.ptx.device import PLATFORM as PTX_PLATFORM

#: Level → (target, back-end that must run it).
LEVELS = {
    "metal on cpu": ("metal", "cpu"),
    "ptxplus on cpu": ("ptxplus", "cpu"),
    "ptx machine": ("ptxplus", "cuda"),
    "metal double": ("metal", "metal"),
}


@contextmanager
def opened_level(name: str, *gpus: World) -> Iterator[SimpleNamespace]:
    """The public names of the level's package, in a session of its own: `level.jit`, `level.stream`, …

    `level.level` is the name, `level.target` the target's, `level.device` what runs the kernels. gpus: which Metal's
    double has, instead of an ordinary one.
    """
    target, backend = LEVELS[name]
    variable = {"metal": "NUMBA_METAL_DEVICE", "ptxplus": "NUMBA_PTXPLUS_DEVICE"}[target]
    with pytest.MonkeyPatch.context() as patch, installed(*(gpus or (World(),))):
        patch.setenv(variable, backend)
        own_session = session.Session()
        patch.setattr(session, "_default", own_session)
        platform = PTX_PLATFORM if backend == "cuda" else (numba_metal if target == "metal" else numba_ptxplus).PLATFORM
        device = own_session.current_device(platform)
        assert device.kind == backend
        names = {**public_names(platform), **{one: late_name(platform.target.package, one) for one in SELDOM_NAMES}}
        yield SimpleNamespace(**names, level=name, target=target, device=device, session=own_session)


@pytest.fixture(scope="module", params=LEVELS)
def level(request: pytest.FixtureRequest) -> Iterator[SimpleNamespace]:
    """Each level in turn; the conftest.py of a folder whose tests run on all of them imports it."""
    with opened_level(request.param) as opened:
        yield opened
