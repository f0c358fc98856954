"""Edits of LLVM assembly and PTX that llvmlite offers no pass or switch for. Before: legalize. After: emit.

Each takes a text and gives a text that means the same.
"""

from __future__ import annotations

import re
from collections import Counter

from numba_gpucore.base.late_pattern import late_pattern
from numba_ptxplus.codegen.symbols import strip_abi_tags

#: The flag of arithmetic that is never contracted: libdevice's (see there).
KEPT_ROUNDING = "arcp"
_CONTRACTIBLE = rf"^(  %\S+ = f(?:add|sub|mul|neg|div)) (?!{KEPT_ROUNDING}\b)"
_ARITHMETIC = late_pattern(_CONTRACTIBLE, re.MULTILINE)
_ARITHMETIC_OF_FLOATS = late_pattern(_CONTRACTIBLE + r"(?=(?:<\d+ x )?(?:float|double)\b)", re.MULTILINE)
_DIVISION = late_pattern(r"^(  %\S+ = fdiv) ", re.MULTILINE)
_SQUARE_ROOT = late_pattern(r"^(  %\S+ = (?:tail )?call) (?=[^@]*@llvm\.sqrt\.)", re.MULTILINE)
_ATOMIC = late_pattern(
    r"^(  (?:%\S+ = )?(?:atomicrmw|cmpxchg|load atomic|store atomic) (?!.*syncscope).*?) monotonic", re.MULTILINE
)
_ADDRESS = late_pattern(
    r"^  (?P<name>%\S+) = getelementptr (?:\w+ )*?(?P<type>\S+), ptr (?P<base>%\S+), i64 (?P<index>%\S+)$",
    re.MULTILINE,
)
_COMPILE_UNIT = late_pattern(r"^!(\d+) = distinct !DICompileUnit\(.*emissionKind: (\w+)", re.MULTILINE)
_UNIT_OF = late_pattern(r"unit: !\d+")
_UNIT_LIST = late_pattern(r"^!llvm\.dbg\.cu = .*$", re.MULTILINE)
_LINKAGE_NAME = late_pattern(r'linkageName: "([^"]+)"')
_VALUE = late_pattern(r"%[\w.$]+")
_CALL_NUMBER = late_pattern(r"^(\t[{}]) // callseq .*$", re.MULTILINE)
_FLUSHED_BFLOAT16 = late_pattern(r"^(\t(?:@!?%p\d+ )?[a-z][\w.]*)\.ftz(\.bf16)", re.MULTILINE)
_LABEL = late_pattern(r"^(\$L\w+):$", re.MULTILINE)
_BARRIER = late_pattern(r"^\t(?:bar|barrier)\.", re.MULTILINE)


def permit_fast_forms(text: str, fastmath: bool) -> str:
    """Let multiply-add pairs of floats become `fma`, as CUDA does by default; halves round at each step, as NumPy's do.

    Under fastmath halves are joined too, and division and square root may be approximate, as with nvcc's
    -use_fast_math. Source: LLVM Language Reference, "Fast-Math Flags".
    """
    text = (_ARITHMETIC if fastmath else _ARITHMETIC_OF_FLOATS).sub(r"\1 contract ", text)
    if fastmath:
        text = _DIVISION.sub(r"\1 afn arcp ", text)
        text = _SQUARE_ROOT.sub(r"\1 afn ", text)
    return text


def scope_atomics(text: str) -> str:
    """Make atomics hold among the threads of the device, as CUDA's do, rather than among all that see the memory."""
    return _ATOMIC.sub(r'\1 syncscope("device") monotonic', text)


def merge_address_sums(text: str) -> str:
    """Make `(base + row) + column` one sum of integers and one address, where a basic block has several addresses
    with one column.

    LLVM 22's instruction combiner splits them, which costs a stencil two registers and five of 63 machine
    instructions: NVPTX finds common parts of integer sums, not of addresses. All values must have names. May go when
    benchmarks/ptx_quality.py shows the same without it.
    """
    bases = {found["name"]: found["base"] for found in _ADDRESS.finditer(text)}
    if bases.keys().isdisjoint(bases.values()):
        return text
    uses = Counter(_VALUE.findall(text))
    return "\n".join(line for block in _split_blocks(text) for line in _merge_in_block(block, uses))


def _split_blocks(text: str) -> list[list[str]]:
    """The lines of a text, cut before each label and each line outside functions."""
    blocks: list[list[str]] = [[]]
    for line in text.split("\n"):
        if not line.startswith("  "):
            blocks.append([])
        blocks[-1].append(line)
    return blocks


def _merge_in_block(block: list[str], uses: Counter[str]) -> list[str]:
    addresses = {found["name"]: found for line in block if (found := _ADDRESS.fullmatch(line))}
    splits = {
        outer["name"]: (inner, outer)
        for outer in addresses.values()
        # used by nothing but this address: one mention where it is made, one here
        if (inner := addresses.get(outer["base"])) and inner["type"] == outer["type"] and uses[inner["name"]] == 2
    }
    columns = Counter(outer["index"] for _inner, outer in splits.values())
    merged = {name: (inner, outer) for name, (inner, outer) in splits.items() if columns[outer["index"]] > 1}
    # of a chain of three only the first two: the third's base is what stays
    merged = {name: pair for name, pair in merged.items() if pair[0]["name"] not in merged}
    gone = {inner["name"] for inner, _outer in merged.values()}
    lines = []
    for line in block:
        found = _ADDRESS.fullmatch(line)
        if found and found["name"] in merged:
            inner, outer = merged[found["name"]]
            name, type_ = outer["name"], outer["type"]
            lines.append(f"  {name}.sum = add i64 {inner['index']}, {outer['index']}")
            lines.append(f"  {name} = getelementptr {type_}, ptr {inner['base']}, i64 {name}.sum")
        elif not (found and found["name"] in gone):
            lines.append(line)
    return lines


def merge_compile_units(text: str) -> str:
    """Put every function with lines into one compile unit, one with full debug information if there is one.

    ptxas 13 ends with "overlapping non-identical data" on PTX whose debug information has several units.
    """
    units = _COMPILE_UNIT.findall(text)
    if len(units) < 2:
        return text
    kept = next((number for number, kind in units if kind == "FullDebug"), units[0][0])
    text = _UNIT_OF.sub(f"unit: !{kept}", text)
    return _UNIT_LIST.sub(f"!llvm.dbg.cu = !{{!{kept}}}", text)


def strip_linkage_tags(text: str) -> str:
    """Debug information names functions too: without Numba's tags (see symbols.py)."""
    return _LINKAGE_NAME.sub(lambda found: f'linkageName: "{strip_abi_tags(found[1])}"', text)


def strip_flushing_of_bfloat16(ptx: str) -> str:
    """LLVM 22 writes setp.ftz.bf16 where float32 flushes subnormals (fastmath); PTX has .ftz for f16 and f32 only, and
    ptxas refuses it. Source: PTX ISA, "setp" of half precision."""
    return _FLUSHED_BFLOAT16.sub(r"\1\2", ptx)


def strip_call_numbers(ptx: str) -> str:
    """LLVM numbers calls through the whole life of the process, so PTX would depend on what was compiled before."""
    return _CALL_NUMBER.sub(r"\1", ptx)


def keep_barrier_loops_rolled(ptx: str) -> str:
    """Ask ptxas not to unroll loops that hold a barrier: no instruction moves across one, so copies gain nothing.

    A tiled matrix product takes 117 machine instructions instead of 450. Source: PTX ISA, ".pragma", "nounroll".
    """
    pieces, end = [], 0
    for label in _LABEL.finditer(ptx):
        back = ptx.rfind(f" \t{label[1]};", label.end())
        pieces.append(ptx[end : label.end()])
        end = label.end()
        if back >= 0 and _BARRIER.search(ptx, label.end(), back):
            pieces.append('\n\t.pragma "nounroll";')
    return "".join([*pieces, ptx[end:]])
