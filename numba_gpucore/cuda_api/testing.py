"""numba.cuda.testing: what tests of numba.cuda programs are built from. Before: unittest. After: users' tests."""

from __future__ import annotations

import contextlib
import io
import os
import platform
import shutil
import unittest
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from numba_gpucore.launch.advice import IMPLICIT_COPIES, SMALL_GRIDS

T = TypeVar("T")
Decorator = Callable[[T], T]


def keep(test: T) -> T:
    """The decorator of tests that are never skipped here."""
    return test


def skip_on_cudasim(reason: str) -> Decorator[Any]:
    """Skip under Numba's simulator, which this is not."""
    return keep


def skip_unless_cudasim(reason: str) -> Decorator[Any]:
    """Skip but under Numba's simulator."""
    return unittest.skip(reason)


def skip_on_arm(reason: str) -> Decorator[Any]:
    return unittest.skipIf(platform.machine().startswith(("arm", "aarch")), reason)


def skip_without_nvdisasm(reason: str) -> Decorator[Any]:
    return unittest.skipIf(shutil.which("nvdisasm") is None, reason)


def skip_with_nvdisasm(reason: str) -> Decorator[Any]:
    return unittest.skipIf(shutil.which("nvdisasm") is not None, reason)


def skip_under_cuda_memcheck(reason: str) -> Decorator[Any]:
    return unittest.skipIf(os.environ.get("CUDA_MEMCHECK") is not None, reason)


def _never(reason: str) -> Decorator[Any]:
    """Skips for what does not exist here: other memory managers, minor version compatibility, …"""
    return keep


def _always(reason: str) -> Decorator[Any]:
    """Skips without what does not exist here: NVIDIA's tool kit from Conda."""
    return unittest.skip(reason)


def ensure_supported_ccs_initialized() -> None:
    """Nothing to load before a fork."""


@contextlib.contextmanager
def captured_stdout() -> Iterator[io.StringIO]:
    """What Python and, when synchronised, kernels print inside a `with` block."""
    with contextlib.redirect_stdout(io.StringIO()) as stream:
        yield stream


class ForeignArray:
    """An array that offers `__cuda_array_interface__` and nothing else, over the memory of a device array."""

    def __init__(self, arr: Any):
        self._arr = arr
        self.__cuda_array_interface__ = arr.__cuda_array_interface__


def module_names(package: ModuleType) -> Mapping[str, Any]:
    """The module's names, for the device of `package`."""

    class CUDATestCase(unittest.TestCase):
        """A test that may use a device; without numba.cuda's warnings about small grids and implicit copies."""

        def setUp(self) -> None:
            super().setUp()
            for name in (SMALL_GRIDS, IMPLICIT_COPIES):
                self.addCleanup(setattr, package.config, name, getattr(package.config, name))
                setattr(package.config, name, 0)

    class ContextResettingTestCase(CUDATestCase):
        """The same, with a device in its first state afterwards."""

        def tearDown(self) -> None:
            super().tearDown()
            package.close()

    def cc_X_or_above(major: int, minor: int) -> bool:
        """Whether the current device has that compute capability or a higher one."""
        capability: tuple[int, int] = package.current_device().compute_capability
        return capability >= (major, minor)

    def skip_unless_cc(major: int, minor: int) -> Decorator[Any]:
        return lambda test: unittest.skipUnless(cc_X_or_above(major, minor), f"requires cc >= {major}.{minor}")(test)

    capabilities = ((5, 0), (5, 3), (6, 0), (7, 5), (8, 0), (8, 9), (9, 0))
    return {
        **{f"skip_unless_cc_{major}{minor}": skip_unless_cc(major, minor) for major, minor in capabilities},
        "CUDATestCase": CUDATestCase,
        "ContextResettingTestCase": ContextResettingTestCase,
        "ForeignArray": ForeignArray,
        "captured_stdout": captured_stdout,
        "cc_X_or_above": cc_X_or_above,
        "ensure_supported_ccs_initialized": ensure_supported_ccs_initialized,
        "numba_cuda_dir": Path(package.__file__ or "").parent,
        "skip_if_cuda_includes_missing": unittest.skip("CUDA's headers are not used"),
        "skip_if_cudadevrt_missing": keep,
        "skip_if_external_memmgr": _never,
        "skip_if_mvc_enabled": _never,
        "skip_on_arm": skip_on_arm,
        "skip_on_cudasim": skip_on_cudasim,
        "skip_under_cuda_memcheck": skip_under_cuda_memcheck,
        "skip_unless_conda_cudatoolkit": _always,
        "skip_unless_cudasim": skip_unless_cudasim,
        "skip_with_cuda_python": _never,
        "skip_with_nvdisasm": skip_with_nvdisasm,
        "skip_without_nvdisasm": skip_without_nvdisasm,
        "test_data_dir": Path(__file__).parent / "tests" / "data",
        "unittest": unittest,
        "xfail_unless_cudasim": unittest.expectedFailure,
    }
