"""Numba's compiler flags with those that only our targets have. Before: KernelOptions. After: contexts, lowering.

Everything that a kernel calls inherits its flags through Numba's flag stack, so no context needs a copy of itself for
each combination.
"""

from __future__ import annotations

import functools
from typing import Any

from numba_gpucore.base.number_types import has_float64, has_weak_literals
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.target import Target
from numba_gpucore.compile.numba_api import FlagOption, Flags, targetconfig

#: What a callee takes over from its caller unless it says otherwise.
INHERITED_FLAGS = (
    "fastmath",
    "error_model",
    "boundscheck",
    "debuginfo",
    "dbg_directives_only",
    "weak_literals",
    "has_float64",
    "narrows_float64",
    "lacks_atomic64",
    "lacks_captured_arrays",
)


class DeviceFlags(Flags):
    weak_literals = FlagOption(
        type=bool, default=False, doc="Python floats take the type of the other operand (NEP 50)."
    )
    lacks_atomic64 = FlagOption(type=bool, default=False, doc="Atomics on 64-bit integers are an error.")
    lacks_captured_arrays = FlagOption(type=bool, default=False, doc="Device arrays as globals are an error.")
    narrows_float64 = FlagOption(type=bool, default=False, doc="What the program calls float64 is float32.")
    has_float64 = FlagOption(type=bool, default=True, doc="Results may be float64 where no operand is.")

    def values(self):
        # Numba's own asks a property for each of 36 options, for every overload that it looks up and every pass.
        return {**_default_values(type(self)), **self._values}


@functools.cache
def _default_values(flags_class: type[Flags]) -> dict[str, Any]:
    return {name: option.default for name, option in flags_class.options.items()}


def compiles_for_device() -> bool:
    """Whether the function that Numba compiles now is for one of our targets."""
    return isinstance(targetconfig.ConfigStack.top_or_none(), DeviceFlags)


def kernel_flags(options: KernelOptions, target: Target) -> DeviceFlags:
    """The flags of a kernel, which everything that it calls inherits."""
    flags = DeviceFlags()
    set_device_flags(flags)
    # numba.cuda: a division under fastmath never raises, also where debugging asks for Python's errors.
    flags.error_model = "python" if options.debug and not options.fastmath else "numpy"
    flags.boundscheck = bool(options.boundscheck)
    flags.weak_literals = has_weak_literals(target, options)
    flags.has_float64 = has_float64(target, options)
    flags.lacks_atomic64 = not target.rules.has_atomic64
    flags.lacks_captured_arrays = not target.rules.has_captured_arrays
    flags.narrows_float64 = options.float64 == "float32"
    if options.fastmath:
        flags.fastmath = True
    if options.wants_lines:
        flags.debuginfo = True
        flags.dbg_directives_only = options.lineinfo and not options.debug
    return flags


def set_device_flags(flags: Flags) -> None:
    """Flags that hold for every function on a device: lowered only, no interpreter, no heap."""
    flags.no_compile = True
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.enable_pyobject = False
    flags.nrt = False


def callee_flags(own: Flags) -> DeviceFlags:
    """The flags of a device function: those that its decorator set, else its caller's."""
    flags = DeviceFlags(copy_from=own)
    caller = targetconfig.ConfigStack.top_or_none()
    for name in INHERITED_FLAGS:
        if caller is not None and not flags.is_set(name) and name in caller.options:
            setattr(flags, name, getattr(caller, name))
    set_device_flags(flags)
    return flags


def active_flag(name: str) -> bool:
    """A boolean flag of the function that is being compiled; False when none is."""
    flags = targetconfig.ConfigStack.top_or_none()
    return bool(getattr(flags, name, False))
