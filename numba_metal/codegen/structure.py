"""From a graph of blocks to nested constructs. Before: `control_flow`. After: `resolve_exits` chooses the C++ words.

After Ramsey, "Beyond Relooper: Recursive Translation of Unstructured Control Flow to Structured Control Flow" (ICFP
2022): the code of a block holds the code of the blocks it dominates; a block that several edges reach stands after a
`Labelled` construct that they leave. One thing differs: where a loop ends in more code, that code stands behind the
loop and not inside it, as a person would write it.

Every path through the result ends in a `Goto`; which of them need a word at all is decided later.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Union

from numba_metal.codegen.control_flow import ControlFlow
from numba_metal.codegen.ir_types import Function
from numba_metal.codegen.select_statements import is_ignored

#: The label of the function's end: a block that only returns needs no place of its own.
END = -1


@dataclass(frozen=True)
class Straight:
    """The statements of a block."""

    block: int


@dataclass(frozen=True)
class Copies:
    """What the phis of `target` take when control comes from `source`."""

    source: int
    target: int


@dataclass(frozen=True)
class Goto:
    """Go to a loop's header (an edge back), to the code behind a Labelled, or to END."""

    target: int
    is_back_edge: bool = False


@dataclass(frozen=True)
class Branch:
    """Two ways on the condition at the end of `block`."""

    block: int
    then: Tree
    orelse: Tree


@dataclass(frozen=True)
class Loop:
    """Repeats; each path through `body` ends in a Goto."""

    header: int
    body: Tree


@dataclass(frozen=True)
class Labelled:
    """Code that can be left for block `label`, which comes next."""

    label: int
    body: Tree


@dataclass(frozen=True)
class Dispatch:
    """An irreducible function: a loop around a switch over block numbers; Gotos set the number."""

    arms: tuple[tuple[int, Tree], ...]


Node = Union[Straight, Copies, Goto, Branch, Loop, Labelled, Dispatch]
Tree = tuple[Node, ...]


def structure_control_flow(function: Function, flow: ControlFlow) -> Tree:
    if not flow.is_reducible:
        return (_dispatch(function, flow),)
    return _Structurer(function, flow).tree(0)


def _is_end(function: Function, block: int) -> bool:
    *before, last = function.blocks[block].instrs
    return last.opcode in ("ret", "unreachable") and all(map(is_ignored, before))


class _Structurer:
    def __init__(self, function: Function, flow: ControlFlow):
        self._function = function
        self._flow = flow
        self._ends = {block for block in flow.order if _is_end(function, block)}
        self._followers: dict[int, list[int]] = {block: [] for block in flow.order}
        self._sizes = self._count_dominated_instrs()
        self._barriers = self._find_barriers()
        self._placed = self._place_blocks()

    def _count_dominated_instrs(self) -> dict[int, int]:
        sizes = {block: len(self._function.blocks[block].instrs) for block in self._flow.order}
        for block in reversed(self._flow.order[1:]):
            sizes[self._flow.dominator[block]] += sizes[block]
        return sizes

    def _find_barriers(self) -> set[int]:
        return {
            block
            for block in self._flow.order
            if any(instr.detail.startswith("msl.barrier") for instr in self._function.blocks[block].instrs)
        }

    def _leads_to_barrier(self, block: int) -> bool:
        """True for a block that has a barrier, or dominates one that has."""
        dominated = {block}
        dominated.update(b for b in self._flow.order[1:] if self._flow.dominator[b] in dominated)
        return not dominated.isdisjoint(self._barriers)

    def _place_blocks(self) -> set[int]:
        """Choose the blocks that stand behind a construct, and note at which block that construct begins."""
        flow = self._flow
        placed: set[int] = set()
        lone_exits: dict[int, list[int]] = {}
        for block in flow.order[1:]:
            if block in self._ends:
                continue
            home, leaves_loop = self._home(block)
            if self._is_merge(block):
                placed.add(block)
                self._followers[home].append(block)
            elif leaves_loop and flow.innermost[flow.dominator[block]] == home:
                lone_exits.setdefault(home, []).append(block)
        for header, exits in lone_exits.items():
            # If the loop also leaves for a place further on, that exit would have to jump over code put behind the
            # loop; all exits then stay inside it, each in front of its own `break`. So do throws.
            behind = [block for block in exits if not self._throws(block)]
            if self._leaves_barriers_early(header):
                # all threads go where barriers are
                behind = [block for block in behind if self._leads_to_barrier(block)]
            if behind and not self._leaves_for_merge(header):
                block = max(behind, key=lambda b: (self._sizes[b], -flow.position[b]))
                placed.add(block)
                self._followers[header].append(block)
        for blocks in self._followers.values():
            blocks.sort(key=flow.position.__getitem__, reverse=True)
        return placed

    def _is_merge(self, block: int) -> bool:
        flow = self._flow
        return sum(not flow.is_back_edge(source, block) for source in flow.predecessors[block]) > 1

    def _leaves_for_merge(self, header: int) -> bool:
        """True if a place behind the loop is reached in several ways: from the loop itself, or from its exits."""
        flow = self._flow
        if any(self._leaves(header, follower) for follower in self._followers[header]):
            return True
        return any(
            self._leaves(header, target) and target not in self._ends and self._is_merge(target)
            for block in flow.loop_blocks[header]
            for target in flow.successors[block]
        )

    def _leaves_barriers_early(self, header: int) -> bool:
        """True for a loop around barriers with several exits. `mask_exits` finds those of single threads where all
        stand inside it; behind it, the code of one would make its test the loop's own, for all threads."""
        blocks = self._flow.loop_blocks[header]
        ways_out = {target for block in blocks for target in self._flow.successors[block] if target not in blocks}
        return not blocks.isdisjoint(self._barriers) and sum(not self._throws(block) for block in ways_out) > 1

    def _home(self, block: int) -> tuple[int, bool]:
        """The block whose construct `block` follows: its dominator, or the header of the outermost loop left."""
        dominator = self._flow.dominator[block]
        for header in self._flow.loops_around(dominator):
            if self._leaves(header, block):
                return header, True
        return dominator, False

    def _leaves(self, header: int, block: int) -> bool:
        return header in self._flow.loop_blocks and block not in self._flow.loop_blocks[header]

    def tree(self, block: int) -> Tree:
        followers = self._followers[block]
        if block not in self._flow.loop_blocks:
            return self._nest(followers, lambda: self._code(block))
        outside = [f for f in followers if self._leaves(block, f)]
        inside = [f for f in followers if not self._leaves(block, f)]
        return self._nest(outside, lambda: (Loop(block, self._nest(inside, lambda: self._code(block))),))

    def _nest(self, followers: list[int], core) -> Tree:
        if not followers:
            return core()
        label = followers[0]
        return (Labelled(label, self._nest(followers[1:], core)), *self.tree(label))

    def _code(self, block: int) -> Tree:
        """The block itself and, in place, those that only it leads to."""
        nodes: list = [Straight(block)]
        while True:
            targets = self._function.blocks[block].instrs[-1].labels
            if len(targets) < 2:
                return (*nodes, *(self._edge(block, self._flow.successors[block][0]) if targets else (Goto(END),)))
            then, orelse = (self._number(label) for label in targets)
            if then == orelse:
                return (*nodes, *self._edge(block, then))
            # A throw ends its thread, so the code that goes on need not be nested: long chains of bounds checks
            # would be nested as deep otherwise.
            if self._throws(orelse) and self._is_inline(block, then):
                nodes += [Branch(block, (), self._edge(block, orelse)), Copies(block, then), Straight(then)]
                block = then
            elif self._throws(then) and self._is_inline(block, orelse):
                nodes += [Branch(block, self._edge(block, then), ()), Copies(block, orelse), Straight(orelse)]
                block = orelse
            else:
                return (*nodes, Branch(block, self._edge(block, then), self._edge(block, orelse)))

    def _number(self, label: str) -> int:
        return self._numbers[label]

    @property
    def _numbers(self) -> dict[str, int]:
        if not hasattr(self, "_cached_numbers"):
            self._cached_numbers = {block.label: number for number, block in enumerate(self._function.blocks)}
        return self._cached_numbers

    def _is_inline(self, source: int, block: int) -> bool:
        """True for a block that has no place of its own and starts no construct."""
        if block in self._ends or block in self._placed or block in self._flow.loop_blocks:
            return False
        return not self._followers[block] and not self._flow.is_back_edge(source, block)

    def _throws(self, block: int) -> bool:
        instrs = self._function.blocks[block].instrs
        ends = not instrs[-1].labels or self._flow.successors[block][0] in self._ends
        return ends and any(instr.detail == "msl.throw" for instr in instrs)

    def _edge(self, source: int, target: int) -> Tree:
        if target in self._ends:
            return (Goto(END),)
        copies = Copies(source, target)
        if self._flow.is_back_edge(source, target):
            return (copies, Goto(target, is_back_edge=True))
        if target in self._placed:
            return (copies, Goto(target))
        return (copies, *self.tree(target))


def _dispatch(function: Function, flow: ControlFlow) -> Dispatch:
    ends = {block for block in flow.order if _is_end(function, block)}
    numbers = {block.label: number for number, block in enumerate(function.blocks)}

    def edge(source: int, target: int) -> Tree:
        return (Goto(END),) if target in ends else (Copies(source, target), Goto(target))

    def arm(block: int) -> Iterable[Node]:
        yield Straight(block)
        targets = [numbers[label] for label in function.blocks[block].instrs[-1].labels]
        if not targets:
            yield Goto(END)
        elif len(set(targets)) == 1:
            yield from edge(block, targets[0])
        else:
            yield Branch(block, edge(block, targets[0]), edge(block, targets[1]))

    return Dispatch(tuple((block, tuple(arm(block))) for block in flow.order if block not in ends))
