"""Numba's contexts for our targets: what happens where they cannot be filled."""

import pytest

from numba_gpucore.compile.contexts import DeviceTargetContext
from numba_gpucore.compile.descriptor import DeviceDescriptor
from numba_gpucore.compile.targets import register_targets


def test_a_context_that_could_not_be_filled_is_filled_when_it_is_asked_for_again(monkeypatch):
    """Else every later kernel of the process would meet functions that nobody has registered."""
    register_targets()
    descriptor = DeviceDescriptor("ptxplus")
    refreshed = []

    def refresh(context):
        refreshed.append(context)
        assert context is descriptor._target_context
        if len(refreshed) == 1:
            raise MemoryError("while the registries are loaded")

    monkeypatch.setattr(DeviceTargetContext, "refresh", refresh)
    with pytest.raises(MemoryError):
        _ = descriptor.target_context
    assert descriptor.target_context is descriptor.target_context
    assert len(refreshed) == 2
