"""Grid-stride loops run row by row. Before: merge_blocks. After: bound_rows.

`for i in range(grid(1), n, gridsize(1))` makes each thread jump through memory by the size of the grid: on a CPU a
cache miss for every item, and nothing to vectorise (22 times slower than a plain loop on saxpy). Where such a loop is
all that a thread does, and carries nothing but i from one round to the next, ir/flat.ll runs the first round of a whole
row of threads, then their second, and so on. Each thread's rounds keep their order, and threads without barriers have
none among each other. The thread's code becomes one round, with i for x.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.base.records import dataclass
from numba_gpucore.compile.module_text import read_functions
from numba_gpucore.cpu.bound_rows import find_guards, has_effect
from numba_gpucore.cpu.thread_text import (
    BRANCH,
    DISTANCE,
    FAILURE,
    NOTE_THROW,
    SETTLED,
    ThreadText,
    X,
    define_declared,
    incoming_values,
    params_type,
    read_definitions,
    row_params,
)

_ADD = late_pattern(r"^add (?:n[us]w )*i64 (\S+), (\S+)$")
#: The size of the grid: a product of extents, which cannot overflow.
_STRIDE = late_pattern(r"^mul nuw nsw i64 %\S+, %\S+$")
_BELOW = late_pattern(r"^icmp (?:samesign )?[su]lt i64 (\S+), (\S+)$")
_ROUNDS_LEFT = late_pattern(r"^icmp (?:samesign )?[su]gt i64 (%\S+), 1$")
_SOME_ROUNDS = late_pattern(r"^icmp (?:samesign )?(?:[su]gt|ne) i64 (%\S+), 0$")
_COUNT_DOWN = late_pattern(r"^add (?:n[us]w )*i64 (%\S+), -1$")
_QUOTIENT = late_pattern(r"^[su]div i64 (\S+), (\S+)$")
_REMAINDER = late_pattern(r"^[su]rem i64 (\S+), (\S+)$")
_WIDENED = late_pattern(r"^zext i1 (%\S+) to i64$")
_NOT_ZERO = late_pattern(r"^icmp ne i64 (%\S+), 0$")
_THROW = late_pattern(rf"^(?:tail )?call i32 @{re.escape(NOTE_THROW)}\(")
#: Guards that say `x < stop`.
_SAME_AS_BELOW = frozenset({("slt", 0), ("ult", 0), ("sle", -1)})


@dataclass(frozen=True)
class GridStrideLoop:
    """i (`index`) runs from x in steps of `length` below `stop`. `first_round` maps values that the loop carries to
    those of its first round. `distance`, `rounds` and `counter` belong to Numba's ranges, which count down the
    ceil(distance / length) rounds left."""

    header: str
    latch: str
    after: str
    index: str
    length: str
    stop: str
    first_round: dict[str, str]
    distance: str = ""
    rounds: str = ""
    counter: str = ""


def stride_rows(text: str) -> str:
    """Rewrite the thread's function in a module's text if it is such a loop; define `gpu.stride_length` (0: it is none)
    and `gpu.stride_stop`."""
    thread = ThreadText.find(text)
    loops = (_read_loop(thread, header) for header in thread.blocks)
    loop = next((found for found in loops if found is not None and _is_all(thread, found)), None)
    if loop is not None:
        text = text.replace(thread.body, _keep_one_round(thread, loop))
    return define_declared(
        text, {f"gpu.stride_{end}": partial(_define, end, thread, loop) for end in ("length", "stop")}
    )


def _read_loop(thread: ThreadText, header: str) -> GridStrideLoop | None:
    """The loop that starts at a block, if it has the form of a grid-stride loop."""
    phis = {
        name: incoming_values(text)
        for name, text in read_definitions("\n".join(thread.blocks[header])).items()
        if text.startswith("phi ")
    }
    index = next((name for name, values in phis.items() if X in values.values()), None)
    if index is None or len(phis[index]) != 2:
        return None
    entry, latch = sorted(phis[index], key=lambda source: phis[index][source] != X)
    following = phis[index][latch]
    step = thread.operands(following, _ADD)
    branch = BRANCH.match(thread.blocks[latch][-1])
    if index not in step or branch is None or branch.group(2) != header:
        return None
    length = step[1] if step[0] == index else step[0]
    first_round = {name: values[entry] for name, values in phis.items()}
    loop = GridStrideLoop(header, latch, branch.group(3), index, length, "", first_round)
    return _read_end(thread, loop, branch.group(1), following)


def _read_end(thread: ThreadText, loop: GridStrideLoop, condition: str, following: str) -> GridStrideLoop | None:
    """Add what ends the loop: `i + length < stop`, or that no round is left."""
    below = thread.operands(condition, _BELOW)
    if below and below[0] == following:
        return replace(loop, stop=below[1])
    # Either the counter is compared with 1, or what is left of it with 0.
    counter = thread.operand(condition, _ROUNDS_LEFT)
    counter = counter or thread.operand(thread.operand(condition, _SOME_ROUNDS), _COUNT_DOWN)
    rounds = loop.first_round.get(counter, "")
    terms = thread.operands(rounds, _ADD)
    for whole, rest in (terms, terms[::-1]) if terms else ():
        divided = thread.operands(whole, _QUOTIENT)
        left_over = thread.operands(thread.operand(thread.operand(rest, _WIDENED), _NOT_ZERO), _REMAINDER)
        if divided and divided == left_over and divided[1] == loop.length:
            stop = thread.operand(divided[0], DISTANCE)
            if stop:
                return replace(loop, stop=stop, distance=divided[0], rounds=rounds, counter=counter)
    return None


def _is_all(thread: ThreadText, loop: GridStrideLoop) -> bool:
    """True if the loop is all that a thread does, and its rounds could be those of different threads."""
    from_header = thread.reachable(loop.header, without=loop.latch)
    inside = {loop.header, loop.latch}
    inside |= {label for label in from_header if loop.latch in thread.reachable(label)}
    outside = [line for label, lines in thread.blocks.items() if label not in inside for line in lines]
    guards = {
        guard.condition
        for guard in find_guards(thread)
        if guard.value == loop.stop and (guard.predicate, guard.offset) in _SAME_AS_BELOW
    }
    exits = {target for label in inside - {loop.latch} for target in thread.targets(label)} - inside
    carried = {value for name, value in loop.first_round.items() if name not in (loop.index, loop.counter)}
    return (
        bool(guards)
        and carried <= {FAILURE}
        and _STRIDE.match(thread.definitions.get(loop.length, "")) is not None
        and thread.slice(loop.length) is not None
        and thread.is_idle(loop.after, loop.latch)
        and not any(map(has_effect, outside))
        and not any(thread.throws(label) for label in thread.blocks if label not in inside | exits)
        # A thread that breaks out must not run its later rounds; one that throws may, since its results are lost.
        and all(map(thread.throws, exits))
        and _looks_at_nothing_else(thread, loop, guards)
    )


def _looks_at_nothing_else(thread: ThreadText, loop: GridStrideLoop, guards: set[str]) -> bool:
    """x, the distance to go and the rounds, which change from round to round, must matter for nothing but the loop, and
    for reports, which know of rounds."""
    users = {
        X: {loop.index, loop.distance} | guards | thread.defined_by(_THROW),
        loop.distance: guards | thread.defined_by(_QUOTIENT) | thread.defined_by(_REMAINDER),
        loop.rounds: {loop.counter} | thread.defined_by(_SOME_ROUNDS),
        loop.counter: thread.defined_by(_ROUNDS_LEFT) | thread.defined_by(_COUNT_DOWN),
    }
    return all(thread.users(value) <= allowed for value, allowed in users.items() if value)


def _keep_one_round(thread: ThreadText, loop: GridStrideLoop) -> str:
    """The function's body without the way back: values that the loop carries are those of the first round, i is x."""
    body = thread.body
    for name, value in loop.first_round.items():
        body = re.sub(rf"^  {re.escape(name)} = phi .*\n", "", body, flags=re.MULTILINE)
        body = re.sub(rf"{re.escape(name)}(?![\w.$-])", value, body)
    if loop.rounds:
        # That there are rounds at all is what the guard has found.
        some = rf"= icmp (?:samesign )?(?:[su]gt|ne) i64 {re.escape(loop.rounds)}, 0$"
        body = re.sub(some, f"= {SETTLED[True]}", body, flags=re.MULTILINE)
    back = rf"^  br i1 [^\n]*label %{re.escape(loop.header)}, label %{re.escape(loop.after)}(?![\w.$-]).*$"
    head, label, tail = body.partition(f"\n{loop.latch}:")
    return head + label + re.sub(back, f"  br label %{loop.after}", tail, count=1, flags=re.MULTILINE)


def _define(end: str, thread: ThreadText, loop: GridStrideLoop | None, declaration: str) -> str:
    """LLVM assembly of gpu.stride_length or gpu.stride_stop."""
    lines = [f"define internal i64 @gpu.stride_{end}({row_params(params_type(declaration))}) alwaysinline {{"]
    if loop is None:
        lines.append(f"  ret i64 {0 if end == 'length' else -1}")
    else:
        value = loop.length if end == "length" else loop.stop
        lines += [f"  {name} = {thread.definitions[name]}" for name in thread.slice(value) or ()]
        lines += [f"  %safe = freeze i64 {value}", "  %result = call i64 @llvm.smax.i64(i64 %safe, i64 0)"]
        lines.append("  ret i64 %result")
    return "\n".join([*lines, "}"])


def runs_rounds(text: str) -> bool:
    """True if this pass has found a grid-stride loop."""
    return "\n  ret i64 0\n" not in dict(read_functions(text))["gpu.stride_length"]
