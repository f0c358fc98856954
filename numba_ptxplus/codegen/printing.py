"""How a PTX kernel prints: `gpu.print.*` on the ring behind the mailbox. Before: lower.printing. After: the host.

Layout of the ring: `base.print_ring`. The functions are not inlined: a print is rare, its code is the same each time.
"""

from __future__ import annotations

from numba_gpucore.base.print_ring import RECORD_HEAD_WORDS, RECORDS_OFFSET, RING_OFFSET, RING_WORDS
from numba_ptxplus.codegen.mailbox import OPEN_BOX
from numba_ptxplus.driver.abi import PROGRAM_VARIABLE


def _store_word(name: str, place: str, offset: str, word: str) -> str:
    """Write one word of the record at `place`; `name` keeps the values of several apart."""
    return f"""\
 %{name}.sum = add i32 {place}, {offset}
 %{name}.index = and i32 %{name}.sum, {RING_WORDS - 1}
 %{name}.wide = zext i32 %{name}.index to i64
 %{name}.nbytes = shl i64 %{name}.wide, 2
 %{name}.from_box = add i64 %{name}.nbytes, {RECORDS_OFFSET}
 %{name}.at = getelementptr i8, ptr addrspace(1) %box, i64 %{name}.from_box
 store volatile i32 {word}, ptr addrspace(1) %{name}.at
"""


_RESERVE = f"""\
define i32 @gpu.print.begin(ptr %context, i32 %line, i32 %words) noinline nounwind {{
entry:
{OPEN_BOX}\
 %head.at = getelementptr i8, ptr addrspace(1) %box, i64 {RING_OFFSET}
 %tail.at = getelementptr i8, ptr addrspace(1) %box, i64 {RING_OFFSET + 4}
 %lost.at = getelementptr i8, ptr addrspace(1) %box, i64 {RING_OFFSET + 8}
 br label %try
try:
 %head = load volatile i32, ptr addrspace(1) %head.at
 %tail = load volatile i32, ptr addrspace(1) %tail.at
 %used = sub i32 %head, %tail
 %free = sub i32 {RING_WORDS}, %used
 %fits = icmp ule i32 %words, %free
 br i1 %fits, label %claim, label %full
claim:
 %next = add i32 %head, %words
 %swap = cmpxchg ptr addrspace(1) %head.at, i32 %head, i32 %next monotonic monotonic
 %won = extractvalue {{ i32, i1 }} %swap, 1
 br i1 %won, label %write, label %try
write:
 %number = load i64, ptr addrspace(1) @{PROGRAM_VARIABLE}
 %program = trunc i64 %number to i32
{_store_word("p", "%head", "1", "%program")}\
{_store_word("l", "%head", "2", "%line")}\
 ret i32 %head
full:
 %before = atomicrmw add ptr addrspace(1) %lost.at, i32 1 monotonic
 ret i32 -1
}}"""
_NUMBER = f"""\
define void @gpu.print.number(ptr %context, i32 %place, i32 %position, i64 %number) noinline nounwind {{
 %twice = shl i32 %position, 1
 %low.offset = add i32 %twice, {RECORD_HEAD_WORDS}
 %high.offset = add i32 %twice, {RECORD_HEAD_WORDS + 1}
 %low = trunc i64 %number to i32
 %shifted = lshr i64 %number, 32
 %high = trunc i64 %shifted to i32
{OPEN_BOX}\
{_store_word("a", "%place", "%low.offset", "%low")}\
{_store_word("b", "%place", "%high.offset", "%high")}\
 ret void
}}"""
_END = f"""\
define void @gpu.print.end(ptr %context, i32 %place, i32 %words) noinline nounwind {{
 fence syncscope("device") release
{OPEN_BOX}\
{_store_word("w", "%place", "0", "%words")}\
 ret void
}}"""


def define_printing(has_mailbox: bool) -> str:
    """Definitions of all three. Code for other programs has no ring: there a print writes nothing."""
    if not has_mailbox:
        return (
            "define i32 @gpu.print.begin(ptr %context, i32 %line, i32 %words) alwaysinline nounwind {\n ret i32 -1\n}\n"
            "define void @gpu.print.number(ptr %context, i32 %place, i32 %position, i64 %number) alwaysinline nounwind "
            "{\n ret void\n}\n"
            "define void @gpu.print.end(ptr %context, i32 %place, i32 %words) alwaysinline nounwind {\n ret void\n}"
        )
    return "\n".join((_RESERVE, _NUMBER, _END))
