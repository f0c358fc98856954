"""Kernels that a package ships for other GPUs than this level's launch without compiling."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from numba_gpucore import language as gpu
from numba_gpucore.launch import miss
from numba_gpucore.launch.cache import DiskCache
from numba_gpucore.launch.store import WARM_FOLDER
from numba_gpucore.warm.compile_modules import ArchChoice
from numba_gpucore.warm.ship import ship_kernel

#: Level → an older architecture than its device's: PTX for another generation of GPUs, text of an older Metal. A
#: processor's own level, or what is below.
SHIPPED_FOR = {"ptx machine": "sm_75", "metal double": "msl3.0"}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """An imported package without anything in it."""
    module = ModuleType("shipping")
    module.__file__ = str(tmp_path / "shipping" / "__init__.py")
    monkeypatch.setitem(sys.modules, "shipping", module)
    return module


def make_kernel(level: SimpleNamespace) -> Callable[..., object]:
    def scale(x, out):
        i = gpu.grid(1)
        if i >= x.size:
            raise IndexError("no such item", i)
        out[i] = x[i] * 2 + i

    scale.__module__ = "shipping"
    return level.jit(scale, warm=["void(float32[::1], float32[::1])"])


def test_kernels_for_older_devices_run(
    level: SimpleNamespace, package: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    arch = SHIPPED_FOR.get(level.level, level.device.arch)
    folder = Path(package.__file__ or "").parent / WARM_FOLDER
    assert ship_kernel(make_kernel(level), ArchChoice([arch]), DiskCache(str(folder))) == 1
    monkeypatch.setattr(miss, "compile_kernel", lambda *_arguments: pytest.fail("it was compiled"))
    kernel = make_kernel(level)
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    kernel[1, 8](x, out)
    np.testing.assert_array_equal(out, 3 * x)
    assert (len(kernel.stats.hits), kernel.stats.misses) == (1, [])
    with pytest.raises(IndexError, match="no such item"):
        kernel[1, 9](x, out)
        level.synchronize()
