"""Blocks, dominators and loops of one function. Before: `ir_reader`. After: `structure`, `select_statements`.

Blocks are numbered as they stand in the function; 0 is the entry. Dominators after Cooper, Harvey and Kennedy, "A
Simple, Fast Dominance Algorithm" (2001); a loop is the natural loop of all back edges to one header.
"""

from __future__ import annotations

from dataclasses import dataclass

from numba_metal.codegen.ir_types import Function


@dataclass(frozen=True)
class ControlFlow:
    """`order`: reachable blocks in reverse postorder. `depths[b]`: how many loops hold block b.

    loop_blocks: the blocks of each loop by its header. is_reducible: every edge that goes back in `order` goes to a
    block that dominates its source.
    """

    successors: tuple[tuple[int, ...], ...]
    predecessors: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    position: dict[int, int]
    dominator: dict[int, int]
    loop_blocks: dict[int, frozenset[int]]
    innermost: dict[int, int | None]
    is_reducible: bool

    def is_back_edge(self, source: int, target: int) -> bool:
        return self.position[source] >= self.position[target]

    def loops_around(self, block: int) -> tuple[int, ...]:
        """Headers of the loops that hold `block`, outermost first."""
        return tuple(header for header in self.order if block in self.loop_blocks.get(header, ()))


def analyse_control_flow(function: Function) -> ControlFlow:
    numbers = {block.label: number for number, block in enumerate(function.blocks)}
    successors = tuple(
        tuple(dict.fromkeys(numbers[label] for label in block.instrs[-1].labels)) for block in function.blocks
    )
    order = _reverse_postorder(successors)
    position = {block: index for index, block in enumerate(order)}
    sources: list[list[int]] = [[] for _ in successors]
    for block in order:
        for target in successors[block]:
            sources[target].append(block)
    predecessors = tuple(map(tuple, sources))
    dominator = _immediate_dominators(order, position, predecessors)
    back_edges = [(b, t) for b in order for t in successors[b] if position[b] >= position[t]]
    is_reducible = all(_dominates(dominator, target, source) for source, target in back_edges)
    loops = _natural_loops(back_edges, predecessors) if is_reducible else {}
    innermost: dict[int, int | None] = dict.fromkeys(order)
    for header in order:
        for block in loops.get(header, ()):
            innermost[block] = header
    return ControlFlow(successors, predecessors, order, position, dominator, loops, innermost, is_reducible)


def _reverse_postorder(successors: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    seen = {0}
    postorder: list[int] = []
    stack = [(0, iter(successors[0]))]
    while stack:
        block, targets = stack[-1]
        for target in targets:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(successors[target])))
                break
        else:
            postorder.append(block)
            stack.pop()
    return tuple(reversed(postorder))


def _immediate_dominators(
    order: tuple[int, ...], position: dict[int, int], predecessors: tuple[tuple[int, ...], ...]
) -> dict[int, int]:
    dominator = {0: 0}

    def common(a: int, b: int) -> int:
        while a != b:
            while position[a] > position[b]:
                a = dominator[a]
            while position[b] > position[a]:
                b = dominator[b]
        return a

    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [p for p in predecessors[block] if p in dominator]
            new = known[0]
            for source in known[1:]:
                new = common(new, source)
            if dominator.get(block) != new:
                dominator[block] = new
                changed = True
    return dominator


def _dominates(dominator: dict[int, int], a: int, b: int) -> bool:
    while b != a and b != 0:
        b = dominator[b]
    return a == b


def _natural_loops(
    back_edges: list[tuple[int, int]], predecessors: tuple[tuple[int, ...], ...]
) -> dict[int, frozenset[int]]:
    loops: dict[int, set[int]] = {}
    for source, header in back_edges:
        body = loops.setdefault(header, {header})
        pending = [source]
        while pending:
            block = pending.pop()
            if block not in body:
                body.add(block)
                pending.extend(predecessors[block])
    return {header: frozenset(body) for header, body in loops.items()}
