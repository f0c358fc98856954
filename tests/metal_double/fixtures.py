"""Fixtures for tests of the Metal driver on the double; use: pytest_plugins = ["tests.metal_double.fixtures"]."""

import contextlib
import sys

import pytest

from numba_metal.driver import BACKEND
from tests.metal_double import World, installed


@pytest.fixture
def open_double():
    """open_double(**world) -> the driver's device on that kind of Mac; see World."""
    if sys.platform != "linux":
        pytest.skip("the Metal double runs MSL as tests.msl does, on Linux only")
    with contextlib.ExitStack() as stack:

        def open_device(**world):
            stack.enter_context(installed(World(**world)))
            return BACKEND.open_device(0)

        yield open_device


@pytest.fixture
def metal_device(open_double):
    """The driver's device on the usual double."""
    return open_double()
