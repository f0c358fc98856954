"""Vector loads and stores: a second version of a kernel, for arrays that start at multiples of 16 bytes.

Before: emit has the PTX of the only version. After: emit, where the second one is worth its code. Whether arrays are
aligned is known at launch only: whole ones are, views may not be. All threads take the same version.
"""

from __future__ import annotations

import re
from collections import defaultdict

from numba_gpucore.base.argtypes import ArrayType
from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.compile.job import Job
from numba_ptxplus.driver.abi import VECTOR_NBYTES

_ACCESS = late_pattern(r"^\t(ld|st)\.global(?:\.nc)?\.[a-z]*(\d+) .*?\[(%rd\d+)(?:\+(\d+))?\]", re.MULTILINE)
_VECTOR_ACCESS = late_pattern(r"\.global(?:\.nc)?\.v[248]\.")
_KERNEL = late_pattern(
    r"^define ptx_kernel void @(?P<name>[\w$]+)\((?P<params>[^\n]*)\)(?P<marks>[^{\n]*) \{\n(?P<body>.*?)^\}\n",
    re.MULTILINE | re.DOTALL,
)
#: Type and name, between them attributes.
_PARAM = late_pattern(r"(ptr addrspace\(1\)|\w+)(?: [^%]*?)? (%p\d+)(?:, |$)")
#: Marks the versions while they are optimised.
_APART = 'noinline "numba-version"'
_APART_GROUP = late_pattern(r'^attributes #\d+ = \{[^}\n]*"numba-version"[^}\n]*\}', re.MULTILINE)


def has_neighbours(ptx: str) -> bool:
    """Whether one thread loads or stores all items of 16 bytes in a row, one by one: what a vector access could do."""
    offsets: dict[tuple[str, int, str], set[int]] = defaultdict(set)
    for operation, bits, base, offset in _ACCESS.findall(ptx):
        offsets[operation, int(bits) // 8, base].add(int(offset or 0))
    return any(
        all(first + step in found for step in range(0, VECTOR_NBYTES, nbytes))
        for (_operation, nbytes, _base), found in offsets.items()
        if 4 <= nbytes < VECTOR_NBYTES
        for first in found
        if first % VECTOR_NBYTES == 0
    )


def count_vectors(ptx: str) -> int:
    """Vector accesses of global memory."""
    return len(_VECTOR_ACCESS.findall(ptx))


def add_aligned_version(text: str, job: Job) -> str:
    """LLVM assembly of a kernel that asks where its arrays start, and calls one of two copies of its body.

    The copies are not inlined at first: the optimiser would find them equal and join them."""
    found = _KERNEL.search(text)
    assert found, "the module has one kernel"
    name, params = found["name"], found["params"]
    arguments = ", ".join(f"{type_} {value}" for type_, value in _PARAM.findall(params))
    arrays = [f"%p{i}" for i in array_slots(job)]
    lines, total = [], "0"
    for array in arrays:
        lines += [f"{array}.i = ptrtoint ptr addrspace(1) {array} to i64", f"{array}.or = or i64 {total}, {array}.i"]
        total = f"{array}.or"
    lines += [
        f"%rest = and i64 {total}, {VECTOR_NBYTES - 1}",
        "%is.aligned = icmp eq i64 %rest, 0",
        "br i1 %is.aligned, label %aligned, label %any",
    ]
    # Said of the generic pointers: LLVM knows nothing of an address after a change of its space.
    fact = rf'\g<0>\n  call void @llvm.assume(i1 true) [ "align"(ptr \g<1>, i64 {VECTOR_NBYTES}) ]'
    aligned_body = re.sub(
        rf"^  (%\S+) = addrspacecast .* (?:{'|'.join(arrays)}) to ptr$", fact, found["body"], flags=re.M
    )
    kernel = "\n  ".join(lines)
    return (
        f"{text[: found.start()]}"
        f"define internal void @{name}.aligned({params}) {_APART} {{\n{aligned_body}}}\n"
        f"define internal void @{name}.any({params}) {_APART} {{\n{found['body']}}}\n"
        f"define ptx_kernel void @{name}({params}){found['marks']} {{\n  {kernel}\n"
        f"aligned:\n  call void @{name}.aligned({arguments})\n  ret void\n"
        f"any:\n  call void @{name}.any({arguments})\n  ret void\n}}\n"
        f"{'' if ' @llvm.assume(' in text else 'declare void @llvm.assume(i1)'}\n{text[found.end() :]}"
    )


def array_slots(job: Job) -> list[int]:
    """The indices of the slots with addresses of arrays."""
    types = job.request.arg_types
    return [
        i for i, slot in enumerate(job.slots) if slot.kind == "address" and isinstance(types[slot.argument], ArrayType)
    ]


def permit_inlining(text: str) -> str:
    """The assembly of an optimised module whose versions may be inlined now."""
    return _APART_GROUP.sub(lambda group: group[0].replace("noinline", "alwaysinline", 1), text)
