"""Loops over `range(0, stop, step)` end by their variable. Before: legalize. After: merge_guards.

Numba counts the rounds that are left beside the variable. Where the variable is needed, for a bounds check say, both
take registers and an addition: on sm_90 a checked tiled matrix product has 145 machine instructions instead of 156.
LLVM drops the count itself where the step is one. Here it is done for other constant steps: the rounds are then
ceil(stop / step), and more than one is left exactly when the variable's next value is below `stop`.

Works on LLVM assembly whose values all have names.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.base.records import dataclass
from numba_ptxplus.codegen.blocks import DEFINITION, VALUE, Block, read_blocks, rewrite_functions, write_blocks

_PHI = late_pattern(r"^  (?P<name>%\S+) = phi i64 \[ (\S+), %(\S+) \], \[ (\S+), %(\S+) \]$")
_BACK = late_pattern(r"^  br i1 (?P<condition>%\S+), label %(?P<header>[^\s,]+), ")
_IS_LEFT = late_pattern(r"^  %\S+ = icmp (?:sgt|ugt|samesign ugt) i64 (?P<count>%\S+), 1$")
_COUNT_DOWN = late_pattern(r"^  %\S+ = add nsw i64 (?P<count>%\S+), -1$", re.MULTILINE)
_ADVANCE = late_pattern(r"^  %\S+ = add nuw nsw i64 (?P<variable>%\S+), (?P<step>\d+)$")
_ROUNDS = late_pattern(r"^  %\S+ = (?P<operation>lshr|udiv) i64 (?P<sum>%\S+), (?P<amount>\d+)$")
_ROUNDED_UP = late_pattern(r"^  %\S+ = add nuw nsw i64 (?P<stop>\S+), (?P<addend>\d+)$")


def drop_loop_counts(text: str) -> str:
    """The text without counts of rounds where a variable of the loop tells the same."""
    if not _COUNT_DOWN.search(text):
        return text
    return rewrite_functions(text, lambda head, body: f"{head}{_Function(body).rewritten()}}}")


@dataclass(frozen=True)
class _Phi:
    """A value of a loop: what it starts with, and what it is after a round that ends in block `latch`."""

    name: str
    start: str
    after: str
    latch: str


class _Function:
    def __init__(self, body: str):
        self._body = body
        self._blocks = read_blocks(body)

    @cached_property
    def _definitions(self) -> dict[str, str]:
        lines = (line for block in self._blocks.values() for line in block.lines)
        return {found["name"]: line for line in lines if (found := DEFINITION.match(line))}

    @cached_property
    def _mentions(self) -> Counter[str]:
        return Counter(VALUE.findall(self._body))

    def rewritten(self) -> str:
        if not _COUNT_DOWN.search(self._body):
            return self._body
        for block in self._blocks.values():
            self._rewrite_loop(block)
        return write_blocks(self._blocks.values())

    def _rewrite_loop(self, header: Block) -> None:
        phis = [phi for line in header.lines if (found := _PHI.match(line)) for phi in self._read_phi(found, header)]
        for count in phis:
            for variable in phis:
                if variable.latch == count.latch and (stop := self._stop(header, count, variable)):
                    self._end_by_variable(count, variable, stop)
                    return

    def _read_phi(self, found: re.Match[str], header: Block) -> list[_Phi]:
        name, first, first_label, second, second_label = found.groups()
        both = (_Phi(name, second, first, first_label), _Phi(name, first, second, second_label))
        return [phi for phi in both if header.label in self._blocks[phi.latch].targets and phi.after != phi.start]

    def _stop(self, header: Block, count: _Phi, variable: _Phi) -> str | None:
        """What the variable stays below, if `count` is nothing but the rounds that are left until there."""
        back = _BACK.match(self._blocks[count.latch].lines[-1])
        if back is None or back["header"] != header.label or variable.start != "0":
            return None
        if self._mentions[count.name] != 3 or self._mentions[count.after] != 2:
            return None
        left = _IS_LEFT.match(self._definitions.get(back["condition"], ""))
        down = _COUNT_DOWN.match(self._definitions.get(count.after, ""))
        advance = _ADVANCE.match(self._definitions.get(variable.after, ""))
        rounds = _ROUNDS.match(self._definitions.get(count.start, ""))
        if not (left and down and advance and rounds and self._mentions[back["condition"]] == 2):
            return None
        if not left["count"] == down["count"] == count.name or advance["variable"] != variable.name:
            return None
        rounded_up = _ROUNDED_UP.match(self._definitions.get(rounds["sum"], ""))
        amount, step = int(rounds["amount"]), int(advance["step"])
        divisor = 1 << amount if rounds["operation"] == "lshr" else amount
        if rounded_up is None or divisor != step or int(rounded_up["addend"]) != step - 1:
            return None
        return rounded_up["stop"]

    def _end_by_variable(self, count: _Phi, variable: _Phi, stop: str) -> None:
        latch = self._blocks[count.latch]
        back = _BACK.match(latch.lines[-1])
        assert back is not None, "_stop found it"
        gone = {count.name, count.after, back["condition"]}
        for block in self._blocks.values():
            block.lines = [x for x in block.lines if not ((found := DEFINITION.match(x)) and found["name"] in gone)]
        latch.lines.insert(-1, f"  {back['condition']} = icmp ult i64 {variable.after}, {stop}")
