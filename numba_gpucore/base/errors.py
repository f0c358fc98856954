"""Exceptions that users see, and how their texts are built. Before: nothing. After: every stage raises these.

Each text says what happened, what was got, the limit, and what to do next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numba_gpucore.base.records import dataclass


class GpuError(Exception):
    """Base of every error that this project raises on its own behalf."""

    def __reduce__(self) -> tuple[Any, ...]:
        """For processes that hand errors on. Exception's own calls `__init__` with the message alone."""
        return remake_error, (type(self), self.args, self.__dict__)


def remake_error(cls: type[Exception], args: tuple[Any, ...], attributes: dict[str, Any]) -> Exception:
    """An error as it was in the process that it comes from."""
    error: Exception = cls.__new__(cls, *args)
    error.__dict__.update(attributes)
    return error


class OptionError(GpuError, TypeError):
    """A decorator option is unknown or has a value that it cannot have."""


class OptionValueError(OptionError, ValueError):
    """The same where numba.cuda raises ValueError."""


class LaunchError(GpuError, ValueError):
    """A launch asks for more than the device offers, or its configuration makes no sense."""


class ArgumentError(GpuError, TypeError):
    """A value cannot be passed to a kernel."""


class KernelLanguageError(GpuError, TypeError):
    """Part of the kernel language was used outside a kernel."""


class SpecializedError(GpuError, RuntimeError):
    """A kernel that exists for one signature only was asked for another."""


class DeviceError(GpuError, RuntimeError):
    """No such device, or the device reported a failure."""


class DeviceMemoryError(DeviceError, MemoryError):
    """An allocation failed, or memory was used after its release."""


class ToolchainError(GpuError, RuntimeError):
    """A compiler below us (LLVM, ptxas, Apple's compiler) refused its input, which is kept on disk and named."""


class NotAKernelError(GpuError, RuntimeError):
    """A device function was used as a kernel."""


class NotOfferedError(GpuError, NotImplementedError):
    """A name of numba.cuda that only NVIDIA's driver or tool chain can give a meaning was used."""


class CacheWarning(UserWarning):
    """The disk cache could not be used; kernels are right, but compiled again."""


class PerformanceWarning(UserWarning):
    """A launch or kernel is right but needlessly slow."""


class ConfigurationWarning(UserWarning):
    """Options that do not go together; what they ask for is done as well as it can be."""


@dataclass(frozen=True, order=True)
class Fault:
    """One reason why a kernel cannot be compiled: where, what, and what to do about it."""

    filename: str
    line: int
    what: str
    advice: str = ""

    def __str__(self) -> str:
        advice = f" — {self.advice}" if self.advice else ""
        return f"{self.filename}:{self.line}: {self.what}{advice}"


class UnsupportedKernelError(GpuError, TypeError):
    """A kernel cannot run on its target; `.faults` lists every reason in source order."""

    def __init__(self, kernel_name: str, faults: Sequence[Fault], advice: str = ""):
        """advice: what to do about all of them."""
        self.kernel_name = kernel_name
        self.faults = tuple(sorted(faults))
        noun = "reason" if len(self.faults) == 1 else "reasons"
        lines = "\n".join([*(f"  {fault}" for fault in self.faults), *([advice] if advice else [])])
        super().__init__(f"kernel '{kernel_name}' cannot be compiled, {len(self.faults)} {noun}:\n{lines}")
