"""From which calls a place can be reached. Before: lowering notes calls and sites. After: Artifact.sites, errors.

Device functions are inlined and a throw only knows its site, so the chain of calls is found here, at no cost on the
device: the call graph tells it, and where several paths lead to a site all of them are told.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numba

from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.site import MAX_TRACES, Frame, Site
from numba_gpucore.compile.code_library import Call, DeviceLibrary

_OWN_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_LIBRARY_FOLDERS = (_OWN_FOLDER, os.path.join(os.path.dirname(numba.__file__), ""))


def is_own_file(filename: str) -> bool:
    """True inside this project's core."""
    return filename.startswith(_OWN_FOLDER)


def is_library_file(filename: str) -> bool:
    """True inside Numba and this project, where no user wrote anything."""
    return filename.startswith(_LIBRARY_FOLDERS)


def sites_with_traces(library: DeviceLibrary, kernel_symbol: str) -> dict[int, Site]:
    """Every exception site below a kernel, with its traces; frames inside Numba or this project are left out."""
    callers = _callers(library)
    return {
        content_id: replace(site, traces=_traces(site, owners, callers, kernel_symbol))
        for content_id, (site, owners) in library.all_sites().items()
    }


def _callers(library: DeviceLibrary) -> dict[str, list[Call]]:
    """The calls of a library and of what it calls, by callee."""
    callers: dict[str, list[Call]] = {}
    for call in library.all_calls():
        callers.setdefault(call.callee, []).append(call)
    return callers


def _traces(
    site: Site, owners: Iterable[str], callers: dict[str, list[Call]], kernel_symbol: str
) -> tuple[tuple[Frame, ...], ...]:
    found: dict[tuple[Frame, ...], None] = {}
    for owner in owners:
        for path in _paths_to_kernel(owner, callers, kernel_symbol, frozenset()):
            trace = tuple(frame for frame in (site.frame, *path) if not is_library_file(frame.filename))
            if trace:
                found[trace] = None
            if len(found) == MAX_TRACES:
                return tuple(found)
    return tuple(found)


def _paths_to_kernel(
    symbol: str, callers: dict[str, list[Call]], kernel_symbol: str, seen: frozenset[str]
) -> Iterator[tuple[Frame, ...]]:
    """The frames of the calls that lead to `symbol`, innermost first; recursion is followed once."""
    if symbol == kernel_symbol:
        yield ()
        return
    for call in callers.get(symbol, ()):
        if call.caller not in seen and call.caller != symbol:
            for outer in _paths_to_kernel(call.caller, callers, kernel_symbol, seen | {symbol}):
                yield (call.frame, *outer)


def user_place(symbol: str, library: DeviceLibrary, request: CompileRequest) -> tuple[str, int]:
    """The user's file and line that need a symbol, through a library's functions too; the kernel's first otherwise."""
    return _user_place(library.needs_of(symbol), library, request)


def user_place_of_function(holder: DeviceLibrary, library: DeviceLibrary, request: CompileRequest) -> tuple[str, int]:
    """Where the function of `holder`, one of those that `library` needs, is defined; its callers where that is in a
    library."""
    definition = replace(holder.current_frame, line_offset=0)
    return _user_place([(definition, holder.defined_functions())], library, request)


def _user_place(
    needs: Iterable[tuple[Frame, list[str]]], library: DeviceLibrary, request: CompileRequest
) -> tuple[str, int]:
    callers = _callers(library)
    pending = [(frame, owner) for frame, owners in needs for owner in owners]
    seen: set[str] = set()
    while pending:
        frame, owner = pending.pop(0)
        if not is_library_file(frame.filename):
            return frame.filename, frame.line
        if owner not in seen:
            seen.add(owner)
            pending += [(call.frame, call.caller) for call in callers.get(owner, ())]
    code = request.py_func.__code__
    return code.co_filename, code.co_firstlineno
