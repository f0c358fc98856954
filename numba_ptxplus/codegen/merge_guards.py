"""Checks that follow each other become one branch. Before: legalize. After: outline_throws.

Bounds checks of several axes are compared one after another, each with a branch of its own to code that throws. A GPU
pays for each branch; here the conditions are joined, and which of them failed is found out where the thread throws.
LLVM joins branches to a common block only, which these do not have (tests/ptx/test_cost_of_checks.py).

Works on LLVM assembly whose values all have names.
"""

from __future__ import annotations

import re
from collections import Counter

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.base.records import dataclass
from numba_ptxplus.codegen.blocks import THROW, Block, read_blocks, rewrite_functions, write_blocks

_BRANCH = late_pattern(r"^  br i1 (?P<condition>[^\s,]+), label %(?P<then>[^\s,]+), label %(?P<otherwise>[^\s,]+)")
_COMPARISON = late_pattern(
    r"^  (?P<name>%\S+) = icmp (?P<kind>(?:samesign )?\w+) (?P<type>i32|i64) (?P<left>[^\s,]+), (?P<right>[^\s,]+)"
)
#: What can be computed whether or not the checks before it hold: it can make poison, which `select` keeps away.
PURE = late_pattern(
    r"^  %\S+ = (?:icmp|add|sub|mul|shl|lshr|ashr|and|or|xor|zext|sext|trunc|select|getelementptr|addrspacecast)\b"
)


@dataclass(frozen=True)
class _Check:
    """The end of a block: a branch to `passed`, or to `failed`, which throws. is_direct: the comparison is true where
    the check holds."""

    comparison: re.Match[str]
    is_direct: bool
    passed: str
    failed: str


def merge_guards(text: str) -> str:
    """The text with one branch for checks between which nothing but sums and comparisons is done."""
    if THROW not in text:
        return text
    return rewrite_functions(
        text, lambda head, body: f"{head}{_Merger(body).merged_body() if THROW in body else body}}}"
    )


class _Merger:
    """The blocks of one function, in order."""

    def __init__(self, body: str):
        self._blocks = read_blocks(body)
        lines = [line for block in self._blocks.values() for line in block.lines]
        self._comparisons = {found["name"]: found for line in lines if (found := _COMPARISON.match(line))}
        self._throwing = {block.label for block in self._blocks.values() if block.throws}
        #: How many blocks lead to each; joining changes that only for those that throw.
        self._n_sources = Counter(label for block in self._blocks.values() for label in set(block.targets))
        self._count = 0

    def merged_body(self) -> str:
        for label in list(self._blocks):
            if label in self._blocks:
                self._merge_from(self._blocks[label])
        return write_blocks(self._blocks.values())

    def _merge_from(self, block: Block) -> None:
        """Join the check that ends `block` with those that follow it."""
        chain = [block]
        checks = [self._read_check(block)]
        while (check := checks[-1]) is not None:
            after = self._blocks[check.passed]
            following = self._read_check(after)
            if following is None or after is block or not all(map(PURE.match, after.lines[:-1])):
                break
            if self._n_sources[after.label] > 1:
                break
            chain.append(after)
            checks.append(following)
        if len(chain) > 1:
            self._join(chain, [check for check in checks if check is not None])

    def _read_check(self, block: Block) -> _Check | None:
        found = _BRANCH.match(block.lines[-1])
        if found is None or (found["then"] in self._throwing) == (found["otherwise"] in self._throwing):
            return None
        comparison = self._comparisons.get(found["condition"])
        if comparison is None:
            return None
        is_direct = found["otherwise"] in self._throwing
        passed, failed = (found["then"], found["otherwise"]) if is_direct else (found["otherwise"], found["then"])
        return _Check(comparison, is_direct, passed, failed)

    def _join(self, chain: list[Block], checks: list[_Check]) -> None:
        first, last = chain[0], chain[-1]
        prefix = f"guard.{self._count}"
        self._count += 1
        lines = first.lines[:-1]
        held = ""
        for position, (block, check) in enumerate(zip(chain, checks, strict=True)):
            if position:
                lines += block.lines[:-1]
            name = check.comparison["name"]
            if not check.is_direct:
                name = f"%{prefix}.not.{position}"
                lines.append(f"  {name} = xor i1 {check.comparison['name']}, true")
            if held:
                lines.append(f"  %{prefix}.{position} = select i1 {held}, i1 {name}, i1 false")
                name = f"%{prefix}.{position}"
            held = name
        lines.append(f"  br i1 {held}, label %{checks[-1].passed}, label %{prefix}.failed.0")
        first.lines = lines
        for block in chain[1:]:
            del self._blocks[block.label]
        self._rename_source(checks[-1].passed, last.label, first.label)
        for position, (block, check) in enumerate(zip(chain, checks, strict=True)):
            failed = self._tell_which(prefix, position, check, is_last=position == len(checks) - 1)
            self._blocks[failed.label] = failed
            self._rename_source(check.failed, block.label, failed.label)

    def _tell_which(self, prefix: str, position: int, check: _Check, is_last: bool) -> Block:
        """Where the thread comes when one of the checks from `position` on failed: the comparison is made again."""
        label = f"{prefix}.failed.{position}"
        if is_last:
            return Block(label, [f"  br label %{check.failed}"])
        kind, type_, left, right = (check.comparison[part] for part in ("kind", "type", "left", "right"))
        after = f"{prefix}.failed.{position + 1}"
        targets = (after, check.failed) if check.is_direct else (check.failed, after)
        return Block(
            label,
            [
                f"  %{label}.held = icmp {kind} {type_} {left}, {right}",
                f"  br i1 %{label}.held, label %{targets[0]}, label %{targets[1]}",
            ],
        )

    def _rename_source(self, label: str, old: str, new: str) -> None:
        """Tell the phis of a block that it is reached from elsewhere."""
        block = self._blocks[label]
        block.lines = [
            line.replace(f", %{old} ]", f", %{new} ]") if " = phi " in line else line for line in block.lines
        ]
