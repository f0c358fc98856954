"""Fixtures of the MSL tests."""

import sys
from pathlib import Path

import pytest

from tests.msl import Library, compile_msl_library

KERNELS = Path(__file__).parent / "kernels"


@pytest.fixture(autouse=True)
def _needs_linux():
    if sys.platform != "linux":
        pytest.skip("MSL runs on the CPU on Linux only: runtime/*.c uses its system calls")


@pytest.fixture(scope="session")
def load_kernel():
    """load_kernel("k03") -> Library of kernels/good/k03*.metal; options of compile_msl_library."""

    def load(prefix: str, **options) -> Library:
        (path,) = KERNELS.glob(f"good/{prefix}*.metal")
        return compile_msl_library(path.read_text(), **options)

    return load
