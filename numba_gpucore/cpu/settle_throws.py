"""Settle what a throw does in a flat program. Before: bound_rows. After: the optimiser.

A call or an atomic in a cold path keeps LLVM from vectorising (14.6 times slower on a compute-bound kernel), so:

* Where threads that may throw are told by their x alone, they run apart from the others, one by one, and report
  everything themselves. Nearly all kernels are so: what they can do wrong is to exceed an array.
* So do threads with loops of their own or atomics, which do not run in vectors.
* Else a throw only lowers the row's first failure, a minimum that LLVM vectorises, and that thread is run again after
  the launch to find the details (`replay`).
"""

from __future__ import annotations

import re

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.base.records import dataclass
from numba_gpucore.cpu.bound_rows import has_effect
from numba_gpucore.cpu.definitions import read_ir
from numba_gpucore.cpu.stride_rows import runs_rounds
from numba_gpucore.cpu.thread_text import (
    BRANCH,
    NOTE_THROW,
    PLAIN_SYMBOL,
    SETTLED,
    ThreadText,
    define_declared,
    loop_headers,
    read_logic,
)

#: Outcomes of conditions that bound_rows has settled, by what they are then.
_OUTCOMES = {text: outcome for outcome, text in SETTLED.items()}
_CHOICE = late_pattern(r"^select i1 [^,]+, i64 ")
#: The function with the loop over threads whose comparisons are not settled, in ir/flat.ll, up to the loop's end.
_SCALAR_LOOP = late_pattern(
    r"(?P<head>^define [^\n]*@gpu\.run_threads\([^\n]*)"
    r"(?P<body> \{\n.*?^  br i1 %threads\.more, label %threads, label %exit)$",
    re.MULTILINE | re.DOTALL,
)
_METADATA = late_pattern(r"^!(\d+) = ", re.MULTILINE)
#: What a report tells (base.mailbox): the numbers and how many threads threw, or the numbers only, since a thread that
#: threw may have further rounds.
_ALL, _FIRST_OF_ROUNDS = 1, 3


@dataclass(frozen=True)
class SettledProgram:
    """needs_replay: a throw does not leave its details behind. n_definitions: of a thread's values. has_loops: of its
    own, so that threads do not run in vectors."""

    text: str
    needs_replay: bool
    n_definitions: int
    has_loops: bool


def settle_throws(text: str, always_reports: bool) -> SettledProgram:
    """Define what ir/flat.ll declares for throws, and leave the loop over threads that may throw as it is where few
    threads come there. `always_reports`: nothing is vectorised anyway."""
    every, plain = ThreadText.find(text), ThreadText.find(text, PLAIN_SYMBOL)
    live, plain_live = _live_blocks(every), _live_blocks(plain)
    is_apart = _are_apart(every, plain, live - plain_live)
    throws = any(map(plain.throws, plain_live)) if is_apart else any(map(every.throws, live))
    has_loops = bool(loop_headers(every.blocks))
    reports = always_reports or not throws or has_loops
    if is_apart:
        text = _keep_loop_scalar(text)
    definition = read_ir("throw_report" if reports else "throw_first")
    details = _FIRST_OF_ROUNDS if runs_rounds(text) else _ALL
    definition = definition.replace("i32 DETAILS", f"i32 {details}")
    text = define_declared(text, {NOTE_THROW: lambda _: definition})
    return SettledProgram(text, not reports, len(every.definitions), has_loops)


def _keep_loop_scalar(text: str) -> str:
    """One loop, neither in vectors nor in a version for each condition that its threads have in common, which took a
    fifth of a stencil's compilation. Source: LLVM Language Reference Manual, "llvm.loop", "optsize"."""
    loop = max(map(int, _METADATA.findall(text)), default=-1) + 1
    return (
        _SCALAR_LOOP.sub(rf"\g<head> optsize\g<body>, !llvm.loop !{loop}", text)
        + f"\n!{loop} = distinct !{{!{loop}, !{loop + 1}, !{loop + 2}}}\n"
        + f'!{loop + 1} = !{{!"llvm.loop.vectorize.enable", i1 false}}\n'
        + f'!{loop + 2} = !{{!"llvm.loop.unroll.disable"}}\n'
    )


def _are_apart(every: ThreadText, plain: ThreadText, more: set[str]) -> bool:
    """True if threads whose comparisons are not settled do what the others do, or throw; `more`: blocks that only they
    come to."""
    settled = [name for name, text in plain.definitions.items() if text in _OUTCOMES]
    settled = [name for name in settled if every.definitions[name] not in _OUTCOMES]
    returns = {label for label, lines in every.blocks.items() if lines[-1].startswith("  ret ")}
    return (
        bool(settled)
        and any(map(every.throws, more))
        and not any(has_effect(line) for label in more for line in every.blocks[label])
        and all(target in more | returns for label in more for target in every.targets(label))
        and all(_only_guards(every, name) for name in settled)
    )


def _only_guards(thread: ThreadText, condition: str) -> bool:
    """True if a condition only says where to go, and which end of an array an index counts from."""
    for user in thread.users(condition):
        text = thread.definitions.get(user, "")
        if read_logic(text)[0]:
            if not _only_guards(thread, user):
                return False
        elif not (user.startswith("br ") or _CHOICE.match(text)):
            return False
    return True


def _live_blocks(thread: ThreadText) -> set[str]:
    """Blocks that control comes to, as far as its conditions are known."""
    known = _known_conditions(thread)
    first = next(iter(thread.blocks))
    found, pending = {first}, [first]
    while pending:
        for target in _next_blocks(thread, pending.pop(), known):
            if target not in found:
                found.add(target)
                pending.append(target)
    return found


def _next_blocks(thread: ThreadText, label: str, known: dict[str, bool]) -> list[str]:
    branch = BRANCH.match(thread.blocks[label][-1])
    if branch is None or branch.group(1) not in known:
        return thread.targets(label)
    return [branch.group(2 if known[branch.group(1)] else 3)]


def _known_conditions(thread: ThreadText) -> dict[str, bool]:
    """What conditions are, as far as bound_rows has settled it."""
    known: dict[str, bool] = {}
    for name, text in thread.definitions.items():
        if " i1 " not in text:
            continue
        logic, names = read_logic(text)
        parts = [known.get(part) for part in names]
        if text in _OUTCOMES:
            known[name] = _OUTCOMES[text]
        elif logic == "not" and parts[0] is not None:
            known[name] = not parts[0]
        elif logic in ("and", "or"):
            decisive = logic == "or"
            if decisive in parts:
                known[name] = decisive
            elif None not in parts:
                known[name] = not decisive
    return known
