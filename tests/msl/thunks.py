"""C++ text that calls a kernel with the run-time's arguments. Before: lint_kernel.py. After: library.py compiles it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tests.msl.findings import KernelParam, KernelSignature

#: attribute -> member of __msl_ctx in mslshim/sync.h, an array of 3
_POSITIONS = {
    "thread_position_in_grid": "gpos",
    "thread_position_in_threadgroup": "tpos",
    "threadgroup_position_in_grid": "tgpos",
    "threads_per_grid": "gsize",
    "threads_per_threadgroup": "tgsize",
    "dispatch_threads_per_threadgroup": "dtgsize",
    "threadgroups_per_grid": "ntg",
}
_INDICES = {
    "thread_index_in_threadgroup": "tidx",
    "thread_index_in_simdgroup": "lane",
    "simdgroup_index_in_threadgroup": "simd",
    "simdgroups_per_threadgroup": "nsimd",
    "dispatch_simdgroups_per_threadgroup": "dnsimd",
}
ANCHOR = "msl_anchor"


def thread_symbol(kernel: str) -> str:
    return f"msl_thread_{kernel}"


def row_symbol(kernel: str) -> str:
    return f"msl_row_{kernel}"


def write_thunks(kernels: Iterable[KernelSignature]) -> str:
    """For each kernel a function that runs one thread, and one that runs a row of threads as a plain loop."""
    parts = ['\n#line 1 "thunks"', 'extern "C" {', f"void {ANCHOR}() {{}}"]
    for kernel in kernels:
        arguments = ", ".join(_argument(slot, param) for slot, param in enumerate(kernel.params))
        call = f"::{kernel.name}({arguments})"
        params = "__private const __msl_ctx *given, __private const metal::ulong *a"
        parts.append(
            f"void {thread_symbol(kernel.name)}({params}) {{ __private const __msl_ctx &c = *given; {call}; }}\n"
            f"void {row_symbol(kernel.name)}({params}, metal::uint count) {{\n"
            "  __msl_ctx c = *given;\n"
            "  for (metal::uint i = 0; i < count; i++) {\n"
            f"    c.lane = c.tidx & 31; c.simd = c.tidx >> 5; {call};\n"
            "    c.gpos[0]++; c.tpos[0]++; c.tidx++;\n"
            "  }\n"
            "}"
        )
    return "\n".join([*parts, "}", ""])


def _argument(slot: int, param: KernelParam) -> str:
    if param.attribute in ("buffer", "threadgroup"):
        if param.is_reference:
            return f"*({param.type[:-1].strip()} *)a[{slot}]"
        return f"({param.type})a[{slot}]"
    if param.attribute in ("threads_per_simdgroup", "thread_execution_width"):
        return "32"
    shape = re.match(r"(ushort|uint)([23]?)$", param.type)
    assert shape, param
    scalar, width = f"metal::{shape[1]}", int(shape[2] or 1)
    if param.attribute in _INDICES:
        return f"({scalar})c.{_INDICES[param.attribute]}"
    member = _POSITIONS[param.attribute]
    values = ", ".join(f"({scalar})c.{member}[{i}]" for i in range(width))
    return values if width == 1 else f"metal::{param.type}{{{values}}}"
