"""What calls resolve to is remembered for the same types and flags only, and until a template is added."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from numba.core import types
from numba.core.extending import overload
from numba.core.target_extension import target_override

import numba_metal
import numba_ptxplus
from numba_gpucore.compile.dispatcher import descriptor_for
from numba_gpucore.compile.flags import DeviceFlags
from numba_gpucore.compile.numba_api import targetconfig
from numba_gpucore.compile.remembered_calls import RememberingFunction


@pytest.fixture
def context():
    with target_override("ptxplus"):
        context = descriptor_for("ptxplus").typing_context
        context.refresh()
        yield context


def test_the_same_question_is_asked_once(context, monkeypatch: pytest.MonkeyPatch) -> None:
    add = context.resolve_value_type(operator.add)
    assert type(add) is RememberingFunction
    first = add.get_call_type(context, (types.int8, types.float32), {})
    monkeypatch.setattr(types.Function, "get_call_type", None)
    assert add.get_call_type(context, (types.int8, types.float32), {}) is first


def test_flags_belong_to_the_question(context) -> None:
    """int32 / int32 is float64 in Numba, float32 where a target has no float64."""
    divide = context.resolve_value_type(operator.truediv)
    results = []
    for has_float64 in (True, False, True):
        flags = DeviceFlags()
        with targetconfig.ConfigStack().enter(flags):
            flags.has_float64 = has_float64
            results.append(divide.get_call_type(context, (types.int32, types.int32), {}).return_type)
    assert results == [types.float64, types.float32, types.float64]


def test_an_overload_that_comes_later_is_found() -> None:
    def scale(x):
        raise NotImplementedError

    @overload(scale, target="gpucore")
    def scale_integer(x):
        return (lambda x: 2 * x) if isinstance(x, types.Integer) else None

    def kernel(x):
        scale(x[0])

    numba_ptxplus.compile_ptx(kernel, "void(int32[:])")
    with pytest.raises(TypeError):
        numba_ptxplus.compile_ptx(kernel, "void(float32[:])")

    @overload(scale, target="gpucore")
    def scale_float(x):
        return (lambda x: 3 * x) if isinstance(x, types.Float) else None

    numba_ptxplus.compile_ptx(kernel, "void(float32[:])")


def test_two_targets_do_not_take_each_others_implementations() -> None:
    """Numba has one type of `int` for both and notes the last implementation in it."""

    def first(x, out):
        out[0] = int(x[0])

    def second(x, out):
        out[int(x[0])] = 2

    out = np.zeros(2, np.int32)
    numba_ptxplus.jit(first)[1, 1](np.ones(1, np.float16), out)
    numba_metal.jit(first)[1, 1](np.ones(1, np.float16), out)
    numba_ptxplus.jit(second)[1, 1](np.ones(1, np.float16), out)
    assert out.tolist() == [1, 2]
