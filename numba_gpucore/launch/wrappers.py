"""In, Out, InOut: how a host array is copied around a launch. Before: the user's call. After: signature, marshal."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from numba_gpucore.array_interface import is_foreign_array
from numba_gpucore.base.argtypes import ArgType
from numba_gpucore.launch.signature import arg_type_of, type_key


class ArgumentWrapper:
    """A value (array) with the copies that a launch needs. Device arrays inside are passed as they are."""

    copy_in = True
    copy_back = True

    def __init__(self, value: Any):
        self.value = value if hasattr(value, "gpu_type_key") or is_foreign_array(value) else np.asanyarray(value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"

    @property
    def gpu_type_key(self) -> Hashable:
        return type(self), type_key(self.value)

    @property
    def gpu_arg_type(self) -> ArgType:
        return arg_type_of(self.value)


class In(ArgumentWrapper):
    """The kernel reads the array; what it writes is not copied back, so the host array never changes."""

    copy_back = False


class Out(ArgumentWrapper):
    """The kernel fills the array; its content at the start of the kernel is unspecified."""

    copy_in = False


class InOut(ArgumentWrapper):
    """Copied before and after the launch, as an array without a wrapper is."""
