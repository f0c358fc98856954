"""Tests of this folder run wherever kernels can run."""

from tests.levels import level  # noqa: F401
