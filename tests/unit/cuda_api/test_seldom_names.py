"""Public names that are made when a program asks for them are like any others."""

from __future__ import annotations

import importlib
import pickle
from types import ModuleType

import pytest

import numba_metal
import numba_ptxplus
from numba_gpucore import cooperative_groups, fp16, libdevice
from numba_gpucore.cuda_api import driver_errors, linkable_code
from numba_gpucore.cuda_api.submodules import SELDOM_NAMES
from numba_gpucore.launch.declare_device import declare_device

PACKAGES = pytest.mark.parametrize("package", [numba_metal, numba_ptxplus])


@PACKAGES
def test_they_are_what_their_modules_define(package: ModuleType) -> None:
    assert (package.cg, package.fp16, package.libdevice) == (cooperative_groups, fp16, libdevice)
    assert package.declare_device is declare_device
    assert package.CudaSupportError is driver_errors.CudaSupportError
    assert package.KernelRuntimeError is driver_errors.KernelRuntimeError
    kinds = {kind.__name__: kind for kind in (linkable_code.LinkableCode, *linkable_code.KINDS)}
    assert {name: getattr(package, name) for name in SELDOM_NAMES if name in kinds} == kinds


@PACKAGES
def test_they_are_listed_and_taken_by_a_star(package: ModuleType) -> None:
    assert set(SELDOM_NAMES) <= set(dir(package)) & set(package.__all__)
    taken: dict[str, object] = {}
    exec(f"from {package.__name__} import *", taken)
    assert {name: taken[name] for name in SELDOM_NAMES} == {name: getattr(package, name) for name in SELDOM_NAMES}
    assert set(package.__all__) <= set(dir(importlib.import_module(package.__name__)))


@PACKAGES
def test_they_can_be_pickled(package: ModuleType) -> None:
    for name in ("declare_device", "PTXSource"):
        assert pickle.loads(pickle.dumps(getattr(package, name))) is getattr(package, name)
    code = pickle.loads(pickle.dumps(package.PTXSource(".version 8.0", name="some")))
    assert (type(code), code.name) == (linkable_code.PTXSource, "some")
    assert pickle.loads(pickle.dumps(package.fp16.hadd)) is fp16.hadd


@PACKAGES
def test_other_names_are_unknown(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match="'seldom'"):
        _ = package.seldom
