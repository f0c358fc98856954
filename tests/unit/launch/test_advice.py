"""numba.cuda's warnings: which launches and options earn them, where they are on, which line they name."""

from __future__ import annotations

import dataclasses
import sys
import warnings
from types import ModuleType

import numpy as np
import pytest

import numba_metal
import numba_ptxplus
from numba_gpucore.base.errors import ConfigurationWarning, PerformanceWarning
from numba_gpucore.base.warn import warn_at_users_line
from numba_gpucore.launch import advice, session
from numba_gpucore.launch.allocate import Allocator
from numba_gpucore.launch.jit import jit
from tests.ptx.device import PLATFORM as PTX_PLATFORM


def kernel(x):
    x[0] = 1


def set_environment(monkeypatch: pytest.MonkeyPatch, name: str, value: bool | None) -> None:
    """As if the session had started with this variable."""
    field = {advice.SMALL_GRIDS: "warns_of_small_grids", advice.IMPLICIT_COPIES: "warns_of_copies"}[name]
    opened = session.default_session()
    monkeypatch.setattr(opened, "settings", dataclasses.replace(opened.settings, **{field: value}))


@pytest.fixture(autouse=True)
def own_config(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """numba.core.config as it is when the environment says nothing and numba.cuda's names were just installed."""
    for name in (advice.SMALL_GRIDS, advice.IMPLICIT_COPIES):
        monkeypatch.delenv(f"NUMBA_{name}")
        set_environment(monkeypatch, name, None)
    config = ModuleType("numba.core.config")
    config.__dict__.update({advice.SMALL_GRIDS: 1, advice.IMPLICIT_COPIES: 1})
    advice.mark_unset(config)
    monkeypatch.setitem(sys.modules, "numba.core.config", config)
    monkeypatch.delitem(sys.modules, "numba.core.errors", raising=False)
    return config


def test_the_cpu_device_is_silent_unless_asked(own_config: ModuleType) -> None:
    gpu_kernel = numba_ptxplus.jit(kernel)
    gpu_kernel[1, 1](np.zeros(1))
    setattr(own_config, advice.SMALL_GRIDS, 1)
    with pytest.warns(PerformanceWarning, match=r"Grid size 1 will .* low occupancy") as caught:
        gpu_kernel[1, 1]
    assert caught[0].filename == __file__
    gpu_kernel[256, 1]
    setattr(own_config, advice.IMPLICIT_COPIES, 1)
    with pytest.warns(PerformanceWarning, match="Host array used in CUDA kernel will incur copy overhead") as caught:
        gpu_kernel[256, 1](np.zeros(1))
    assert caught[0].filename == __file__
    gpu_kernel[256, 1](numba_ptxplus.to_device(np.zeros(1)))
    gpu_kernel[256, 1](numba_ptxplus.mapped_array(1))
    gpu_kernel[256, 1](numba_ptxplus.InOut(np.zeros(1)))


def test_gpus_warn_unless_asked_not_to(own_config: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu_kernel, on_device = jit(PTX_PLATFORM, kernel), Allocator(PTX_PLATFORM).device_array(1)
    with pytest.warns(PerformanceWarning, match="low occupancy"):
        gpu_kernel[1, 1](on_device)
    set_environment(monkeypatch, advice.SMALL_GRIDS, False)
    with pytest.warns(PerformanceWarning, match="copy overhead"):
        gpu_kernel[1, 1](np.zeros(1))
    setattr(own_config, advice.IMPLICIT_COPIES, 0)
    gpu_kernel[1, 1](np.zeros(1))


def test_the_environment_asks_where_numba_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "numba.core.config")
    set_environment(monkeypatch, advice.SMALL_GRIDS, True)
    with pytest.warns(PerformanceWarning, match="low occupancy"):
        numba_ptxplus.jit(kernel)[1, 1]
    numba_metal.jit(kernel)[1, 1]


def test_debug_with_optimisation() -> None:
    for options in ({"debug": True}, {"debug": True, "opt": True}):
        with pytest.warns(ConfigurationWarning, match="not supported by CUDA") as caught:
            numba_ptxplus.jit(**options)
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        numba_ptxplus.jit(debug=True, opt=False)
        numba_metal.jit(debug=True)


def test_classes_are_numbas_where_numba_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    class NumbaInvalidConfigWarning(Warning):
        pass

    errors = ModuleType("numba.core.errors")
    errors.NumbaInvalidConfigWarning = NumbaInvalidConfigWarning  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "numba.core.errors", errors)
    with pytest.warns(NumbaInvalidConfigWarning):
        numba_ptxplus.jit(debug=True)


@pytest.mark.parametrize(("module", "named"), [("numba_metal_tools", "its.py"), ("numba_metal", __file__)])
def test_a_package_whose_name_only_begins_like_ours_is_the_users(module: str, named: str) -> None:
    namespace = {"__name__": module, "warn": warn_at_users_line}
    exec(compile("def call():\n    warn('slow', UserWarning)", "its.py", "exec"), namespace)
    with pytest.warns(UserWarning, match="slow") as caught:
        namespace["call"]()
    assert caught[0].filename == named
