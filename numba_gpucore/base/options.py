"""What a user can say to `@jit`. Before: decorator keywords. After: part of the cache key, read by lowering.

Both targets share these fields; a target's own subclass may add some.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from numba_gpucore.base.errors import OptionError, OptionValueError
from numba_gpucore.base.linked_code import LinkedCode
from numba_gpucore.base.records import dataclass

T = TypeVar("T", bound="KernelOptions")
#: What can be done about float64 where a program should not have it.
FLOAT64_CHOICES = ("error", "float32")
#: None stays None: somebody else decides.
_SWITCHES_WITH_NONE = ("boundscheck", "cache")
_SWITCHES = ("device", "fastmath", "debug", "lineinfo", "weak_literals", *_SWITCHES_WITH_NONE)


@dataclass(frozen=True)
class KernelOptions:
    """Options of one kernel or device function.

    device: a function for kernels to call, not a kernel. inline: "never" or "always", at the level of Numba's IR.
    fastmath: reassociation and approximate functions. boundscheck: None lets the device decide (the CPU device
    checks). debug: Python's error model and bounds checks. lineinfo: source lines in the machine code. opt: LLVM's
    optimisation level 0 to 3 (False and True mean 0 and 2). max_registers, launch_bounds: limits for PTX,
    launch_bounds is threads a block or (threads, blocks, ...). cache: keep the compiled kernel on disk.
    float64: "error" refuses every float64, "float32" computes in float32 instead and converts host arrays on the way in
    and back; None is what the target does, or NUMBA_METAL_FLOAT64 where it has no float64. weak_literals: Python floats
    take the other operand's type, also where the target would have them float64. link: code of NVIDIA's compilers that
    defines functions of `declare_device`.
    """

    device: bool = False
    inline: str = "never"
    fastmath: bool = False
    boundscheck: bool | None = None
    debug: bool = False
    lineinfo: bool = False
    opt: int = 2
    max_registers: int | None = None
    launch_bounds: tuple[int, ...] | None = None
    cache: bool | None = None
    float64: str | None = None
    weak_literals: bool = False
    link: tuple[LinkedCode, ...] = ()

    @property
    def wants_lines(self) -> bool:
        """True if the compiled code shall know the program's lines."""
        return self.debug or self.lineinfo

    @classmethod
    def from_keywords(cls: type[T], keywords: Mapping[str, Any]) -> T:
        """Check and normalise decorator keywords. Raises OptionError that names every unknown one."""
        known = {field.name for field in dataclasses.fields(cls)}
        unknown = sorted(set(keywords) - known)
        if unknown:
            raise OptionError(
                f"unknown option{'s' if len(unknown) > 1 else ''} {', '.join(map(repr, unknown))}; "
                f"the options are {', '.join(sorted(known))}"
            )
        return cls(**{name: _normalise(name, value) for name, value in keywords.items()})


def _normalise(name: str, value: Any) -> Any:
    if name == "opt":
        level = 2 if value is True else 0 if value is False else value
        if level not in (0, 1, 2, 3):
            raise OptionError(f"opt must be True, False or 0 to 3, not {value!r}")
        return level
    if name == "inline" and value in (True, False):
        # numba.cuda's True asks LLVM to inline, which happens to every device function here.
        return "never"
    if name == "inline" and value not in ("never", "always"):
        raise OptionError(f"inline must be 'never' or 'always', not {value!r}")
    if name == "float64" and value not in (None, *FLOAT64_CHOICES):
        raise OptionError(f"float64 must be {' or '.join(map(repr, FLOAT64_CHOICES))}, not {value!r}")
    if name == "launch_bounds" and value is not None:
        return _check_launch_bounds(tuple(value) if isinstance(value, (tuple, list)) else (value,))
    if name == "max_registers" and value is not None and not _is_count(value):
        raise OptionValueError(f"max_registers must be a whole number from 1 on, not {value!r}")
    if name in _SWITCHES:
        if value not in (True, False, None):
            raise OptionError(f"{name} must be True or False, not {value!r}")
        return None if value is None and name in _SWITCHES_WITH_NONE else bool(value)
    return value


def _check_launch_bounds(bounds: tuple[Any, ...]) -> tuple[int, ...]:
    """Source: PTX ISA, ".maxntid", ".minnctapersm", ".maxclusterrank"."""
    if not 1 <= len(bounds) <= 3:
        raise OptionValueError(
            f"Got {len(bounds)} launch bounds: {bounds}. launch_bounds takes one to three integers: threads a block, "
            "blocks a multiprocessor, blocks a cluster"
        )
    if not all(map(_is_count, bounds)):
        raise OptionValueError(f"launch_bounds must be whole numbers from 1 on, not {', '.join(map(repr, bounds))}")
    return bounds


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
