"""Tests of this folder run wherever kernels can run."""

import pytest

from tests.levels import level  # noqa: F401


@pytest.fixture
def checked_jit(level):  # noqa: F811 - the fixture of that name
    """A decorator for each place where kernels can run here, with bounds checks."""
    return lambda function, **options: level.jit(function, boundscheck=True, **options)
