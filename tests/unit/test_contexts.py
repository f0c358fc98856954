"""Numba's contexts for our targets: what happens where they cannot be filled, and where both targets are used."""

import numpy as np
import pytest
from numba.extending import intrinsic, overload

from numba_gpucore.compile.contexts import DeviceTargetContext
from numba_gpucore.compile.descriptor import DeviceDescriptor
from numba_gpucore.compile.targets import register_targets
from tests.levels import opened_level


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


def increased(x):
    """Only for kernels."""


@overload(increased)
def overload_increased(x):
    return lambda x: x + 1


@intrinsic
def call_increased(typingctx, x):
    """As Numba's `getattr` does: finds a call while it is typed, and lowers that later."""
    function = typingctx.resolve_value_type(increased)
    found = function.get_call_type(typingctx, (x,), {})

    def lower(context, builder, sig, args):
        return context.get_function(function, found)(builder, args)

    return found.return_type(x), lower


def test_targets_take_turns_with_a_function_that_an_intrinsic_calls():
    """Numba types such a call once for a target, and keeps one implementation of it for all targets."""
    for name in ("metal on cpu", "ptxplus on cpu", "metal on cpu", "ptxplus on cpu"):
        with opened_level(name) as level:

            @level.jit
            def kernel(x):
                x[0] = call_increased(x[0])

            x = np.full(1, 41, np.float32)
            kernel[1, 1](x)
            assert x[0] == 42
