"""Definitions of the neutral intrinsics for Metal, as LLVM assembly. Before: job. After: `legalize` links them.

Each forwards to a declaration `msl.<name>` that the printer has words for. It carries what LLVM may know (purity, the
range of results), drops the context pointer, and takes thread positions as Metal has them, in 32 bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from numba_gpucore.compile.intrinsics import (
    INTRINSICS,
    Intrinsic,
    SharedArray,
    define_cached_access,
    is_cached_access,
    site_symbol,
)
from numba_gpucore.compile.job import Job

_PREFIX, _OWN_PREFIX = "gpu.", "msl."
#: Metal counts threads of the whole grid in 32 bits, and there are at most 2**32 - 1 of them (the ranges wrap: -1 and 0
#: stand for 2**32 - 1 and 2**32). Source: MSL specification 5.2.3.6, thread_position_in_grid.
_COUNTED_IN_32_BITS = {"gpu.global_id": (0, -1), "gpu.global_size": (1, 0)}


def neutral_name(name: str) -> str:
    """`msl.barrier` → `gpu.barrier`; other names stay."""
    return _PREFIX + name.removeprefix(_OWN_PREFIX) if name.startswith(_OWN_PREFIX) else name


def neutral_intrinsic(name: str) -> Intrinsic | None:
    return INTRINSICS.get(neutral_name(name))


def define_intrinsics(job: Job) -> str:
    """LLVM assembly that defines every intrinsic, shared array and exception site of a job."""
    parts = [*(text for name in sorted(job.intrinsics) for text in _define(INTRINSICS[name]))]
    parts += [text for array in job.shared_arrays for text in _define_shared(array)]
    parts += [
        f"define i32 @{site_symbol(site.content_id)}() alwaysinline nounwind {{\n  ret i32 {index}\n}}"
        for index, site in enumerate(job.sites)
    ]
    return "\n".join(parts)


def _own_name(name: str) -> str:
    return _OWN_PREFIX + name.removeprefix(_PREFIX)


def _define(intrinsic: Intrinsic) -> Iterator[str]:
    if intrinsic.name == "gpu.warp_size":
        yield "define i32 @gpu.warp_size(ptr %context) alwaysinline nounwind {\n  ret i32 32\n}"
        return
    if is_cached_access(intrinsic.name):
        yield define_cached_access(intrinsic.name)
        return
    own = replace(intrinsic, name=_own_name(intrinsic.name), takes_context=False)
    result = intrinsic.result
    counted = _COUNTED_IN_32_BITS.get(intrinsic.name.rpartition(".")[0])
    if counted is not None:
        own = replace(own, result="i32", value_range=counted)
    yield own.declaration()
    names = [f"%a{number}" for number in range(len(intrinsic.params))]
    values = ", ".join(f"{type_} {name}" for type_, name in zip(intrinsic.params, names, strict=True))
    params = ", ".join(filter(None, ["ptr %context" if intrinsic.takes_context else "", values]))
    marks = "alwaysinline nounwind" + (" convergent" if intrinsic.convergent else "")
    called = f"call {own.result} @{own.name}({values})"
    lines = [f"define {result} @{intrinsic.name}({params}) {marks} {{"]
    if result == "void":
        lines += [f"  {called}", "  ret void"]
    elif own.result != result:
        lines += [f"  %.0 = {called}", f"  %.1 = zext {own.result} %.0 to {result}", f"  ret {result} %.1"]
    else:
        lines += [f"  %.1 = {called}", f"  ret {result} %.1"]
    yield "\n".join([*lines, "}"])


def _define_shared(array: SharedArray) -> Iterator[str]:
    own = _own_name(array.symbol)
    yield f'declare noundef nonnull align {array.align_nbytes} ptr @"{own}"() nounwind willreturn memory(none)'
    yield (
        f'define ptr @"{array.symbol}"(ptr %context) alwaysinline nounwind {{\n'
        f'  %.1 = call ptr @"{own}"()\n  ret ptr %.1\n}}'
    )
