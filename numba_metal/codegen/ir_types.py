"""LLVM types and values as plain records. Before: `ir_reader` parses them. After: every pass of the emitter reads them.

Only what optimised device IR holds: integers, floats, pointers, arrays, short vectors, structs. Sizes follow the data
layout of device IR (`compile/code_library.py`): natural alignment, 8-byte pointers. Source: LLVM Language Reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from numba_gpucore.base.params import round_up


@dataclass(frozen=True)
class IntType:
    bits: int

    def __str__(self) -> str:
        return f"i{self.bits}"


@dataclass(frozen=True)
class FloatType:
    """`name` as LLVM writes it: half, bfloat, float, double."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class PointerType:
    space: int = 0

    def __str__(self) -> str:
        return f"ptr addrspace({self.space})" if self.space else "ptr"


@dataclass(frozen=True)
class ArrayType:
    count: int
    item: Type

    def __str__(self) -> str:
        return f"[{self.count} x {self.item}]"


@dataclass(frozen=True)
class VectorType:
    count: int
    item: Type

    def __str__(self) -> str:
        return f"<{self.count} x {self.item}>"


@dataclass(frozen=True)
class StructType:
    items: tuple[Type, ...]
    packed: bool = False

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.items))
        return f"<{{{inner}}}>" if self.packed else f"{{{inner}}}"


@dataclass(frozen=True)
class OtherType:
    """void, label, metadata, token, x86_fp80 …: types without values that could be printed."""

    name: str

    def __str__(self) -> str:
        return self.name


Type = Union[IntType, FloatType, PointerType, ArrayType, VectorType, StructType, OtherType]
VOID = OtherType("void")
BOOL = IntType(1)
FLOAT_NBYTES = {"half": 2, "bfloat": 2, "float": 4, "double": 8}


def align_of(type_: Type) -> int:
    """ABI alignment in bytes."""
    match type_:
        case ArrayType(item=item):
            return align_of(item)
        case StructType(items=items, packed=packed):
            return 1 if packed else max(map(align_of, items), default=1)
        case _:
            return min(size_of(type_), 16) or 1


def size_of(type_: Type) -> int:
    """Size in memory in bytes, with padding at the end."""
    match type_:
        case IntType(bits=bits):
            nbytes = -(-bits // 8)
            return 1 << (nbytes - 1).bit_length()
        case FloatType(name=name):
            return FLOAT_NBYTES[name]
        case PointerType():
            return 8
        case ArrayType(count=count, item=item):
            return count * size_of(item)
        case VectorType(count=count, item=item):
            return (4 if count == 3 else count) * size_of(item)
        case StructType(items=items):
            end = field_offset(type_, len(items))
            return round_up(end, align_of(type_))
        case _:
            return 0


def field_offset(type_: StructType, index: int) -> int:
    """Offset of field `index` in bytes; with `index` past the last field, the end of the last one."""
    end = 0
    for number, item in enumerate(type_.items):
        align = 1 if type_.packed else align_of(item)
        start = round_up(end, align)
        if number == index:
            return start
        end = start + size_of(item)
    return end


@dataclass(frozen=True)
class Local:
    """`%name`: the result of an instruction, or a parameter."""

    name: str
    type: Type


@dataclass(frozen=True)
class GlobalRef:
    """`@name`: a function or a global variable."""

    name: str
    type: Type = PointerType()


@dataclass(frozen=True)
class ConstInt:
    """`value` is signed for i2 and wider; i1 is 0 or 1."""

    value: int
    type: Type


@dataclass(frozen=True)
class ConstFloat:
    """`value` is exact for every LLVM float type; NaN payloads survive in `bits` (the pattern of a double)."""

    value: float
    bits: int
    type: Type


@dataclass(frozen=True)
class Undefined:
    """undef or poison: any value will do."""

    type: Type


@dataclass(frozen=True)
class Zero:
    """zeroinitializer, or a null pointer."""

    type: Type


@dataclass(frozen=True)
class Aggregate:
    """A constant array or struct."""

    items: tuple[Value, ...]
    type: Type


@dataclass(frozen=True)
class ConstBytes:
    """A constant array of i8."""

    data: bytes
    type: Type


@dataclass(frozen=True)
class ConstExpr:
    """A constant expression: getelementptr and casts on addresses of globals."""

    opcode: str
    operands: tuple[Value, ...]
    type: Type
    source_type: Type | None = None


@dataclass(frozen=True)
class Metadata:
    """An operand that only debug and assume intrinsics have."""

    text: str
    type: Type = OtherType("metadata")


Value = Union[Local, GlobalRef, ConstInt, ConstFloat, Undefined, Zero, Aggregate, ConstBytes, ConstExpr, Metadata]


@dataclass(frozen=True)
class SourceLine:
    """A line of the user's program. offset: lines below the function's first one, which moves with the function."""

    function: str
    line: int
    offset: int

    def __str__(self) -> str:
        return f"{self.function} +{self.offset}"


@dataclass(frozen=True)
class Instr:
    """One instruction. `type` is the type of its result, `name` None where it has none.

    detail: the predicate of a comparison, the operation of an atomicrmw, the name of a direct callee.
    labels: successors of a terminator in the order of LLVM's operands (br: true, false; switch: default, cases);
    incoming blocks of a phi. source_type: what a getelementptr steps through, an alloca holds, a load or store moves.
    indices: of extractvalue and insertvalue; values of a switch's cases. source: the user's line, if known.
    """

    opcode: str
    type: Type
    operands: tuple[Value, ...] = ()
    name: str | None = None
    detail: str = ""
    labels: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()
    source_type: Type | None = None
    indices: tuple[int, ...] = ()
    align_nbytes: int = 0
    source: SourceLine | None = None

    @property
    def result(self) -> Local:
        assert self.name is not None
        return Local(self.name, self.type)


@dataclass(frozen=True)
class Block:
    label: str
    instrs: tuple[Instr, ...]


@dataclass(frozen=True)
class Function:
    name: str
    params: tuple[Local, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class GlobalVariable:
    """`initializer` is None for a declaration."""

    name: str
    type: Type
    initializer: Value | None
    is_constant: bool


@dataclass(frozen=True)
class Module:
    functions: dict[str, Function]
    global_variables: dict[str, GlobalVariable]
