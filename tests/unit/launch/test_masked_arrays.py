"""Masked arrays at each door to a device: a device has no masks, and would compute with what they hide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numba_ptxplus as cuda
from numba_gpucore.base.errors import ArgumentError
from numba_gpucore.launch.signature import arg_type_of


def _as_item(masked: np.ma.MaskedArray) -> None:
    cuda.device_array(3)[:] = masked


@pytest.mark.parametrize(
    "door",
    [
        arg_type_of,
        cuda.to_device,
        lambda masked: cuda.to_device(masked, to=cuda.device_array(3)),
        lambda masked: cuda.device_array(3).copy_to_device(masked),
        lambda masked: cuda.mapped_array(3).copy_to_device(masked),
        _as_item,
    ],
    ids=["argument", "to_device", "to_device(to=)", "copy_to_device", "mapped", "item"],
)
def test_masked_arrays_are_refused(door: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_PTXPLUS_DEVICE", "cpu")
    with pytest.raises(ArgumentError, match=r"pass its \.data and \.mask as two arrays"):
        door(np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False]))


def test_other_subclasses_are_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_PTXPLUS_DEVICE", "cpu")
    array = np.arange(3.0).view(np.recarray)
    assert (cuda.to_device(array).copy_to_host() == [0, 1, 2]).all()
