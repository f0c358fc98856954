"""From a mailbox to a Python exception. Before: a synchronisation finds that threads threw. After: the user sees it."""

from __future__ import annotations

import builtins
import functools
import importlib
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from numba_gpucore.base.backend import Device
from numba_gpucore.base.errors import DeviceError
from numba_gpucore.base.mailbox import ThrowReport, read_mailbox
from numba_gpucore.base.site import Argument, Frame, Hole, Items, MessagePart, Site, Text
from numba_gpucore.launch.number_text import decode_number, number_text

if TYPE_CHECKING:
    from numba_gpucore.launch.session import ProgramSource

_ABOUT_CHECKS = (
    "GPUs do not check indices, and read or write whatever is there: "
    "NUMBA_BOUNDSCHECK=0, or @jit(boundscheck=False), runs the kernel like that"
)


def raise_from_mailbox(mailbox: bytes, device: Device, sources: Mapping[tuple[Device, int], ProgramSource]) -> None:
    """Raise what the mailbox reports, if anything."""
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
    site, source = artifact.sites[report.site], sources.get((device, report.program))
    raise_from_site(report, site, artifact.kernel_name, source)


def raise_from_site(report: ThrowReport, site: Site, kernel_name: str, source: ProgramSource | None = None) -> NoReturn:
    """Raise the exception of a site, with .block .thread .kernel .count and for bounds checks .index .axis .size."""
    numbers = _decode_numbers(report, site)
    place = _place(report, site, kernel_name)
    if source is not None and source.adds_cuda_place:
        place += "\n" + _cuda_place(report, site, kernel_name)
    if site.is_bounds_check:
        if source is not None and source.checks_unasked:
            place += f"\n{_ABOUT_CHECKS}"
        error: BaseException = _bounds_error(report, numbers, place)
        if report.has_details:
            error.index, error.axis, error.size = numbers  # type: ignore[attr-defined]
    else:
        error = _user_error(report, site, source, place)
    error.block, error.thread = report.block, report.thread  # type: ignore[attr-defined]
    error.kernel, error.count = kernel_name, report.count  # type: ignore[attr-defined]
    outermost_first = site.ways[0][::-1]
    raise_at(outermost_first, error)


def _decode_numbers(report: ThrowReport, site: Site) -> tuple[Any, ...]:
    patterns = iter(report.numbers)
    return tuple(decode_number(patterns, hole.kind) for hole in site.holes)


def _place(report: ThrowReport, site: Site, kernel_name: str) -> str:
    failed = ("" if report.counts_all else "at least ") + (
        "1 thread" if report.count == 1 else f"{report.count} threads"
    )
    return (
        f"kernel '{kernel_name}' ({describe_traces(site, kernel_name)}), "
        f"block {report.block}, thread {report.thread}; {failed} failed"
    )


def _cuda_place(report: ThrowReport, site: Site, kernel_name: str) -> str:
    """The place in numba.cuda's words, with the text of the exception behind it: programs look for these."""
    (*_, frame) = site.ways[0]
    arguments = _arguments(report, site)
    text = f": {arguments[0]!s}" if arguments and not site.is_bounds_check else ""
    return (
        f"In function '{kernel_name.rpartition('.')[2]}', file {frame.filename}, line {frame.line}, "
        f"tid={list(report.thread)} ctaid={list(report.block)}{text}"
    )


def describe_traces(site: Site, kernel_name: str) -> str:
    """`saxpy.py:12, in device function 'load' called at saxpy.py:20`; several ways to a site are joined by "or"."""
    return " or ".join(dict.fromkeys(_describe_trace(trace, kernel_name) for trace in site.ways))


def _describe_trace(trace: tuple[Frame, ...], kernel_name: str) -> str:
    innermost, *callers = trace
    text = _file_line(innermost)
    if callers or innermost.function != kernel_name:
        text += f", in device function '{innermost.function}'"
    for position, caller in enumerate(callers):
        is_last = position == len(callers) - 1
        text += f" called at {_file_line(caller)}"
        text += "" if is_last else f" in '{caller.function}'"
    return text


def _file_line(frame: Frame) -> str:
    return f"{os.path.basename(frame.filename)}:{frame.line}"


def raise_at(frames: Sequence[Frame], error: BaseException) -> NoReturn:
    """Raise with a traceback that ends in the given lines of source, outermost first.

    Each frame is a code object of its own with that file, line and function name: tracebacks and debuggers show the
    user's source, though the line never ran on the host.
    """
    call: Callable[[], Any] = functools.partial(exec, *_line_code(frames[-1], "raise error from None", error=error))
    for frame in reversed(frames[:-1]):
        call = functools.partial(exec, *_line_code(frame, "call()", call=call))
    call()
    raise AssertionError("unreachable: the innermost frame raises")


def _line_code(frame: Frame, statement: str, **names: Any) -> tuple[CodeType, dict[str, Any]]:
    # `co_qualname` follows `co_name` only where replace() knows it (Python 3.11).
    code = compile("\n" * (max(frame.line, 1) - 1) + statement, frame.filename, "exec")
    return code.replace(co_name=frame.function), names


def _bounds_error(report: ThrowReport, numbers: tuple[int | float | bool, ...], place: str) -> BaseException:
    if not report.has_details:
        return IndexError(f"index is out of bounds (which index, axis and size is unknown)\n{place}")
    index, axis, size = numbers
    return IndexError(f"index {index} is out of bounds for axis {axis} with size {size}\n{place}")


def _user_error(
    report: ThrowReport,
    site: Site,
    source: ProgramSource | None,
    place: str,
) -> BaseException:
    cls = resolve_exception(site.exception, None if source is None else source.py_func)
    arguments = _arguments(report, site)
    notes = []
    if len(arguments) == 1 and isinstance(arguments[0], str):
        arguments = (f"{arguments[0]}\n{place}",)
    elif not arguments:
        arguments = (place,)
    else:
        notes.append(place)
    try:
        error = cls(*arguments)
        # What add_note would make, which Python has from 3.11 on.
        error.__notes__ = notes
        return error
    except Exception as error:
        # The class is the user's and may want other arguments than the kernel gave.
        return DeviceError(f"{site.exception}{arguments} was thrown, but could not be constructed: {error!r}\n{place}")


def _arguments(report: ThrowReport, site: Site) -> tuple[MessagePart, ...]:
    """What the user's exception gets. Where only site and thread are known, numbers are `"<unknown>"`."""
    patterns = iter(report.numbers)

    def text(part: MessagePart | Hole) -> str:
        if not isinstance(part, Hole):
            return str(part)
        return number_text(patterns, part) if report.has_details else "<unknown>"

    def argument(part: Argument) -> MessagePart:
        if isinstance(part, Text):
            return "".join(map(text, part.parts))
        if isinstance(part, Items):
            return tuple(map(argument, part.items))
        if not isinstance(part, Hole):
            return part
        return decode_number(patterns, part.kind) if report.has_details else "<unknown>"

    return tuple(map(argument, site.arguments))


def resolve_exception(path: str, py_func: Callable[..., Any] | None = None) -> type[BaseException]:
    """The class named "module:qualname": as `py_func` sees it, else imported. Raises DeviceError."""
    module, _, qualname = path.partition(":")
    name = qualname.rpartition(".")[2]
    for candidate in (*_seen_by(py_func, name), getattr(builtins, name, None)):
        if _is_exception(candidate, module, qualname):
            return candidate  # type: ignore[no-any-return]
    try:
        found: Any = importlib.import_module(module)
        for part in qualname.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise DeviceError(f"a kernel threw {module}.{qualname}, which cannot be found here: {error}") from error
    if not _is_exception(found, found.__module__, found.__qualname__):
        raise DeviceError(f"a kernel threw {module}.{qualname}, which is not an exception class")
    return found  # type: ignore[no-any-return]


def _seen_by(py_func: Callable[..., Any] | None, name: str) -> Iterator[Any]:
    """What a name means to a kernel and to the device functions that it mentions: classes made in functions are found
    nowhere else."""
    pending, seen = [py_func], set()
    while pending:
        function = pending.pop()
        if function is None or id(function) in seen:
            continue
        seen.add(id(function))
        variables = inspect.getclosurevars(function)
        values = {**variables.globals, **variables.nonlocals}
        yield values.get(name)
        yield from (getattr(value, name, None) for value in values.values() if isinstance(value, (type, ModuleType)))
        pending += [getattr(value, "py_func", None) for value in values.values()]


def _is_exception(candidate: Any, module: str, qualname: str) -> bool:
    return (
        isinstance(candidate, type)
        and issubclass(candidate, BaseException)
        and (candidate.__module__, candidate.__qualname__) == (module, qualname)
    )
