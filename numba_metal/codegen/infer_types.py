"""MSL types of variables and of memory. Before: `variables`. After: `values` and `addresses` print with them.

LLVM's integers have no sign and its pointers no element type. A wrong choice costs only casts, so both are chosen by
vote: what a value is used for, and what is read and written through a pointer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from math import gcd

from numba_metal.codegen.expressions import element_nbytes, int_type, scalar_type
from numba_metal.codegen.ir_types import (
    ConstExpr,
    ConstInt,
    FloatType,
    Function,
    GlobalRef,
    Instr,
    IntType,
    Local,
    PointerType,
    StructType,
    Type,
    Value,
    VectorType,
    field_offset,
    size_of,
)
from numba_metal.codegen.memory_objects import THREAD, THREADGROUP, Address, MemoryObject, Step, is_shared_memory
from numba_metal.codegen.select_statements import Selection
from numba_metal.codegen.variables import Variables

_SIGNED_USES = frozenset("sdiv srem ashr sext sitofp".split())
_UNSIGNED_USES = frozenset("udiv urem lshr zext uitofp".split())
_WRAPPING = frozenset("add sub mul shl".split())
_BYTE = "uchar"
_PROVED = frozenset(("nuw", "nsw"))


def cannot_wrap(instr: Instr) -> bool:
    """True where the flags come from LLVM's proofs. Numba gives nsw alone to its index arithmetic, LLVM
    adds nuw where it proves that; so both are taken for a proof, but not for products of variables: those of two 32-bit
    numbers are nuw and can be 2**63 or more."""
    is_product = instr.opcode == "mul" and not any(isinstance(operand, ConstInt) for operand in instr.operands)
    return _PROVED <= instr.flags and not is_product


def resolve_address(selection: Selection, value: Value) -> Address:
    """Follow the getelementptrs that have no variable of their own down to a base."""
    steps: list[Step] = []
    offset_nbytes = 0
    while True:
        if isinstance(value, Local) and value.name in selection.inline:
            instr = selection.definitions[value.name]
            opcode, operands, source = instr.opcode, instr.operands, instr.source_type
        elif isinstance(value, ConstExpr):
            opcode, operands, source = value.opcode, value.operands, value.source_type
        else:
            break
        if opcode == "getelementptr":
            assert source is not None
            new_steps, new_offset = _steps_of(source, operands[1:])
            steps[:0] = new_steps
            offset_nbytes += new_offset
        elif opcode not in ("freeze", "addrspacecast", "bitcast"):
            break
        value = operands[0]
    return Address(value, tuple(steps), offset_nbytes)


def factor_steps(selection: Selection, address: Address, nbytes: int) -> Address:
    """The same address with sums and constant factors taken out of indices, so that it is a multiple of `nbytes`;
    unchanged if that does not help. Exact: addresses, like the 64-bit integers taken apart, are modulo 2**64."""
    steps: list[Step] = []
    offset_nbytes = address.offset_nbytes
    pending = list(reversed(address.steps))
    while pending:
        step = pending.pop()
        parts = None
        if step.scale_nbytes % nbytes and isinstance(step.index, Local) and step.index.name in selection.inline:
            parts = _parts_of(selection.definitions[step.index.name], step.scale_nbytes)
        if parts is None:
            steps.append(step)
        else:
            pending.extend(part for part in reversed(parts) if not isinstance(part.index, ConstInt))
            offset_nbytes += sum(p.index.value * p.scale_nbytes for p in parts if isinstance(p.index, ConstInt))
    factored = Address(address.base, tuple(steps), offset_nbytes)
    return factored if factored.is_multiple_of(nbytes) else address


def _parts_of(instr: Instr, scale: int) -> list[Step] | None:
    if instr.type != IntType(64) or len(instr.operands) != 2:
        return None
    left, right = instr.operands
    if instr.opcode == "add" or (instr.opcode == "or" and "disjoint" in instr.flags):
        return [Step(left, scale), Step(right, scale)]
    if isinstance(right, ConstInt) and instr.opcode == "mul":
        return [Step(left, scale * right.value)]
    if isinstance(right, ConstInt) and instr.opcode == "shl" and 0 <= right.value < 64:
        return [Step(left, scale << right.value)]
    return None


def _steps_of(source: Type, indices: tuple[Value, ...]) -> tuple[list[Step], int]:
    steps: list[Step] = []
    offset_nbytes = 0
    type_: Type = source
    for position, index in enumerate(indices):
        if position and isinstance(type_, StructType):
            assert isinstance(index, ConstInt)
            offset_nbytes += field_offset(type_, index.value)
            type_ = type_.items[index.value]
            continue
        if position:
            type_ = type_.item  # type: ignore[union-attr]
        if isinstance(index, ConstInt):
            offset_nbytes += index.value * size_of(type_)
        else:
            steps.append(Step(index, size_of(type_)))
    return steps, offset_nbytes


class Types:
    """`pointee[object]`: the MSL element type of a memory object."""

    def __init__(self, selection: Selection, variables: Variables, known: Mapping[str, str]):
        """`known`: element types of pointer parameters by parameter name, from the kernel's signature."""
        self._selection = selection
        self._variables = variables
        self._votes = _vote_on_signs(selection)
        self.pointee: dict[MemoryObject, str] = _choose_pointees(selection, self._votes, known)
        self._known_sizes = {name: element_nbytes(element) for name, element in known.items()}
        self._punned = _find_punned(selection)
        #: The widest access to each object, in bytes: what it must be aligned to.
        self.widest_nbytes: Counter[MemoryObject] = Counter()
        for _instr, pointer, type_ in memory_accesses(selection.function):
            for obj in selection.origins.of(pointer):
                self.widest_nbytes[obj] = max(self.widest_nbytes[obj], size_of(type_))

    def is_signed(self, name: str) -> bool:
        """Whether the variable that holds integer `%name` is signed."""
        return sum(self._votes[member] for member in self._variables.members(name)) >= 0

    def of_variable(self, name: str) -> str:
        type_ = self._selection.definitions[name].type
        if isinstance(type_, StructType):
            # A cmpxchg: only the old value is kept.
            type_ = type_.items[0]
        if isinstance(type_, PointerType):
            return self.of_pointer(Local(name, type_))
        if isinstance(type_, IntType):
            return int_type(type_.bits, self.is_signed(name))
        return scalar_type(type_)

    def of_pointer(self, value: Value) -> str:
        return f"{self._selection.origins.space(value)} {self.element(value)}*"

    def may_hold(self, pointer: Value, nbytes: int) -> bool:
        """False for a pointer into an argument whose items are known to have another size, records aside, and into
        other memory some of whose bytes belong to numbers of several sizes, unless it holds this size."""
        for obj in self._selection.origins.of(pointer):
            if obj in self._punned and element_nbytes(self.pointee[obj]) != nbytes:
                return False
            if self._known_sizes.get(obj.name, 1) not in (1, nbytes):
                return False
        return True

    def element(self, value: Value) -> str:
        objects = sorted(self._selection.origins.of(value), key=str)
        return self.pointee.get(objects[0], _BYTE) if objects else _BYTE


def _vote_on_signs(selection: Selection) -> Counter[str]:
    """Positive for integers that are mostly used as signed ones."""
    votes: Counter[str] = Counter()
    for number in selection.flow.order:
        for instr in selection.function.blocks[number].instrs:
            names = [operand.name for operand in instr.operands if isinstance(operand, Local)]
            weight = _sign_of_use(instr)
            for name in names:
                votes[name] += weight
            if instr.opcode in _WRAPPING and instr.name is not None and not cannot_wrap(instr):
                votes[instr.name] -= 1
    return votes


def _sign_of_use(instr: Instr) -> int:
    if instr.opcode == "icmp" and "samesign" not in instr.flags:
        return {"s": 1, "u": -1}.get(instr.detail[0], 0)
    if instr.opcode in _SIGNED_USES:
        return 1
    if instr.opcode in _UNSIGNED_USES and "nneg" not in instr.flags:
        return -1
    if instr.opcode in _WRAPPING:
        return 0 if cannot_wrap(instr) else -1
    if instr.opcode == "call" and instr.detail.startswith(("llvm.s", "llvm.abs", "llvm.u")):
        return -1 if instr.detail.startswith("llvm.u") else 1
    return 0


def memory_accesses(function: Function) -> Iterator[tuple[Instr, Value, Type]]:
    """Every instruction that reads or writes memory, with its pointer and the type that it moves."""
    for block in function.blocks:
        for instr in block.instrs:
            if instr.opcode in ("load", "atomicrmw", "cmpxchg"):
                assert instr.source_type is not None
                yield instr, instr.operands[0], instr.source_type
            elif instr.opcode == "store":
                assert instr.source_type is not None
                yield instr, instr.operands[1], instr.source_type


def _choose_pointees(selection: Selection, signs: Counter[str], known: Mapping[str, str]) -> dict[MemoryObject, str]:
    leaders = _join_objects(selection)
    votes: dict[MemoryObject, Counter[Type]] = {}
    odd_addresses: Counter[MemoryObject] = Counter()
    sign_votes: Counter[MemoryObject] = Counter()
    for instr, pointer, type_ in memory_accesses(selection.function):
        address = resolve_address(selection, pointer)
        for obj in selection.origins.of(pointer):
            leader = leaders[obj]
            if isinstance(type_, VectorType):
                type_ = type_.item
            votes.setdefault(leader, Counter())[type_] += 1
            nbytes = size_of(type_) or 1
            odd_addresses[leader] += not factor_steps(selection, address, nbytes).is_multiple_of(nbytes)
            names = [o.name for o in instr.operands if isinstance(o, Local)]
            if instr.opcode == "load" and instr.name is not None:
                names = [instr.name]
            sign_votes[leader] += sum(signs[name] for name in names)
    pointees: dict[MemoryObject, str] = {}
    for obj, leader in leaders.items():
        counts = votes.get(leader, Counter())
        if obj.name in known:
            pointees[leader] = known[obj.name]
        elif leader not in pointees:
            pointees[leader] = _most_voted(counts, odd_addresses[leader], sign_votes[leader] >= 0)
    return {obj: pointees[leader] for obj, leader in leaders.items()}


def _most_voted(counts: Counter[Type], odd_addresses: int, signed: bool) -> str:
    scalars = [type_ for type_ in counts if isinstance(type_, (IntType, FloatType)) and size_of(type_) <= 8]
    if not scalars or 2 * odd_addresses > counts.total():
        return _BYTE
    winner = max(scalars, key=lambda type_: (counts[type_], size_of(type_), str(type_)))
    if winner == FloatType("double"):
        return _BYTE
    if winner == IntType(1):
        winner = IntType(8)
    return scalar_type(winner, signed or isinstance(winner, FloatType))


def _find_punned(selection: Selection) -> set[MemoryObject]:
    """Local and shared arrays of which some bytes are accessed as numbers of several sizes, as through views.

    Not records, whose members lie beside each other in each item, nor single bytes, which may be part of anything in
    C++. Dynamic shared memory has no type of its own: programs share it out, or use it otherwise behind a barrier.
    """
    spans: dict[MemoryObject, set[tuple[int, int, int]]] = {}
    periods: Counter[MemoryObject] = Counter()
    for _instr, pointer, type_ in memory_accesses(selection.function):
        address = resolve_address(selection, pointer)
        period_nbytes = gcd(*(step.scale_nbytes for step in address.steps)) if _is_root(selection, address.base) else 1
        item_nbytes = size_of(type_.item if isinstance(type_, VectorType) else type_)
        for obj in selection.origins.of(pointer):
            periods[obj] = gcd(periods[obj], period_nbytes)
            if item_nbytes > 1:
                spans.setdefault(obj, set()).add((address.offset_nbytes, size_of(type_), item_nbytes))
    return {
        obj
        for obj, found in spans.items()
        if obj.space in (THREAD, THREADGROUP)
        and obj.name != "msl.dynamic_shared"
        and any(a[2] != b[2] and _overlap(a, b, periods[obj]) for a, b in combinations(sorted(found), 2))
    }


def _is_root(selection: Selection, base: Value) -> bool:
    """True for the start of a memory object."""
    if not isinstance(base, Local) or base.name not in selection.definitions:
        return True
    instr = selection.definitions[base.name]
    return instr.opcode == "alloca" or is_shared_memory(instr)


def _overlap(one: tuple[int, int, int], other: tuple[int, int, int], period_nbytes: int) -> bool:
    """Whether spans (offset, size, …) that repeat after some bytes, 0: never, share a byte."""
    distance = other[0] - one[0]
    if not period_nbytes:
        return -other[1] < distance < one[1]
    distance %= period_nbytes
    return distance < one[1] or period_nbytes - distance < other[1]


def _join_objects(selection: Selection) -> dict[MemoryObject, MemoryObject]:
    """Objects that one pointer can point into share an element type; maps each to the first of its group."""
    leaders: dict[MemoryObject, MemoryObject] = {}

    def find(obj: MemoryObject) -> MemoryObject:
        leaders.setdefault(obj, obj)
        while leaders[obj] != obj:
            obj = leaders[obj]
        return obj

    groups = list(selection.origins.objects.values())
    groups += [selection.origins.of(op) for _i, op, _t in memory_accesses(selection.function) if _is_constant(op)]
    for group in groups:
        ordered = sorted(group, key=str)
        for obj in ordered:
            leaders[find(obj)] = find(ordered[0])
    return {obj: find(obj) for obj in list(leaders)}


def _is_constant(value: Value) -> bool:
    return isinstance(value, (GlobalRef, ConstExpr))
