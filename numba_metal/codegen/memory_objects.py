"""Which memory each pointer points into. Before: `ir_reader`. After: variables and addresses are typed with it.

Device IR has generic pointers; MSL has none (MSL specification 4: every pointer names its address space). After
inlining, each pointer can be traced to what it was made from: an argument (device), a shared array (threadgroup), an
alloca (thread) or a constant global (constant). A pointer that could come from two of these is a fault.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from numba_gpucore.compile.intrinsics import parse_shared_symbol
from numba_metal.codegen.definitions import neutral_name
from numba_metal.codegen.ir_types import (
    ConstExpr,
    Function,
    GlobalRef,
    Instr,
    IntType,
    Local,
    PointerType,
    Value,
)

DEVICE, THREADGROUP, THREAD, CONSTANT = "device", "threadgroup", "thread", "constant"
#: Instructions whose result points into what their pointer operands point into; integers carry pointers between
#: ptrtoint and inttoptr (Numba's views and strided arrays compute addresses so).
_CARRIES = frozenset(
    "getelementptr freeze phi select addrspacecast bitcast ptrtoint ptrtoaddr inttoptr add sub and or".split()
)


@dataclass(frozen=True)
class MemoryObject:
    """What a pointer is made from. `name`: parameter, alloca, symbol of a shared array or of a global."""

    space: str
    name: str


@dataclass(frozen=True)
class MixedPointer:
    """An instruction whose pointer can point into memories of different address spaces."""

    instr: Instr
    spaces: tuple[str, ...]


@dataclass
class PointerOrigins:
    """`objects[name]`: what the pointer (or the integer made of one) `%name` can point into."""

    objects: dict[str, frozenset[MemoryObject]]
    mixed: list[MixedPointer] = field(default_factory=list)

    def of(self, value: Value) -> frozenset[MemoryObject]:
        match value:
            case Local(name=name):
                return self.objects.get(name, frozenset())
            case GlobalRef(name=name):
                return frozenset((MemoryObject(CONSTANT, name),))
            case ConstExpr(operands=operands):
                return self.of(operands[0])
            case _:
                return frozenset()

    def space(self, value: Value) -> str:
        """The address space of a pointer. A null or undefined pointer is in device memory: nothing reads it."""
        return next((obj.space for obj in sorted(self.of(value), key=str)), DEVICE)


def trace_pointers(function: Function) -> PointerOrigins:
    """Find what each pointer is made from; `.mixed` lists those that MSL cannot express."""
    origins = PointerOrigins({})
    for param in function.params:
        if isinstance(param.type, PointerType):
            origins.objects[param.name] = frozenset((MemoryObject(DEVICE, param.name),))
    stored: dict[MemoryObject, set[MemoryObject]] = {}
    instrs = [instr for block in function.blocks for instr in block.instrs]
    changed = True
    while changed:
        changed = False
        for instr in instrs:
            if instr.opcode == "store":
                changed |= _note_stored_pointer(origins, stored, instr)
            elif instr.name is not None:
                found = _origin(origins, stored, instr)
                if found - origins.objects.get(instr.name, frozenset()):
                    origins.objects[instr.name] = found | origins.objects.get(instr.name, frozenset())
                    changed = True
    for instr in instrs:
        if instr.name is not None and isinstance(instr.type, PointerType):
            spaces = sorted({obj.space for obj in origins.objects.get(instr.name, ())})
            if len(spaces) > 1:
                origins.mixed.append(MixedPointer(instr, tuple(spaces)))
    return origins


def is_shared_memory(instr: Instr) -> bool:
    """True for the calls that give the address of static or dynamic threadgroup memory."""
    if instr.opcode != "call":
        return False
    return instr.detail == "msl.dynamic_shared" or parse_shared_symbol(neutral_name(instr.detail)) is not None


def _note_stored_pointer(origins: PointerOrigins, stored: dict[MemoryObject, set[MemoryObject]], instr: Instr) -> bool:
    """Pointers kept in an alloca (arrays in a tuple that is indexed dynamically) come out of it again."""
    value, pointer = instr.operands
    if not isinstance(value.type, (PointerType, IntType)):
        return False
    changed = False
    for cell in origins.of(pointer):
        known = stored.setdefault(cell, set())
        new = origins.of(value) - known
        changed |= bool(new)
        known |= new
    return changed


def _origin(
    origins: PointerOrigins, stored: dict[MemoryObject, set[MemoryObject]], instr: Instr
) -> frozenset[MemoryObject]:
    assert instr.name is not None
    if instr.opcode == "alloca":
        return frozenset((MemoryObject(THREAD, instr.name),))
    if is_shared_memory(instr):
        return frozenset((MemoryObject(THREADGROUP, instr.detail),))
    if instr.opcode in _CARRIES:
        operands: Iterable[Value] = instr.operands
        if instr.opcode == "select":
            operands = operands[1:]  # type: ignore[index]
        elif instr.opcode == "getelementptr":
            operands = operands[:1]  # type: ignore[index]
        return frozenset(obj for operand in operands for obj in origins.of(operand))
    if instr.opcode == "load" and isinstance(instr.type, (PointerType, IntType)):
        cells = origins.of(instr.operands[0])
        found = frozenset(obj for cell in cells for obj in stored.get(cell, ()))
        if found or isinstance(instr.type, IntType):
            return found
        return frozenset((MemoryObject(DEVICE, instr.name),))
    return frozenset()


@dataclass(frozen=True)
class Step:
    """`index * scale_nbytes` of an address."""

    index: Value
    scale_nbytes: int


@dataclass(frozen=True)
class Address:
    """`base` plus steps plus an offset in bytes."""

    base: Value
    steps: tuple[Step, ...] = ()
    offset_nbytes: int = 0

    def is_multiple_of(self, nbytes: int) -> bool:
        return all(step.scale_nbytes % nbytes == 0 for step in self.steps) and self.offset_nbytes % nbytes == 0
