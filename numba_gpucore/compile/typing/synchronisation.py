"""Typing of barriers and fences."""

from __future__ import annotations

from numba_gpucore import language
from numba_gpucore.compile.numba_api import templates, types
from numba_gpucore.compile.typing.registry import declare_cases, declare_typer, require_integer, require_predicate

FENCES = (language.threadfence, language.threadfence_block, language.threadfence_system)
VOTING_BARRIERS = (language.syncthreads_count, language.syncthreads_and, language.syncthreads_or)

for _function in (language.syncthreads, *FENCES):
    declare_cases(_function, templates.signature(types.none))


def type_voting_barrier(predicate):
    require_predicate(predicate)
    return templates.signature(types.int32, types.unliteral(predicate))


for _barrier in VOTING_BARRIERS:
    declare_typer(_barrier)(type_voting_barrier)


@declare_typer(language.syncwarp)
def type_syncwarp(mask=None):
    if mask is None:
        return templates.signature(types.none)
    require_integer(mask, "Mask type")
    return templates.signature(types.none, types.unliteral(mask))


@declare_typer(language.nanosleep)
def type_nanosleep(nanoseconds):
    require_integer(nanoseconds, "nanosleep(nanoseconds): nanoseconds")
    return templates.signature(types.none, types.uint32)
