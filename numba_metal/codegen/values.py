"""Values as C++ expressions. Before: variables and types are chosen. After: `print_kernel` makes statements of them.

`Values.expr` prints any operand; instructions, calls and addresses live in modules of their own, each a table from
opcode or callee to a function `(values, instr) -> Expr`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from numba_gpucore.base.errors import Fault
from numba_gpucore.compile.job import Job
from numba_metal.architectures import MslVersion
from numba_metal.codegen.expressions import (
    PRIMARY,
    Expr,
    call,
    convert,
    float_literal,
    int_literal,
    int_type,
    scalar_type,
)
from numba_metal.codegen.infer_types import Types
from numba_metal.codegen.ir_types import (
    Aggregate,
    ConstExpr,
    ConstFloat,
    ConstInt,
    FloatType,
    GlobalRef,
    Instr,
    IntType,
    Local,
    PointerType,
    StructType,
    Type,
    Undefined,
    Value,
    VectorType,
    Zero,
)
from numba_metal.codegen.select_statements import Selection
from numba_metal.codegen.variables import Variables

#: Functions of floats that MSL has in a precise and a fast form: those whose wrappers in its header take the math mode
#: (`__metal_floor(x, mfast)`; MLX repeats them for bfloat16 in bf16_math.h). `fma` has one form.
_PRECISE_AND_FAST = frozenset(
    """
    acos acosh asin asinh atan atan2 atanh ceil cos cosh exp exp2 fabs floor fmax fmin fmod ldexp log log10 log2 pow
    rint round sin sinh sqrt tan tanh trunc
    """.split()
)


class CannotPrint(Exception):
    """MSL has no way to say this; `what` and `advice` become a Fault."""

    def __init__(self, what: str, advice: str = ""):
        self.what = what
        self.advice = advice
        super().__init__(what)


@dataclass
class Used:
    """What the body turned out to need: kernel parameters (`tid` …), helper functions, shared arrays, globals."""

    builtins: set[str] = field(default_factory=set)
    helpers: dict[str, None] = field(default_factory=dict)
    objects: dict[str, None] = field(default_factory=dict)
    facts: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Printers:
    """What prints instructions and addresses; they need Values, which therefore cannot import them."""

    instr: Callable[[Values, Instr], Expr]
    pointer: Callable[[Values, Value], Expr]


class Values:
    """All that printing an expression needs to know.

    params: expressions for the entry's parameters by name. object_names: C++ names of allocas, shared arrays (by
    symbol) and global variables.
    """

    def __init__(
        self,
        job: Job,
        version: MslVersion,
        selection: Selection,
        variables: Variables,
        types: Types,
        params: Mapping[str, Expr],
        object_names: Mapping[str, str],
        printers: Printers,
    ):
        self.job = job
        self.version = version
        self.is_fast = job.request.options.fastmath
        self.selection = selection
        self.variables = variables
        self.types = types
        self.params = params
        self.object_names = object_names
        self.used = Used()
        self.faults: list[Fault] = []
        self._printers = printers

    # -- operands

    def expr(self, value: Value) -> Expr:
        """Any operand, with the type that it has by itself."""
        match value:
            case Local(name=name):
                return self._local(name)
            case ConstInt(value=number, type=IntType(bits=bits)):
                self.check_type(value.type)
                return int_literal(number, int_type(bits, signed=True))
            case ConstFloat(type=FloatType(name=name)):
                self.check_type(value.type)
                return float_literal(value)
            case Zero(type=type_) | Undefined(type=type_):
                return self._zero(type_)
            case Aggregate(items=items, type=VectorType() as type_):
                name = self.result_type(type_)
                parts = [self._component(item) for item in items]
                return call(name, *(parts[:1] if len(set(parts)) == 1 else parts), type_=name)
            case GlobalRef() | ConstExpr():
                return self._printers.pointer(self, value)
        raise CannotPrint(f"a constant of type {value.type}")

    def _component(self, value: Value) -> Expr:
        return self.unsigned(value) if isinstance(value.type, IntType) else self.expr(value)

    def print_instr(self, instr: Instr) -> Expr:
        """The result of an instruction that has no variable."""
        return self._printers.instr(self, instr)

    def _local(self, name: str) -> Expr:
        if name in self.selection.inline:
            return self.print_instr(self.selection.definitions[name])
        if name in self.params:
            return self.params[name]
        if self.variables.is_variable(name):
            return Expr(self.variables.name(name), self.types.of_variable(name))
        raise CannotPrint(f"the value %{name}")

    def _zero(self, type_: Type) -> Expr:
        self.check_type(type_)
        match type_:
            case IntType(bits=bits):
                return int_literal(0, int_type(bits, signed=True))
            case FloatType():
                return float_literal(ConstFloat(0.0, 0, type_))
            case PointerType():
                return Expr("nullptr", "device uchar*")
            case VectorType(item=item):
                name = self.result_type(type_)
                return call(name, self._component(Zero(item)), type_=name)
        raise CannotPrint(f"a zero of type {type_}")

    def as_type(self, value: Value, type_: str) -> Expr:
        """A number as an expression of exactly `type_`, the same width; constants get its spelling."""
        if isinstance(value, ConstInt):
            return int_literal(value.value, type_)
        return convert(self.expr(value), type_)

    def signed(self, value: Value) -> Expr:
        assert isinstance(value.type, IntType)
        return self._extended(value, signed=True)

    def unsigned(self, value: Value) -> Expr:
        assert isinstance(value.type, IntType)
        return self._extended(value, signed=False)

    def _extended(self, value: Value, signed: bool) -> Expr:
        """As a signed or unsigned integer of its container; odd widths are kept zero-extended and widened here."""
        bits = self.int_bits(value.type)
        target = int_type(bits, signed)
        if isinstance(value, ConstInt):
            number = value.value if signed else value.value & ((1 << bits) - 1)
            return int_literal(number, target)
        expr = convert(self.expr(value), target)
        width = expr.bits
        if signed and bits not in (1, width):
            shift = width - bits
            unsigned = int_type(width, signed=False)
            return Expr(f"({target}({convert(expr, unsigned).within(PRIMARY)} << {shift}) >> {shift})", target)
        return expr

    def natural(self, *values: Value) -> tuple[Expr, ...]:
        """Integers of one width with one type: that of the first which is no constant."""
        exprs = [self.expr(value) for value in values if not isinstance(value, (ConstInt, Undefined))]
        target = exprs[0].type if exprs else self.expr(values[0]).type
        return tuple(self.as_type(value, target) for value in values)

    # -- checks and needs

    def check_type(self, type_: Type) -> None:
        """Raises CannotPrint for types that MSL lacks."""
        if isinstance(type_, VectorType):
            self.check_type(type_.item)
            if type_.item == IntType(1) or not 2 <= type_.count <= 4:
                raise CannotPrint(f"a vector of type {type_}")
        if type_ == FloatType("double"):
            raise CannotPrint(
                "float64 arithmetic, which Metal does not have",
                "use float32 (np.float32, a Python float literal) or the option float64='float32'",
            )
        if isinstance(type_, IntType) and type_.bits > 128:
            raise CannotPrint(f"an integer of {type_.bits} bits, more than Metal's 64", "keep results within 64 bits")
        if type_ == FloatType("bfloat") and self.version < (3, 1):
            raise CannotPrint(f"bfloat16, which Metal has from MSL 3.1 (this is {self.version})")

    def int_bits(self, type_: Type) -> int:
        assert isinstance(type_, IntType)
        self.check_type(type_)
        if type_.bits > 64:
            raise CannotPrint(f"an integer of {type_.bits} bits, more than Metal's 64", "keep results within 64 bits")
        return type_.bits

    def result_type(self, type_: Type, signed: bool = True) -> str:
        self.check_type(type_)
        if isinstance(type_, (PointerType, StructType)):
            raise CannotPrint(f"a value of type {type_}")
        return scalar_type(type_, signed)

    def float_function(self, name: str, type_: str) -> str:
        """MSL's function `name` of `type_`, in the form that the option fastmath asks for.

        Without a namespace Metal takes the fast form, which need not know NaN, even in its safe math mode, unless the
        option mathFloatingPointFunctions is set. Source: Metal, MTLMathFloatingPointFunctions; MSL specification 6.6.
        """
        if type_ != "float" or name not in _PRECISE_AND_FAST:
            return name
        return f"{'fast' if self.is_fast else 'precise'}::{name}"

    def builtin(self, name: str) -> str:
        """A kernel parameter such as `tid`; it is declared because it was asked for."""
        self.used.builtins.add(name)
        return name

    def helper(self, name: str) -> str:
        """A helper function of `helpers`; it is printed because it was asked for."""
        self.used.helpers[name] = None
        return name
