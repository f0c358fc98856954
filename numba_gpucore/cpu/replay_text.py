"""Make the code of one thread harmless to run again. Before: flat_program simplifies it. After: replay.

llvmlite cannot change instructions, so this works on LLVM assembly whose values all have names.
"""

from __future__ import annotations

import re

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.compile.module_text import read_blocks
from numba_gpucore.cpu.thread_text import NOTE_THROW, loop_headers, read_definitions

#: Rounds of loops after which a replay gives up: a loop may wait for a store that was taken away.
MAX_ROUNDS = 10_000_000
_STORE = late_pattern(
    r"^  store (?:atomic |volatile )*[^,]*(?:\{[^}]*\}|\[[^\]]*\]|<[^>]*>)?[^,]*, ptr (?P<pointer>[%@][\w.$-]+)"
)
_MEMORY_CALL = late_pattern(
    r"^  (?:tail )?call void @llvm\.mem(?:set|cpy|move)\S*\(ptr (?:\w+(?:\(\d+\))? |align \d+ )*"
    r"(?P<pointer>[%@][\w.$-]+)"
)
_POINTER = late_pattern(r"^getelementptr [^,]*(?:\{[^}]*\}|\[[^\]]*\])?[^,]*, ptr (%[\w.$-]+)")
_PHI_VALUE = late_pattern(r"\[ ([^,\]]+), %[\w.$-]+ \]")
_SELECT_VALUE = late_pattern(r"^select i1 [^,]+, ptr ([^,]+), ptr ([^,\s]+)")
_CALL = late_pattern(r"call [^@\n]*@(\"?[\w.$]+\"?)\(")
_EXIT = "replay.exit"


class NotReplayable(Exception):
    """The text says why the thread cannot be run again alone."""


def make_harmless(body: str) -> str:
    """The body of a thread (`gpu.run_place`) without stores but those to its own stack, and with loops that end. Raises
    NotReplayable."""
    body = _drop_stores(body)
    blocks = read_blocks(body)
    entry, *_ = blocks
    headers = loop_headers(blocks)
    lines: list[str] = []
    for label, block in blocks.items():
        if label == entry:
            start = (
                ["  %replay.rounds = alloca i32", f"  store i32 {MAX_ROUNDS}, ptr %replay.rounds"] if headers else []
            )
            lines += [f"{label}:", *start, *block]
        elif label in headers:
            lines += _bounded_header(label, block)
        else:
            lines += [f"{label}:", *block]
    text = "\n".join(lines)
    for header in headers:
        # What came from the header's end now comes from its second half.
        text = re.sub(rf"(\[ [^\]]*, )%{re.escape(header)} \]", rf"\g<1>%{header}.rest ]", text)
    return f"{text}\n{_EXIT}:\n  ret i32 -1\n" if headers else f"{text}\n"


def _bounded_header(label: str, block: list[str]) -> list[str]:
    phis = [line for line in block if " = phi " in line]
    name = f"%replay.{label}"
    return [
        f"{label}:",
        *phis,
        f"  {name}.left = load i32, ptr %replay.rounds",
        f"  {name}.less = sub i32 {name}.left, 1",
        f"  store i32 {name}.less, ptr %replay.rounds",
        f"  {name}.done = icmp eq i32 {name}.less, 0",
        f"  br i1 {name}.done, label %{_EXIT}, label %{label}.rest",
        f"{label}.rest:",
        *block[len(phis) :],
    ]


def _drop_stores(body: str) -> str:
    definitions = read_definitions(body)
    kept = []
    for line in body.splitlines():
        found = _STORE.match(line) or _MEMORY_CALL.match(line)
        if found is None:
            _require_harmless(line)
            kept.append(line)
        elif _is_own(found["pointer"], definitions):
            kept.append(line)
    return "\n".join(kept)


def _require_harmless(line: str) -> None:
    if re.match(r"^  (?:store |.*\b(?:atomicrmw|cmpxchg|fence|invoke|indirectbr) )", line):
        raise NotReplayable(f"it does {line.strip()}")
    called = _CALL.search(line)
    if called and called[1] != NOTE_THROW and "memory(none)" not in line and called[1].startswith("gpu."):
        raise NotReplayable(f"it calls {called[1]}")


def _is_own(pointer: str, definitions: dict[str, str]) -> bool:
    """True for a pointer into the thread's stack. Raises NotReplayable where it can be another one, too."""
    roots: set[bool] = set()
    seen: set[str] = set()
    pending = [pointer]
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        text = definitions.get(value, "")
        if found := _POINTER.match(text):
            pending.append(found[1])
        elif text.startswith("phi ptr"):
            pending += _PHI_VALUE.findall(text)
        elif found := _SELECT_VALUE.match(text):
            pending += found.groups()
        else:
            roots.add(text.startswith("alloca "))
    if len(roots) > 1:
        raise NotReplayable("a store goes to the thread's own memory or to that of others, depending on a condition")
    return roots == {True}
