"""What a program means. Before: a target package. After: decorators, typing and lowering read it."""

from __future__ import annotations

from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.records import dataclass, field


@dataclass(frozen=True)
class NumberRules:
    """How a target counts. weak_literals: Python floats take the other operand's type (NEP 50).
    has_float64, has_atomic64, has_recursion, has_grid_barrier: whether programs may use double precision, atomics on
    64-bit numbers, functions that call themselves, barriers of all blocks at all; has_captured_arrays: device arrays as
    global and closure variables.
    max_static_shared_nbytes, max_shared_nbytes: what the shared arrays of known size, and all shared memory of a block,
    may take on every device, in bytes; None: each device has its limit."""

    weak_literals: bool = False
    has_float64: bool = True
    has_recursion: bool = True
    has_atomic64: bool = True
    has_grid_barrier: bool = True
    has_captured_arrays: bool = True
    max_static_shared_nbytes: int | None = None
    max_shared_nbytes: int | None = None


@dataclass(frozen=True)
class Target:
    """One meaning of Python: "metal" or "ptxplus". `backends` names, in order of preference, where it can run.

    `package` is the Python package users import; `device_variable` the environment variable that picks a back-end.
    speaks_as_cuda: numba.cuda's warnings about small grids, implicit copies and optimised debug code, and its words for
    the place of an exception under debug=True.
    """

    name: str
    package: str
    backends: tuple[str, ...]
    device_variable: str
    options_class: type[KernelOptions] = KernelOptions
    rules: NumberRules = field(default_factory=NumberRules)
    speaks_as_cuda: bool = False
