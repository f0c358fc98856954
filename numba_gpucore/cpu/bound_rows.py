"""What is the same for all threads of a row, found in the simplified code of one thread. Before: stride_rows. After:
settle_throws, then the loops of ir/flat.ll, which LLVM vectorises without masks.

Masked loads and stores cost 2.7 to 4 times on AMD processors without AVX-512 (measured on saxpy). They come from
conditions on a thread's x, of which two kinds become bounds that are computed from the parameters alone:

* Guards: nearly every kernel begins with `if i < n`. Threads outside do nothing, so the loop need not visit them:
  `gpu.row_start`, `gpu.row_stop`.
* Other comparisons, above all bounds checks: within `gpu.plain_start`, `gpu.plain_stop` all of them have the same
  outcome. A second version of the thread's code, `gpu.run_plain_place`, takes it for granted. (Not where threads have
  loops of their own: these do not run in vectors.)

Conditions that all threads of a row have in common, as those on y, bound rows too: all of one or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.base.records import dataclass
from numba_gpucore.cpu.thread_text import (
    BRANCH,
    DISTANCE,
    NOTE_THROW,
    PLAIN_SYMBOL,
    SETTLED,
    SYMBOL,
    ThreadText,
    X,
    define_declared,
    loop_headers,
    params_type,
    read_logic,
    row_params,
)

_COMPARE = late_pattern(r"^icmp (?:samesign )?(\w+) i64 (\S+), (\S+)$")
_METADATA = late_pattern(r", ![\w.]+ !\w+")
_OFFSET = late_pattern(r"^add (?:n[us]w )*i64 %x, (-?\d+)$")
_CHOICE = late_pattern(r"^select i1 (\S+), i64 (\S+), i64 (\S+)$")
#: The predicate of conditions that a row has as a whole.
_HOLDS = "holds"
#: Has an effect, or may not be skipped.
_EFFECT = late_pattern(
    r"\b(?:store|atomicrmw|cmpxchg|fence|invoke|volatile)\b"
    rf"|\bcall\b(?![^@\n]*@(?:llvm\.(?!mem)|{re.escape(NOTE_THROW)}\())"
)
_INVERSE = {
    "eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt",
    "ult": "uge", "uge": "ult", "ugt": "ule", "ule": "ugt",
}  # fmt: skip
_MIRROR = {
    "eq": "eq", "ne": "ne", "slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle",
    "ult": "ugt", "ugt": "ult", "ule": "uge", "uge": "ule",
}  # fmt: skip


@dataclass(frozen=True)
class Bound:
    """`x <predicate> value + offset`, x unsigned, or that `value` is true; `condition` is the value whose being
    `outcome` says so."""

    predicate: str
    value: str
    offset: int
    condition: str
    outcome: bool


def bound_rows(text: str) -> str:
    """Define what ir/flat.ll declares for this pass in a module's text."""
    thread = ThreadText.find(text)
    guards = list(dict.fromkeys(find_guards(thread)))
    checks = [] if loop_headers(thread.blocks) else list(_find_checks(thread, guards))
    body = _settle(thread.body, guards)
    plain_body = _settle(body, checks) if checks else "  ret i32 %failure\n"
    plain = thread.head.replace(f"@{SYMBOL}(", f"@{PLAIN_SYMBOL}(") + plain_body + "}\n"
    definitions = {
        f"gpu.{kind}_{end}": partial(_define, kind, end, thread, bounds)
        for kind, bounds in (("row", guards), ("plain", checks))
        for end in ("start", "stop")
    }
    return define_declared(text.replace(thread.body, body), {PLAIN_SYMBOL: lambda _: plain, **definitions})


def _settle(body: str, bounds: list[Bound]) -> str:
    """Make the conditions constants."""
    outcomes = {f"  {bound.condition}": bound.outcome for bound in bounds}

    def settle(line: str) -> str:
        outcome = outcomes.get(line.partition(" = ")[0])
        return line if outcome is None else f"{line.partition(' = ')[0]} = {SETTLED[outcome]}"

    return "\n".join(map(settle, body.split("\n")))


def has_effect(line: str) -> bool:
    """True for an instruction that others can notice, or that may not be skipped; throws are looked for otherwise."""
    return _EFFECT.search(line) is not None


def find_guards(thread: ThreadText) -> Iterator[Bound]:
    """Follow the conditions that every thread with an effect fulfils, from the function's start."""
    label = next(iter(thread.blocks))
    while True:
        *lines, last = thread.blocks[label]
        if any(has_effect(line) for line in lines):
            return
        branch = BRANCH.match(last)
        if branch is None:
            return
        condition, then, other = branch.groups()
        idle = [thread.is_idle(target, label) for target in (then, other)]
        if idle[0] == idle[1]:
            return
        yield from _require(thread, condition, is_true=not idle[0])
        label = other if idle[0] else then
        if thread.predecessors(label) != 1:
            return


def _require(thread: ThreadText, condition: str, is_true: bool) -> Iterator[Bound]:
    text = _METADATA.sub("", thread.definitions.get(condition, ""))
    logic, parts = read_logic(text)
    if logic == "not":
        yield from _require(thread, parts[0], not is_true)
    elif logic == ("and" if is_true else "or"):
        for part in parts:
            yield from _require(thread, part, is_true)
    elif thread.slice(condition) is not None:
        yield Bound(_HOLDS, condition, 0, condition, is_true)
    elif match := _COMPARE.match(text):
        bound = _bound(thread, condition, match, is_true, {})
        # An unsigned comparison of x + c also says something about threads whose x + c wraps around.
        if bound is not None and (bound.offset == 0 or bound.predicate[0] == "s"):
            yield bound


def _find_checks(thread: ThreadText, guards: list[Bound]) -> Iterator[Bound]:
    """What keeps threads from throwing, and comparisons of x that are not guards. A constant is taken to be exceeded,
    anything else to be a length."""
    outcomes = {guard.condition: guard.outcome for guard in guards}
    for check in _find_row_checks(thread):
        if check.condition not in outcomes:
            outcomes[check.condition] = check.outcome
            yield check
    for name, text in thread.definitions.items():
        match = _COMPARE.match(text)
        if match is None or name in outcomes:
            continue
        bound = _bound(thread, name, match, True, outcomes)
        if bound is None or bound.predicate in ("eq", "ne"):
            continue
        is_below = bound.predicate[1:] in ("lt", "le")
        if is_below == _is_constant(bound.value):
            bound = replace(bound, predicate=_INVERSE[bound.predicate], outcome=False)
        outcomes[name] = bound.outcome
        yield bound
        if bound.predicate[0] == "u" and bound.offset > 0:  # x - offset must not wrap around
            yield replace(bound, predicate="uge", value="0")


def _find_row_checks(thread: ThreadText) -> Iterator[Bound]:
    """Conditions of a whole row without which a thread throws."""
    for lines in thread.blocks.values():
        if branch := BRANCH.match(lines[-1]):
            condition, then, other = branch.groups()
            throws = thread.throws(then)
            if throws != thread.throws(other):
                yield from (b for b in _require(thread, condition, not throws) if b.predicate == _HOLDS)


def _bound(
    thread: ThreadText, condition: str, compare: re.Match[str], is_true: bool, outcomes: dict[str, bool]
) -> Bound | None:
    """A comparison of x as a Bound; None if it compares something else or with what threads do not have in common."""
    predicate, left, right = compare.groups()
    predicate = predicate if is_true else _INVERSE[predicate]
    distance = thread.operand(left, DISTANCE)
    if distance and predicate[0] == "s" and _is_constant(right) and abs(int(right)) < 2**31:
        # d - x < c is x > d - c: so Numba's ranges look whether they are empty.
        is_common = thread.slice(distance) is not None
        return Bound(_MIRROR[predicate], distance, -int(right), condition, is_true) if is_common else None
    for seen, place, value in ((predicate, left, right), (_MIRROR[predicate], right, left)):
        offset = _offset_from_x(thread, place, outcomes)
        if offset is not None and thread.slice(value) is not None and (seen != "ne" or (value, offset) == ("0", 0)):
            return Bound(seen, value, -offset, condition, is_true)
    return None


def _is_constant(value: str) -> bool:
    return not value.startswith("%")


def _offset_from_x(thread: ThreadText, value: str, outcomes: dict[str, bool]) -> int | None:
    """c where the value is x + c with a small c, whose sum cannot overflow."""
    if value == X:
        return 0
    text = thread.definitions.get(value, "")
    if match := _OFFSET.match(text):
        return int(match.group(1)) if abs(int(match.group(1))) < 2**31 else None
    if (match := _CHOICE.match(text)) and match.group(1) in outcomes:
        return _offset_from_x(thread, match.group(2 if outcomes[match.group(1)] else 3), outcomes)
    return None


def _define(kind: str, end: str, thread: ThreadText, bounds: list[Bound], declaration: str) -> str:
    """LLVM assembly of one of the functions that give a range of x."""
    combine, none = ("umax", "0") if end == "start" else ("umin", "-1")
    if kind == "plain" and not bounds:
        none = "-1" if end == "start" else "0"  # no second version is needed
    params = row_params(params_type(declaration))
    lines = [f"define internal i64 @gpu.{kind}_{end}({params}) alwaysinline {{"]
    result, seen = none, set()
    for i, bound in enumerate(bounds):
        limit = _limit(bound, end, f"%limit.{i}")
        if not limit:
            continue
        needed = [name for name in thread.slice(bound.value) or () if name not in seen]
        seen.update(needed)
        lines += [f"  {name} = {thread.definitions[name]}" for name in needed]
        lines += limit
        # A limit may be poison where no thread would have looked at it: it must not spoil the others.
        lines.append(f"  %safe.{i} = freeze i64 %limit.{i}")
        lines.append(f"  %all.{i} = call i64 @llvm.{combine}.i64(i64 {result}, i64 %safe.{i})")
        result = f"%all.{i}"
    lines += [f"  ret i64 {result}", "}"]
    return "\n".join(lines)


def _limit(bound: Bound, end: str, name: str) -> list[str]:
    """Instructions for the smallest x (start) or the first x beyond (stop) that `bound` allows; none if any."""
    predicate = bound.predicate
    if predicate == _HOLDS:
        values = ("0", "-1") if bound.outcome else ("-1", "0")
        return [f"  {name} = select i1 {bound.value}, i64 {values[0]}, i64 {values[1]}"] if end == "start" else []
    if predicate == "ne":  # with 0, and only so
        return [f"  {name} = add i64 1, 0"] if end == "start" else []
    if predicate != "eq" and (predicate[1:] in ("gt", "ge")) != (end == "start"):
        return []
    is_beyond = predicate[1:] in ("le", "gt") or (predicate == "eq" and end == "stop")
    amount, step = abs(bound.offset), int(is_beyond)
    if predicate[0] == "s":
        # x is not negative: a bound below 0 means no thread, or all.
        return [
            f"  {name}.at = call i64 @llvm.sadd.sat.i64(i64 {bound.value}, i64 {bound.offset})",
            f"  {name}.low = call i64 @llvm.smax.i64(i64 {name}.at, i64 {-step})",
            f"  {name} = add i64 {name}.low, {step}",
        ]
    move = "uadd" if bound.offset >= 0 else "usub"
    return [
        f"  {name}.at = call i64 @llvm.{move}.sat.i64(i64 {bound.value}, i64 {amount})",
        f"  {name} = call i64 @llvm.uadd.sat.i64(i64 {name}.at, i64 {step})",
    ]
