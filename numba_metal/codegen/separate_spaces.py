"""Pointers into one of two address spaces, depending on the way: as two pointers and a flag. Before: `split_structs`.
After: every pass of the emitter, for which a pointer has one space (MSL specification 4).

LLVM's pointers are generic here, so it makes one load of `tile[t - 1] if t > 0 else a[i - 1]`. That load becomes two
again, in the branches of a condition; what else mixes spaces stays, and is a fault (`memory_objects`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from numba_metal.codegen.ir_types import (
    Block,
    ConstInt,
    Function,
    Instr,
    IntType,
    Local,
    Module,
    PointerType,
    Undefined,
    Value,
)
from numba_metal.codegen.memory_objects import PointerOrigins, trace_pointers

I1 = IntType(1)
#: What may make a mixed pointer.
_MAKES = frozenset("phi select getelementptr freeze".split())


def separate_spaces(module: Module) -> Module:
    """The module without pointers into two spaces, as far as they are only followed."""
    return replace(module, functions={name: _separate(function) for name, function in module.functions.items()})


def _separate(function: Function) -> Function:
    origins = trace_pointers(function)
    mixed = {pointer.instr.name: pointer.spaces for pointer in origins.mixed if pointer.instr.name is not None}
    if not mixed:
        return function
    separator = _Separator(function, origins, mixed)
    if not all(map(separator.is_known, separator.instrs())):
        return function
    return separator.separate()


@dataclass
class _Separator:
    """`mixed[name]`: the two spaces of the pointer `%name`. ends: the last part of a block that was cut, by label."""

    function: Function
    origins: PointerOrigins
    mixed: dict[str, tuple[str, ...]]
    ends: dict[str, str] = field(default_factory=dict)

    def instrs(self) -> Iterator[Instr]:
        return (instr for block in self.function.blocks for instr in block.instrs)

    def _is_mixed(self, value: Value) -> bool:
        return isinstance(value, Local) and value.name in self.mixed

    def is_known(self, instr: Instr) -> bool:
        """False for an instruction that makes or uses a mixed pointer in another way than this pass knows."""
        if instr.name in self.mixed:
            return instr.opcode in _MAKES and len(self.mixed[instr.name]) == 2
        users = [operand for operand in instr.operands if self._is_mixed(operand)]
        return not users or instr.opcode == "load" or (instr.opcode == "store" and users == [instr.operands[1]])

    def separate(self) -> Function:
        blocks = [part for block in self.function.blocks for part in self._cut(block)]
        return replace(self.function, blocks=tuple(map(self._follow_ends, blocks)))

    def _cut(self, block: Block) -> Iterator[Block]:
        label, instrs = block.label, list[Instr]()
        for number, instr in enumerate(block.instrs):
            pointer = next((operand for operand in instr.operands if self._is_mixed(operand)), None)
            if instr.name in self.mixed:
                instrs += self._parts(instr)
            elif pointer is None:
                instrs.append(instr)
            else:
                assert isinstance(pointer, Local)
                ways = [f"{block.label}.{number}.{space}" for space in self.mixed[pointer.name]]
                after = f"{block.label}.{number}.after"
                branch = Instr("br", block.instrs[-1].type, (self._flag(pointer),), labels=tuple(ways))
                yield Block(label, (*instrs, branch))
                accesses = [self._access(instr, pointer, place) for place in range(2)]
                leave = Instr("br", branch.type, labels=(after,))
                for way, access in zip(ways, accesses, strict=True):
                    yield Block(way, (access, leave))
                results = tuple(access.result for access in accesses if access.name is not None)
                instrs = [replace(instr, opcode="phi", operands=results, labels=tuple(ways))] if results else []
                label = self.ends[block.label] = after
        yield Block(label, tuple(instrs))

    def _access(self, instr: Instr, pointer: Local, place: int) -> Instr:
        space = self.mixed[pointer.name][place]
        operands = tuple(self._part(operand, space) if operand == pointer else operand for operand in instr.operands)
        return replace(instr, operands=operands, name=None if instr.name is None else f"{instr.name}.{space}")

    def _parts(self, instr: Instr) -> Iterator[Instr]:
        """The pointer into each space, and which of the two it is."""
        assert instr.name is not None
        for space in self.mixed[instr.name]:
            operands = tuple(
                self._part(operand, space) if isinstance(operand.type, PointerType) else operand
                for operand in instr.operands
            )
            yield replace(instr, operands=operands, name=f"{instr.name}.{space}")
        if instr.opcode in ("phi", "select"):
            flags = tuple(
                self._flag(operand, self.mixed[instr.name]) if isinstance(operand.type, PointerType) else operand
                for operand in instr.operands
            )
            yield replace(instr, type=I1, operands=flags, name=f"{instr.name}.flag", flags=frozenset())

    def _part(self, value: Value, space: str) -> Value:
        if isinstance(value, Local) and value.name in self.mixed:
            return Local(f"{value.name}.{space}", value.type)
        return value if self.origins.space(value) == space else Undefined(value.type)

    def _flag(self, value: Value, spaces: tuple[str, ...] = ()) -> Value:
        """Whether a pointer is into the first of the spaces."""
        if not (isinstance(value, Local) and value.name in self.mixed):
            return ConstInt(int(self.origins.space(value) == spaces[0]), I1)
        maker = next(instr for instr in self.instrs() if instr.name == value.name)
        if maker.opcode in ("phi", "select"):
            return Local(f"{value.name}.flag", I1)
        return self._flag(maker.operands[0], spaces)

    def _follow_ends(self, block: Block) -> Block:
        """The block whose phis name the last parts of blocks that were cut."""
        instrs = tuple(
            replace(instr, labels=tuple(self.ends.get(label, label) for label in instr.labels))
            if instr.opcode == "phi"
            else instr
            for instr in block.instrs
        )
        return Block(block.label, instrs)
