"""Records of a parsed PTX module. Before: lexer.py. After: parser.py makes them, program.py links them.

Registers are renamed by the parser so that each is unique in its function (a nested scope may declare a name again).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .types import PtxType


@dataclass(frozen=True)
class Register:
    name: str


@dataclass(frozen=True)
class Special:
    """A special register such as `%tid.x` (PTX ISA, "Special Registers")."""

    name: str


@dataclass(frozen=True)
class Symbol:
    """A variable, parameter, function or label."""

    name: str


@dataclass(frozen=True)
class Literal:
    """A constant. `kind`: "int" (value: Python int), "f32" or "f64" (value: bit pattern), "real" (value: float)."""

    kind: str
    value: int | float


@dataclass(frozen=True)
class Not:
    """`!%p`: a predicate operand, negated."""

    register: Register


@dataclass(frozen=True)
class Sink:
    """`_`: a result that nobody wants, or a missing parameter."""


@dataclass(frozen=True)
class Both:
    """`d|p`: two results."""

    first: Operand
    second: Operand


@dataclass(frozen=True)
class Vector:
    """`{a, b}`."""

    items: tuple[Operand, ...]


@dataclass(frozen=True)
class Address:
    """`[base+offset]`; offset in bytes."""

    base: Register | Symbol | Literal
    offset: int = 0


@dataclass(frozen=True)
class Arguments:
    """`(a, b)` of a call."""

    items: tuple[Operand, ...]


Operand = Register | Special | Symbol | Literal | Not | Sink | Both | Vector | Address | Arguments


@dataclass(frozen=True)
class Instruction:
    """`opcode` is the part before the first dot; guard: the `@p` or `@!p` before it."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | Not | None
    line: int
    text: str


@dataclass(frozen=True)
class Label:
    name: str
    line: int


@dataclass(frozen=True)
class AddressOf:
    """An initialiser that is an address: `generic(symbol)+offset`, and one byte of it when `mask` is given.

    is_generic: `generic()` was written. PTX ISA, "Initializers".
    """

    symbol: str
    offset: int = 0
    is_generic: bool = False
    mask: int | None = None


@dataclass(frozen=True)
class Variable:
    """A variable in memory: `count` elements of `type` in state space `space`, aligned to `align_nbytes`.

    count is None for an extern array without a size (dynamic shared memory).
    """

    name: str
    space: str
    type: PtxType
    align_nbytes: int
    count: int | None = 1
    initial: tuple[Literal | AddressOf, ...] = ()
    is_extern: bool = False

    @property
    def nbytes(self) -> int:
        return self.type.nbytes * (self.count or 0)


@dataclass
class FunctionBody:
    """What stands between a function's braces, in order; filled by the parser and not changed afterwards.

    branch_targets: label tables of brx.idx. prototypes: names of .callprototype directives.
    """

    registers: dict[str, PtxType] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    statements: list[Instruction | Label] = field(default_factory=list)
    branch_targets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    prototypes: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Function:
    """`directives`: performance directives such as ("maxntid", (256,)). body is None for a declaration."""

    name: str
    is_entry: bool
    returns: tuple[Variable, ...]
    params: tuple[Variable, ...]
    directives: dict[str, tuple[int, ...]]
    body: FunctionBody | None
    line: int


@dataclass(frozen=True)
class Module:
    version: str
    target: str
    variables: dict[str, Variable]
    functions: dict[str, Function]
    #: `.alias new, old;`
    aliases: dict[str, str]
