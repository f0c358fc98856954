"""The double's own tests run where tests.msl does."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _needs_linux():
    if sys.platform != "linux":
        pytest.skip("the Metal double runs MSL as tests.msl does, on Linux only")
