"""`pytest -p numba_ptxplus.pytest_plugin`: numba.cuda is numba_ptxplus in the tests. Before: pytest's start."""

from __future__ import annotations

import numba_ptxplus


def pytest_load_initial_conftests() -> None:
    """For `-p`: before the first conftest.py is imported."""
    numba_ptxplus.install_as_cuda()


def pytest_configure() -> None:
    """For `pytest_plugins = [...]` in a conftest.py, which is read after the hook above."""
    numba_ptxplus.install_as_cuda()
