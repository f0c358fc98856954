"""Which values get a statement, and which are printed inside the expression that uses them. Before: `control_flow`,
`memory_objects`. After: `variables`, then the printer.

A value that one place uses moves into it: into the same or an outer loop only, and a load only past statements that
cannot change what it reads. Casts of variables are printed wherever they are used. Reading a phi's variable later than
LLVM did is right: the phi's block dominates the value's, so control cannot pass that block again (and change the
variable) without computing the value again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from numba_gpucore.base.late_pattern import late_pattern
from numba_metal.codegen.control_flow import ControlFlow
from numba_metal.codegen.definitions import neutral_intrinsic
from numba_metal.codegen.ir_types import ConstInt, Function, Instr, Local, Value
from numba_metal.codegen.memory_objects import CONSTANT, THREAD, PointerOrigins, is_shared_memory
from numba_metal.codegen.name_hints import python_name

#: Operations in one expression; a longer one is hard to read, and clang limits the depth of brackets.
MAX_EXPRESSION_SIZE = 12
_ALWAYS_INLINE = frozenset("getelementptr alloca freeze extractvalue addrspacecast".split())
_CHEAP = frozenset("sext zext trunc ptrtoint ptrtoaddr inttoptr bitcast".split())
_EFFECTS = frozenset("store atomicrmw cmpxchg fence".split())
#: LLVM intrinsics without meaning in MSL.
_IGNORED_CALLS = late_pattern(r"llvm\.(assume|lifetime|dbg|experimental\.noalias|donothing|invariant|pseudoprobe)\b")
_MEMORY_CALLS = late_pattern(r"llvm\.mem(cpy|set|move)\b")
_COORDINATE = late_pattern(r"msl\.(thread_id|block_id|block_dim|grid_dim|global_id|global_size|lane_id|warp_size)\b")


def is_ignored(instr: Instr) -> bool:
    return instr.opcode == "call" and _IGNORED_CALLS.match(instr.detail) is not None


def has_effect(instr: Instr) -> bool:
    """True for what must stay in its place."""
    if instr.opcode == "call":
        if _MEMORY_CALLS.match(instr.detail):
            return True
        intrinsic = neutral_intrinsic(instr.detail)
        if intrinsic is not None:
            return not intrinsic.is_pure
        return not instr.detail.startswith("llvm.") and not is_shared_memory(instr)
    return instr.opcode in _EFFECTS or bool(instr.flags & {"volatile", "atomic"})


@dataclass(frozen=True)
class Site:
    """Where a value is printed: before statement `index` of `block`. The terminator and what edges copy count too."""

    block: int
    index: int


@dataclass
class Selection:
    """`inline`: names of values without a variable. used: names that are read at all. statements[b]: what block b
    prints, in order."""

    function: Function
    flow: ControlFlow
    origins: PointerOrigins
    definitions: dict[str, Instr]
    blocks: dict[str, int]
    inline: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    statements: list[list[Instr]] = field(default_factory=list)

    def operands(self, instr: Instr) -> tuple[Value, ...]:
        """What the expression of an instruction reads. Whether a compare-and-swap succeeded is asked by comparing what
        it found with what it expected, and whether arithmetic wrapped by doing it again."""
        aggregate = instr.operands[0] if instr.opcode == "extractvalue" else None
        source = self.definitions.get(aggregate.name) if isinstance(aggregate, Local) else None
        if source is not None and source.opcode == "cmpxchg" and instr.indices == (1,):
            return (*instr.operands, source.operands[1])
        if source is not None and source.opcode == "call":
            return source.operands
        return instr.operands

    def reads(self, *values: object) -> frozenset[str]:
        """Names of the variables that expressions for `values` read."""
        found: set[str] = set()
        pending = list(values)
        while pending:
            value = pending.pop()
            if isinstance(value, Local) and value.name in self.definitions:
                if value.name in self.inline:
                    pending.extend(self.operands(self.definitions[value.name]))
                else:
                    found.add(value.name)
        return frozenset(found)


def select_statements(function: Function, flow: ControlFlow, origins: PointerOrigins) -> Selection:
    definitions = {i.name: i for block in function.blocks for i in block.instrs if i.name is not None}
    blocks = {i.name: n for n, block in enumerate(function.blocks) for i in block.instrs if i.name is not None}
    selection = Selection(function, flow, origins, definitions, blocks)
    selection.used = _choose_inline(selection)
    _split_long_expressions(selection)
    for number, block in enumerate(function.blocks):
        statements = [i for i in block.instrs if number in flow.position and _is_statement(selection, i)]
        selection.statements.append(_sink_statements(selection, statements))
    return selection


def _sink_statements(selection: Selection, statements: list[Instr]) -> list[Instr]:
    """Move what only computes down to its first reader. LLVM puts the step of a loop first, where the old value of the
    counter is still needed, so that the two could not share a variable."""
    ordered: list[Instr] = []
    for instr in reversed(statements):
        place = 0
        if not has_effect(instr) and not _reads_memory(selection, instr):
            while place < len(ordered) and instr.name not in selection.reads(*selection.operands(ordered[place])):
                place += 1
        ordered.insert(place, instr)
    return ordered


def _reads_memory(selection: Selection, instr: Instr) -> bool:
    """True if the expression of an instruction loads what could change."""
    if instr.opcode == "load":
        return selection.origins.space(instr.operands[0]) != CONSTANT
    return any(
        _reads_memory(selection, selection.definitions[operand.name])
        for operand in selection.operands(instr)
        if isinstance(operand, Local) and operand.name in selection.inline
    )


def _is_statement(selection: Selection, instr: Instr) -> bool:
    if instr.opcode in ("phi", "br", "switch", "ret", "unreachable") or is_ignored(instr):
        return False
    if has_effect(instr):
        return True
    return instr.name in selection.used and instr.name not in selection.inline


def _choose_inline(selection: Selection) -> set[str]:
    """Walk backwards, so that each value's users are known before it. Returns the names that are used at all."""
    sites: dict[str, list[Site]] = {}
    numbers = {block.label: number for number, block in enumerate(selection.function.blocks)}
    phis: list[tuple[int, Instr]] = []
    for number in reversed(selection.flow.order):
        for instr in selection.function.blocks[number].instrs:
            if instr.opcode == "phi":
                phis.append((number, instr))
    for _number, phi in phis:
        for value, label in zip(phi.operands, phi.labels, strict=True):
            if isinstance(value, Local) and numbers[label] in selection.flow.position:
                source = numbers[label]
                end = Site(source, len(selection.function.blocks[source].instrs))
                sites.setdefault(value.name, []).append(end)
    for number in reversed(selection.flow.order):
        instrs = selection.function.blocks[number].instrs
        for index in range(len(instrs) - 1, -1, -1):
            instr = instrs[index]
            if instr.opcode == "phi" or is_ignored(instr):
                continue
            own = sites.get(instr.name or "", [])
            where = [Site(number, index)]
            if instr.name is not None and own and _goes_inline(selection, instr, Site(number, index), own):
                selection.inline.add(instr.name)
                where = own
            elif not own and not has_effect(instr) and instr.opcode not in ("br", "switch", "ret"):
                continue
            for operand in selection.operands(instr):
                if isinstance(operand, Local):
                    sites.setdefault(operand.name, []).extend(where)
    return set(sites)


def _goes_inline(selection: Selection, instr: Instr, here: Site, sites: list[Site]) -> bool:
    if instr.opcode in _ALWAYS_INLINE:
        return True
    if instr.opcode == "call":
        if has_effect(instr):
            return False
        if is_shared_memory(instr):
            return True
        if _COORDINATE.match(instr.detail):
            return True
    elif has_effect(instr):
        return False
    if len(sites) > 1:
        return _is_plain(selection, instr.result) or _scales_coordinate(selection, instr)
    site = sites[0]
    loop = selection.flow.innermost[site.block]
    if loop is not None and here.block not in selection.flow.loop_blocks[loop]:
        # Work must not move into a loop; a comparison of two names is none.
        return instr.opcode == "icmp" and all(_is_plain(selection, operand) for operand in instr.operands)
    return instr.opcode != "load" or _can_move_load(selection, instr, here, site)


def _is_plain(selection: Selection, value: Value) -> bool:
    """True for constants, parameters, phis, coordinates, and casts of them: no more to read than a variable's name."""
    if not isinstance(value, Local) or value.name not in selection.definitions:
        return True
    instr = selection.definitions[value.name]
    if instr.opcode in _CHEAP and python_name(value.name) is None:
        return _is_plain(selection, instr.operands[0])
    return instr.opcode == "phi" or _COORDINATE.match(instr.detail) is not None


def _scales_coordinate(selection: Selection, instr: Instr) -> bool:
    """True for bytes from a coordinate, which an index of items can only be told from where it is used."""
    if instr.opcode not in ("mul", "shl") or not isinstance(instr.operands[1], ConstInt):
        return False
    value = instr.operands[0]
    while isinstance(value, Local) and value.name in selection.definitions:
        source = selection.definitions[value.name]
        if _COORDINATE.match(source.detail):
            return True
        if source.opcode not in _CHEAP:
            return False
        value = source.operands[0]
    return False


def _can_move_load(selection: Selection, load: Instr, here: Site, site: Site) -> bool:
    if here.block != site.block:
        return False
    space = selection.origins.space(load.operands[0])
    if space == CONSTANT:
        return True
    between = selection.function.blocks[here.block].instrs[here.index + 1 : site.index]
    return not any(_may_write(selection, instr, space) for instr in between)


def _may_write(selection: Selection, instr: Instr, space: str) -> bool:
    if instr.opcode == "call":
        if _MEMORY_CALLS.match(instr.detail):
            return selection.origins.space(instr.operands[0]) == space
        intrinsic = neutral_intrinsic(instr.detail)
        return space != THREAD and intrinsic is not None and (intrinsic.suspends or "fence" in instr.detail)
    if instr.opcode == "store":
        return selection.origins.space(instr.operands[1]) == space
    if instr.opcode in ("atomicrmw", "cmpxchg"):
        return selection.origins.space(instr.operands[0]) == space
    return instr.opcode == "fence"


def _split_long_expressions(selection: Selection) -> None:
    sizes: dict[str, int] = {}
    for number in selection.flow.order:
        for instr in selection.function.blocks[number].instrs:
            if instr.name is None or instr.name not in selection.inline:
                continue
            size = 1 + sum(sizes.get(o.name, 0) for o in selection.operands(instr) if isinstance(o, Local))
            if size > MAX_EXPRESSION_SIZE and instr.opcode not in _ALWAYS_INLINE and instr.opcode != "call":
                selection.inline.discard(instr.name)
                size = 0
            sizes[instr.name] = size
