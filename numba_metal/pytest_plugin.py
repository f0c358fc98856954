"""`pytest -p numba_metal.pytest_plugin`: numba.cuda is numba_metal in the tests. Before: pytest's start."""

from __future__ import annotations

import numba_metal


def pytest_load_initial_conftests() -> None:
    """For `-p`: before the first conftest.py is imported."""
    numba_metal.install_as_cuda()


def pytest_configure() -> None:
    """For `pytest_plugins = [...]` in a conftest.py, which is read after the hook above."""
    numba_metal.install_as_cuda()
