"""Variables of the kernel: which values share one, and what it is called. Before: `select_statements`. After: printing.

A phi and the values it takes share a variable where their lives do not overlap (so `j = j + 1` needs one name, not
three). Names come from the Python variables that Numba's lowering left in LLVM's value names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from numba_metal.codegen.ir_types import Instr, Local, PointerType
from numba_metal.codegen.name_hints import python_name
from numba_metal.codegen.reserved_names import is_reserved
from numba_metal.codegen.select_statements import Selection


class Variables:
    """`of(name)` is the representative of the class that value `name` belongs to; `names` its C++ name."""

    def __init__(self, selection: Selection):
        self._selection = selection
        self._parents: dict[str, str] = {}
        self._members: dict[str, list[str]] = {}
        for number in selection.flow.order:
            block = selection.function.blocks[number]
            phis = [instr for instr in block.instrs if instr.opcode == "phi"]
            for instr in [*phis, *selection.statements[number]]:
                if instr.name is not None:
                    self._parents[instr.name] = instr.name
                    self._members[instr.name] = [instr.name]
        self._coalesce()
        self.names = self._choose_names()

    def of(self, name: str) -> str:
        while self._parents[name] != name:
            name = self._parents[name]
        return name

    def is_variable(self, name: str) -> bool:
        return name in self._parents

    def members(self, name: str) -> list[str]:
        return self._members[self.of(name)]

    def name(self, value_name: str) -> str:
        return self.names[self.of(value_name)]

    # -- sharing

    def _coalesce(self) -> None:
        conflicts = _find_conflicts(self._selection)
        for number in self._selection.flow.order:
            for phi in self._selection.function.blocks[number].instrs:
                if phi.opcode != "phi":
                    break
                for operand in phi.operands:
                    if isinstance(operand, Local) and operand.name in self._parents and operand.type == phi.type:
                        assert phi.name is not None
                        self._merge(phi.name, operand.name, conflicts)

    def _merge(self, a: str, b: str, conflicts: dict[str, set[str]]) -> None:
        a, b = self.of(a), self.of(b)
        if a == b or b in conflicts.get(a, ()) or a in conflicts.get(b, ()):
            return
        origins, definitions = self._selection.origins, self._selection.definitions
        if isinstance(definitions[a].type, PointerType):
            if origins.space(definitions[a].result) != origins.space(definitions[b].result):
                return
        self._parents[b] = a
        self._members[a] += self._members.pop(b)
        merged = conflicts.pop(b, set())
        conflicts.setdefault(a, set()).update(merged)
        for other in merged:
            conflicts[other].discard(b)
            conflicts[other].add(a)

    # -- names

    def _choose_names(self) -> dict[str, str]:
        taken: set[str] = set()
        names: dict[str, str] = {}
        for representative, members in self._members.items():
            hint = self._hint(members)
            names[representative] = unique_name(hint, taken)
            taken.add(names[representative])
        return names

    def _hint(self, members: list[str]) -> str:
        # A phi's own name is the variable's; what it takes may be named after something else.
        for member in members:
            name = python_name(member)
            if name is not None:
                return name
        instr = self._selection.definitions[members[0]]
        if isinstance(instr.type, PointerType):
            return "p"
        return {"load": "loaded", "atomicrmw": "old", "cmpxchg": "old", "call": "result"}.get(instr.opcode, "v")


def unique_name(hint: str, taken: Iterable[str]) -> str:
    """`hint`, or `hint_2`, `hint_3` … if that is taken. Names with two underscores are reserved ([lex.name])."""
    hint = re.sub(r"__+", "_", hint).strip("_") or "v"
    if is_reserved(hint):
        hint += "_"
    name, number = hint, 2
    while name in taken:
        separator = "" if hint.endswith("_") else "_"
        name, number = f"{hint}{separator}{number}", number + 1
        if is_reserved(name):
            name += "_"
    return name


# -- lives that overlap


def _find_conflicts(selection: Selection) -> dict[str, set[str]]:
    """Pairs of variables of which one is defined while the other is still needed."""
    live_out = _live_out(selection)
    conflicts: dict[str, set[str]] = {}

    def define(name: str, live: set[str]) -> None:
        for other in live:
            if other != name:
                conflicts.setdefault(name, set()).add(other)
                conflicts.setdefault(other, set()).add(name)

    for number in selection.flow.order:
        block = selection.function.blocks[number]
        live = set(live_out[number])
        live |= selection.reads(*block.instrs[-1].operands)
        for instr in reversed(selection.statements[number]):
            if instr.name is not None and _has_variable(selection, instr):
                define(instr.name, live)
                live.discard(instr.name)
            live |= selection.reads(*selection.operands(instr))
        phis = [i.name for i in block.instrs if i.opcode == "phi" and i.name is not None]
        for name in phis:
            define(name, live | set(phis))
    return conflicts


def _has_variable(selection: Selection, instr: Instr) -> bool:
    return instr.name is not None and instr.name not in selection.inline


def _live_out(selection: Selection) -> dict[int, set[str]]:
    """Variables needed at the end of each block, by the blocks behind it or by phis of the edges out of it."""
    flow, function = selection.flow, selection.function
    numbers = {block.label: number for number, block in enumerate(function.blocks)}
    needed: dict[int, set[str]] = {}
    defined: dict[int, set[str]] = {}
    edge_reads: dict[int, set[str]] = {number: set() for number in flow.order}
    for number in flow.order:
        block = function.blocks[number]
        own: set[str] = {i.name for i in block.instrs if i.opcode == "phi" and i.name is not None}
        reads: set[str] = set()
        for instr in selection.statements[number]:
            reads |= selection.reads(*selection.operands(instr)) - own
            if instr.name is not None:
                own.add(instr.name)
        reads |= selection.reads(*block.instrs[-1].operands) - own
        needed[number], defined[number] = reads, own
        for phi in block.instrs:
            if phi.opcode != "phi":
                break
            for operand, label in zip(phi.operands, phi.labels, strict=True):
                if numbers[label] in edge_reads:
                    edge_reads[numbers[label]] |= selection.reads(operand)
    live_out: dict[int, set[str]] = {number: set() for number in flow.order}
    changed = True
    while changed:
        changed = False
        for number in reversed(flow.order):
            out = set(edge_reads[number])
            for target in flow.successors[number]:
                out |= needed[target] | (live_out[target] - defined[target])
            if out != live_out[number]:
                live_out[number] = out
                changed = True
    return live_out
