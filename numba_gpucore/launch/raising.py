"""From a mailbox to a Python exception. Before: a synchronisation finds that threads threw. After: the user sees it."""

from __future__ import annotations

import builtins
import importlib
import inspect
import os
import struct
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from numba_gpucore.base.backend import Device
from numba_gpucore.base.errors import DeviceError
from numba_gpucore.base.mailbox import ThrowReport, read_mailbox
from numba_gpucore.base.site import Hole, NumberKind, Site

_NUMBER_CODES: dict[NumberKind, str] = {"int": "<q", "uint": "<Q", "float": "<d"}


def raise_from_mailbox(
    mailbox: bytes, device: Device, functions: Mapping[tuple[Device, int], Callable[..., Any]]
) -> None:
    """Raise what the mailbox reports, if anything. `functions`: the Python function of each loaded program."""
    report = read_mailbox(mailbox)
    if report is None:
        return
    program = device.program_of(report.program)
    if program is None:
        raise DeviceError(
            f"{report.count} threads on {device.name} threw an exception in program {report.program}, which is not "
            "loaded any more"
        )
    artifact = program.artifact
    if report.site >= len(artifact.sites):
        raise DeviceError(
            f"kernel '{artifact.kernel_name}' reported exception site {report.site} of {len(artifact.sites)}: "
            "its code and its table do not fit together"
        )
    raise_from_site(report, artifact.sites[report.site], artifact.kernel_name, functions.get((device, report.program)))


def raise_from_site(
    report: ThrowReport, site: Site, kernel_name: str, py_func: Callable[..., Any] | None = None
) -> NoReturn:
    """Raise the exception of a site, with .block .thread .kernel .count and for bounds checks .index .axis .size."""
    numbers = _decode_numbers(report, site)
    if site.is_bounds_check:
        error: BaseException = _bounds_error(report, site, numbers, _place(report, site, kernel_name))
        if report.has_details:
            error.index, error.axis, error.size = numbers  # type: ignore[attr-defined]
    else:
        error = _user_error(report, site, numbers, py_func, _place(report, site, kernel_name))
    error.block, error.thread = report.block, report.thread  # type: ignore[attr-defined]
    error.kernel, error.count = kernel_name, report.count  # type: ignore[attr-defined]
    raise error from None


def _decode_number(pattern: int, kind: NumberKind) -> int | float | bool:
    if kind == "bool":
        return bool(pattern)
    return struct.unpack(_NUMBER_CODES[kind], pattern.to_bytes(8, "little"))[0]  # type: ignore[no-any-return]


def _decode_numbers(report: ThrowReport, site: Site) -> tuple[int | float | bool, ...]:
    return tuple(_decode_number(n, hole.kind) for n, hole in zip(report.numbers, site.holes, strict=False))


def _place(report: ThrowReport, site: Site, kernel_name: str) -> str:
    where = f"{os.path.basename(site.frame.filename)}:{site.frame.line}"
    if site.frame.function != kernel_name:
        where += f", in device function '{site.frame.function}'"
    failed = "1 thread" if report.count == 1 else f"{report.count} threads"
    return f"kernel '{kernel_name}' ({where}), block {report.block}, thread {report.thread}; {failed} failed"


def _bounds_error(
    report: ThrowReport, site: Site, numbers: tuple[int | float | bool, ...], place: str
) -> BaseException:
    if not report.has_details:
        return IndexError(f"index is out of bounds (which index, axis and size is unknown)\n{place}")
    index, axis, size = numbers
    return IndexError(f"index {index} is out of bounds for axis {axis} with size {size}\n{place}")


def _user_error(
    report: ThrowReport,
    site: Site,
    numbers: tuple[int | float | bool, ...],
    py_func: Callable[..., Any] | None,
    place: str,
) -> BaseException:
    cls = resolve_exception(site.exception, py_func)
    remaining = iter(numbers)
    if site.holes and not report.has_details:
        arguments = tuple("<unknown>" if isinstance(part, Hole) else part for part in site.arguments)
    else:
        arguments = tuple(next(remaining) if isinstance(part, Hole) else part for part in site.arguments)
    if len(arguments) == 1 and isinstance(arguments[0], str):
        arguments = (f"{arguments[0]}\n{place}",)
    elif not arguments:
        arguments = (place,)
    try:
        return cls(*arguments)
    except Exception as error:
        # The class is the user's and may want other arguments than the kernel gave.
        return DeviceError(f"{site.exception}{arguments} was thrown, but could not be constructed: {error!r}\n{place}")


def resolve_exception(path: str, py_func: Callable[..., Any] | None = None) -> type[BaseException]:
    """The class named "module:qualname": as `py_func` sees it, else imported. Raises DeviceError."""
    module, _, qualname = path.partition(":")
    name = qualname.rpartition(".")[2]
    for candidate in (_seen_by(py_func, name), getattr(builtins, name, None)):
        if _is_exception(candidate, module, qualname):
            return candidate  # type: ignore[return-value]
    try:
        found: Any = importlib.import_module(module)
        for part in qualname.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise DeviceError(f"a kernel threw {module}.{qualname}, which cannot be found here: {error}") from error
    if not _is_exception(found, found.__module__, found.__qualname__):
        raise DeviceError(f"a kernel threw {module}.{qualname}, which is not an exception class")
    return found  # type: ignore[no-any-return]


def _seen_by(py_func: Callable[..., Any] | None, name: str) -> Any:
    if py_func is None:
        return None
    variables = inspect.getclosurevars(py_func)
    return variables.nonlocals.get(name, variables.globals.get(name))


def _is_exception(candidate: Any, module: str, qualname: str) -> bool:
    return (
        isinstance(candidate, type)
        and issubclass(candidate, BaseException)
        and (candidate.__module__, candidate.__qualname__) == (module, qualname)
    )
