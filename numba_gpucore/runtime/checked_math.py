"""Functions of `math` that raise where Python's do. Before: passes.check_domains. After: compiled for the device.

A result that is no number though all operands are is what CPython calls a domain error, and so is a pole: an infinite
result at a whole number up to 1, as the logarithm's at 0. Source: CPython, Modules/mathmodule.c, math_1 and math_2.
Results that are too large stay infinite: how large that is depends on the width, and Python has but one.
"""

import math
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from numba.extending import register_jitable


def _in_place_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register a function under the name that the user wrote, for messages."""

    def register(checked: Callable[..., Any]) -> Callable[..., Any]:
        checked.__name__ = checked.__qualname__ = function.__name__
        return register_jitable(checked)

    return register


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    @_in_place_of(function)
    def checked(x):
        result = function(x)
        if math.isnan(result) and not math.isnan(x):
            raise ValueError("math domain error")
        return result

    return checked


def _checked_at_poles(function: Callable[..., Any]) -> Callable[..., Any]:
    @_in_place_of(function)
    def checked(x):
        result = function(x)
        is_pole = math.isinf(result) and math.isfinite(x) and x <= 1 and x % 1 == 0
        if is_pole or (math.isnan(result) and not math.isnan(x)):
            raise ValueError("math domain error")
        return result

    return checked


def _checked_pair(function: Callable[..., Any]) -> Callable[..., Any]:
    @_in_place_of(function)
    def checked(x, y):
        result = function(x, y)
        if math.isnan(result) and not (math.isnan(x) or math.isnan(y)):
            raise ValueError("math domain error")
        return result

    return checked


_natural_log = _checked_at_poles(math.log)


@_in_place_of(math.log)
def _checked_log(x, base=None):
    if base is None:
        return _natural_log(x)
    return _natural_log(x) / _natural_log(base)


@_in_place_of(math.pow)
def _checked_pow(x, y):
    result = math.pow(x, y)
    is_pole = math.isinf(result) and x == 0 and math.isfinite(y)
    if is_pole or (math.isnan(result) and not (math.isnan(x) or math.isnan(y))):
        raise ValueError("math domain error")
    return result


_ANYWHERE = (math.sqrt, math.sin, math.cos, math.tan, math.asin, math.acos, math.acosh)
_WITH_POLES = (math.log2, math.log10, math.log1p, math.atanh, math.gamma, math.lgamma)
CHECKED = MappingProxyType(
    {
        **{function: _checked(function) for function in _ANYWHERE},
        **{function: _checked_at_poles(function) for function in _WITH_POLES},
        math.log: _checked_log,
        math.fmod: _checked_pair(math.fmod),
        math.pow: _checked_pow,
    }
)
