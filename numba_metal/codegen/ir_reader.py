"""Reads LLVM assembly into plain records. Before: `legalize` optimised the module. After: every pass of the emitter.

The text has what llvmlite's ModuleRef does not tell (flags, predicates, constants, debug locations), and one read of
it is faster than a call into LLVM for each operand. Only LLVM's own printer writes the text, so anything that does not
parse is a construct that the emitter cannot print. Source: LLVM Language Reference.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from numba_metal.codegen.ir_types import (
    VOID,
    Aggregate,
    ArrayType,
    Block,
    ConstExpr,
    ConstFloat,
    ConstInt,
    FloatType,
    Function,
    GlobalRef,
    GlobalVariable,
    Instr,
    IntType,
    Local,
    Metadata,
    Module,
    OtherType,
    PointerType,
    StructType,
    Type,
    Undefined,
    Value,
    VectorType,
    Zero,
)

_TOKEN = re.compile(
    r"""\s*(?:;.*)?(
      [%@](?:"[^"]*"|[-\w.$]+)          # local or global name
    | ![\w.]*                           # metadata
    | c?"[^"]*"                         # string
    | \#\d+                             # attribute group
    | -?\d+\.\d+(?:e[+-]?\d+)?          # decimal float
    | f?0x[HKLMR]?[0-9A-Fa-f]+          # hexadecimal float
    | -?\d+
    | [A-Za-z_][\w.]*
    | \.\.\.
    | [()\[\]{}<>=,*|:]
    )""",
    re.VERBOSE,
)
_LABEL = re.compile(r'^("[^"]*"|[-\w.$]+):')
_DEFINE = re.compile(r"^define\b")
_LOCATION = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+)")
_FLAGS = frozenset(
    "nuw nsw exact disjoint nneg samesign inbounds nusw fast nnan ninf nsz arcp contract afn reassoc volatile".split()
)
_CASTS = frozenset(
    "trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint ptrtoaddr inttoptr bitcast addrspacecast".split()
)
_BINARY = frozenset(
    "add sub mul udiv sdiv urem srem shl lshr ashr and or xor fadd fsub fmul fdiv frem".split()
)
_ORDERINGS = frozenset("unordered monotonic acquire release acq_rel seq_cst".split())
_FLOAT_NAMES = frozenset(("half", "bfloat", "float", "double"))
_OTHER_TYPES = frozenset("void label metadata token x86_fp80 fp128 ppc_fp128 opaque".split())


class IRSyntaxError(Exception):
    """A construct that the reader does not know; `line` is the text that holds it."""

    def __init__(self, line: str, what: str):
        self.line = line
        super().__init__(f"{what} in LLVM assembly: {line.strip()}")


def read_module(text: str) -> Module:
    """Parse what LLVM printed. Raises IRSyntaxError."""
    lines_of_locations = {int(m[1]): int(m[2]) for line in text.splitlines() if (m := _LOCATION.match(line))}
    functions: dict[str, Function] = {}
    variables: dict[str, GlobalVariable] = {}
    lines = iter(text.splitlines())
    for line in lines:
        if _DEFINE.match(line):
            body: list[str] = []
            for inner in lines:
                if inner == "}":
                    break
                body.append(inner)
            function = _read_function(line, body, lines_of_locations)
            functions[function.name] = function
        elif line.startswith("@"):
            variable = _read_variable(line)
            if variable is not None:
                variables[variable.name] = variable
    return Module(functions, variables)


def _unquote(name: str) -> str:
    """`%"a b"` → `a b`."""
    body = name[1:] if name[0] in "%@" else name
    return body[1:-1] if body.startswith('"') else body


def _read_function(header: str, body: list[str], lines_of_locations: dict[int, int]) -> Function:
    parser = _Parser(header, lines_of_locations)
    while not parser.peek().startswith("@"):
        parser.next()
    name = _unquote(parser.next())
    params = _read_params(parser)
    blocks: list[Block] = []
    label = str(sum(param.name.isdigit() for param in params))
    instrs: list[Instr] = []
    for line in _logical_lines(body):
        if match := _LABEL.match(line):
            if instrs:
                blocks.append(Block(label, tuple(instrs)))
            label, instrs = _unquote(match[1]), []
        else:
            instrs.append(_Parser(line, lines_of_locations).read_instr())
    blocks.append(Block(label, tuple(instrs)))
    return Function(name, params, tuple(blocks))


def _logical_lines(body: list[str]) -> list[str]:
    """Lines of a function without comments and debug records, with the cases of a switch joined to it."""
    lines: list[str] = []
    for line in body:
        stripped = line.strip()
        if not stripped or stripped.startswith((";", "#dbg")):
            continue
        if lines and lines[-1].lstrip().startswith("switch ") and not lines[-1].rstrip().endswith("]") and "]," not in lines[-1]:
            lines[-1] += " " + stripped
        else:
            lines.append(line)
    return lines


def _read_params(parser: _Parser) -> tuple[Local, ...]:
    params: list[Local] = []
    parser.expect("(")
    while not parser.accept(")"):
        type_ = parser.read_type()
        parser.skip_attributes()
        name = _unquote(parser.next()) if parser.peek().startswith("%") else str(len(params))
        params.append(Local(name, type_))
        parser.accept(",")
    return tuple(params)


def _read_variable(line: str) -> GlobalVariable | None:
    parser = _Parser(line, {})
    name = _unquote(parser.next())
    parser.expect("=")
    is_declaration = False
    while parser.peek() not in ("global", "constant"):
        if parser.peek() in ("alias", "ifunc"):
            return None
        is_declaration |= parser.next() in ("external", "extern_weak")
    is_constant = parser.next() == "constant"
    type_ = parser.read_type()
    initializer = None if is_declaration else parser.read_value(type_)
    return GlobalVariable(name, type_, initializer, is_constant)


class _Parser:
    """One logical line as tokens."""

    def __init__(self, line: str, lines_of_locations: dict[int, int]):
        self._line = line
        self._tokens = _TOKEN.findall(line)
        self._at = 0
        self._lines_of_locations = lines_of_locations

    # -- tokens

    def peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else ""

    def next(self) -> str:
        token = self.peek()
        if not token:
            raise self.error("unexpected end")
        self._at += 1
        return token

    def accept(self, token: str) -> bool:
        if self.peek() == token:
            self._at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise self.error(f"expected '{token}', got '{self.peek()}'")

    def error(self, what: str) -> IRSyntaxError:
        return IRSyntaxError(self._line, what)

    def _skip_group(self) -> None:
        """Skip a parenthesised group, if one starts here."""
        if not self.accept("("):
            return
        depth = 1
        while depth:
            depth += {"(": 1, ")": -1}.get(self.next(), 0)

    def skip_attributes(self) -> None:
        """Skip parameter attributes up to the value, comma or closing parenthesis that follows them."""
        while re.match(r"[a-z]", self.peek()) and not self._starts_value():
            word = self.next()
            if word == "align" and self.peek() != "(":
                self.next()
            self._skip_group()

    def _starts_value(self) -> bool:
        token = self.peek()
        if token in ("true", "false", "null", "undef", "poison", "zeroinitializer", "none", "blockaddress"):
            return True
        return token in _CASTS or token == "getelementptr" or token.startswith('c"') or token.startswith("f0x")

    def _read_flags(self) -> frozenset[str]:
        flags = set()
        while self.peek() in _FLAGS or self.peek() == "inrange":
            flags.add(self.next())
            if self.peek(-1) == "inrange":
                self._skip_group()
        return frozenset(flags)

    # -- types and values

    def read_type(self) -> Type:
        token = self.next()
        if re.fullmatch(r"i\d+", token):
            return IntType(int(token[1:]))
        if token in _FLOAT_NAMES:
            return FloatType(token)
        if token == "ptr":
            return PointerType(self._read_space())
        if token in _OTHER_TYPES:
            return OtherType(token)
        if token == "[":
            return self._read_sequence_type("]", ArrayType)
        if token == "{":
            return StructType(self._read_field_types("}"))
        if token == "<":
            if self.accept("{"):
                items = self._read_field_types("}")
                self.expect(">")
                return StructType(items, packed=True)
            return self._read_sequence_type(">", VectorType)
        raise self.error(f"unknown type '{token}'")

    def _read_space(self) -> int:
        if not self.accept("addrspace"):
            return 0
        self.expect("(")
        space = int(self.next())
        self.expect(")")
        return space

    def _read_sequence_type(self, end: str, kind: Callable[[int, Type], Type]) -> Type:
        count = int(self.next())
        self.expect("x")
        item = self.read_type()
        self.expect(end)
        return kind(count, item)

    def _read_field_types(self, end: str) -> tuple[Type, ...]:
        items: list[Type] = []
        while not self.accept(end):
            items.append(self.read_type())
            self.accept(",")
        return tuple(items)

    def read_typed_value(self) -> Value:
        type_ = self.read_type()
        self.skip_attributes()
        return self.read_value(type_)

    def read_value(self, type_: Type) -> Value:
        token = self.next()
        if token[0] == "%":
            return Local(_unquote(token), type_)
        if token[0] == "@":
            return GlobalRef(_unquote(token), type_)
        if token in ("undef", "poison"):
            return Undefined(type_)
        if token in ("zeroinitializer", "null", "none"):
            return Zero(type_)
        if token in ("true", "false"):
            return ConstInt(int(token == "true"), type_)
        if isinstance(type_, FloatType):
            return _read_float(token, type_)
        if isinstance(type_, IntType) and re.fullmatch(r"-?\d+", token):
            return ConstInt(int(token), type_)
        if token in "[{<":
            return self._read_aggregate(type_, token)
        if token.startswith('c"'):
            return Aggregate(tuple(ConstInt(byte, IntType(8)) for byte in _string_bytes(token[2:-1])), type_)
        if token in _CASTS or token in _BINARY or token == "getelementptr":
            return self._read_const_expr(token, type_)
        raise self.error(f"unknown constant '{token}'")

    def _read_aggregate(self, type_: Type, opening: str) -> Value:
        if opening == "<":
            self.accept("{")
        items: list[Value] = []
        while self.peek() not in ("]", "}", ">"):
            items.append(self.read_typed_value())
            self.accept(",")
        self.next()
        if opening == "<":
            self.accept(">")
        return Aggregate(tuple(items), type_)

    def _read_const_expr(self, opcode: str, type_: Type) -> Value:
        self._read_flags()
        self.expect("(")
        source_type = None
        if opcode == "getelementptr":
            source_type = self.read_type()
            self.expect(",")
        operands = [self.read_typed_value()]
        while self.accept(","):
            operands.append(self.read_typed_value())
        if self.accept("to"):
            self.read_type()
        self.expect(")")
        return ConstExpr(opcode, tuple(operands), type_, source_type)

    # -- instructions

    def read_instr(self) -> Instr:
        name = None
        if self.peek(1) == "=":
            name = _unquote(self.next())
            self.next()
        opcode = self.next()
        if opcode in ("tail", "musttail", "notail"):
            opcode = self.next()
        if opcode in _BINARY:
            parts = self._binary()
        elif opcode in _CASTS:
            parts = self._cast()
        else:
            reader = _READERS.get(opcode)
            if reader is None:
                raise self.error(f"unknown instruction '{opcode}'")
            parts = reader(self)
        fields = {"opcode": opcode, "name": name, **parts}
        return Instr(**fields, **self._read_tail())

    def _read_tail(self) -> dict:
        """Alignment and debug location, which may end any instruction."""
        tail: dict = {}
        while self.peek():
            token = self.next()
            if token == "align" and self.peek().isdigit():
                tail["align_nbytes"] = int(self.next())
            elif token == "!dbg" and self.peek()[1:].isdigit():
                tail["line"] = self._lines_of_locations.get(int(self.next()[1:]))
        return tail

    def _binary(self) -> dict:
        flags = self._read_flags()
        left = self.read_typed_value()
        self.expect(",")
        return {"flags": flags, "type": left.type, "operands": (left, self.read_value(left.type))}

    def _cast(self) -> dict:
        flags = self._read_flags()
        value = self.read_typed_value()
        self.expect("to")
        return {"flags": flags, "operands": (value,), "type": self.read_type()}

    def _unary(self) -> dict:
        flags = self._read_flags()
        value = self.read_typed_value()
        return {"flags": flags, "operands": (value,), "type": value.type}

    def _compare(self) -> dict:
        flags = self._read_flags()
        predicate = self.next()
        flags |= self._read_flags()
        left = self.read_typed_value()
        self.expect(",")
        operands = (left, self.read_value(left.type))
        type_: Type = IntType(1)
        if isinstance(left.type, VectorType):
            type_ = VectorType(left.type.count, type_)
        return {"flags": flags, "detail": predicate, "operands": operands, "type": type_}

    def _select(self) -> dict:
        flags = self._read_flags()
        operands = [self.read_typed_value()]
        while self.accept(","):
            if self.peek().startswith("!"):
                self._at -= 1
                break
            operands.append(self.read_typed_value())
        return {"flags": flags, "operands": tuple(operands), "type": operands[1].type}

    def _getelementptr(self) -> dict:
        flags = self._read_flags()
        source_type = self.read_type()
        operands: list[Value] = []
        while self.accept(","):
            if self.peek().startswith("!"):
                break
            operands.append(self.read_typed_value())
        type_ = operands[0].type
        return {"flags": flags, "source_type": source_type, "operands": tuple(operands), "type": type_}

    def _load(self) -> dict:
        is_atomic = self.accept("atomic")
        flags = self._read_flags() | ({"atomic"} if is_atomic else set())
        type_ = self.read_type()
        self.expect(",")
        pointer = self.read_typed_value()
        return {"flags": frozenset(flags), "type": type_, "source_type": type_, "operands": (pointer,)}

    def _store(self) -> dict:
        is_atomic = self.accept("atomic")
        flags = self._read_flags() | ({"atomic"} if is_atomic else set())
        value = self.read_typed_value()
        self.expect(",")
        pointer = self.read_typed_value()
        return {"flags": frozenset(flags), "type": VOID, "source_type": value.type, "operands": (value, pointer)}

    def _alloca(self) -> dict:
        source_type = self.read_type()
        operands: tuple[Value, ...] = ()
        if self.peek() == "," and isinstance_int_type(self.peek(1)):
            self.next()
            operands = (self.read_typed_value(),)
        return {"source_type": source_type, "operands": operands, "type": PointerType()}

    def _branch(self) -> dict:
        if self.accept("label"):
            return {"type": VOID, "labels": (_unquote(self.next()),)}
        condition = self.read_typed_value()
        labels = []
        while self.accept(","):
            if not self.accept("label"):
                break
            labels.append(_unquote(self.next()))
        return {"type": VOID, "operands": (condition,), "labels": tuple(labels)}

    def _switch(self) -> dict:
        value = self.read_typed_value()
        self.expect(",")
        self.expect("label")
        labels = [_unquote(self.next())]
        cases: list[int] = []
        self.expect("[")
        while not self.accept("]"):
            case = self.read_typed_value()
            assert isinstance(case, ConstInt)
            cases.append(case.value)
            self.expect(",")
            self.expect("label")
            labels.append(_unquote(self.next()))
        return {"type": VOID, "operands": (value,), "labels": tuple(labels), "indices": tuple(cases)}

    def _return(self) -> dict:
        if self.peek() == "void":
            return {"type": VOID}
        return {"type": VOID, "operands": (self.read_typed_value(),)}

    def _nothing(self) -> dict:
        return {"type": VOID}

    def _phi(self) -> dict:
        flags = self._read_flags()
        type_ = self.read_type()
        operands, labels = [], []
        while self.accept("["):
            operands.append(self.read_value(type_))
            self.expect(",")
            labels.append(_unquote(self.next()))
            self.expect("]")
            if self.peek(1) == "[":
                self.expect(",")
        return {"flags": flags, "type": type_, "operands": tuple(operands), "labels": tuple(labels)}

    def _call(self) -> dict:
        flags = self._read_flags()
        type_ = self._result_type()
        if self.peek() == "(":
            self._skip_group()
        if not self.peek().startswith("@"):
            raise self.error("call through a pointer")
        callee = _unquote(self.next())
        operands: list[Value] = []
        self.expect("(")
        while not self.accept(")"):
            operands.append(self._argument())
            self.accept(",")
        return {"flags": flags, "type": type_, "detail": callee, "operands": tuple(operands)}

    def _result_type(self) -> Type:
        """The result type of a call, after calling convention and return attributes."""
        while True:
            token = self.peek()
            is_type = re.fullmatch(r"i\d+", token) or token in _FLOAT_NAMES or token in _OTHER_TYPES or token in "[{<"
            if is_type or token == "ptr":
                return self.read_type()
            self.next()
            self._skip_group()

    def _argument(self) -> Value:
        type_ = self.read_type()
        if type_ == OtherType("metadata"):
            words = []
            depth = 0
            while depth or self.peek() not in (",", ")"):
                words.append(self.next())
                depth += {"(": 1, ")": -1}.get(words[-1], 0)
            return Metadata(" ".join(words))
        self.skip_attributes()
        return self.read_value(type_)

    def _extractvalue(self) -> dict:
        aggregate = self.read_typed_value()
        indices = self._read_indices()
        return {"type": _type_at(aggregate.type, indices), "operands": (aggregate,), "indices": indices}

    def _insertvalue(self) -> dict:
        aggregate = self.read_typed_value()
        self.expect(",")
        value = self.read_typed_value()
        return {"type": aggregate.type, "operands": (aggregate, value), "indices": self._read_indices()}

    def _read_indices(self) -> tuple[int, ...]:
        indices: list[int] = []
        while self.peek() == "," and self.peek(1).isdigit():
            self.next()
            indices.append(int(self.next()))
        return tuple(indices)

    def _atomicrmw(self) -> dict:
        flags = self._read_flags()
        operation = self.next()
        pointer = self.read_typed_value()
        self.expect(",")
        value = self.read_typed_value()
        return {"flags": flags, "detail": operation, "operands": (pointer, value), "type": value.type,
                "source_type": value.type}  # fmt: skip

    def _cmpxchg(self) -> dict:
        self.accept("weak")
        flags = self._read_flags()
        operands = [self.read_typed_value()]
        for _ in range(2):
            self.expect(",")
            operands.append(self.read_typed_value())
        type_ = operands[1].type
        return {"flags": flags, "operands": tuple(operands), "type": StructType((type_, IntType(1))),
                "source_type": type_}  # fmt: skip


def isinstance_int_type(token: str) -> bool:
    return bool(re.fullmatch(r"i\d+", token))


_READERS: dict[str, Callable[[_Parser], dict]] = {
    "fneg": _Parser._unary,
    "freeze": _Parser._unary,
    "icmp": _Parser._compare,
    "fcmp": _Parser._compare,
    "select": _Parser._select,
    "getelementptr": _Parser._getelementptr,
    "load": _Parser._load,
    "store": _Parser._store,
    "alloca": _Parser._alloca,
    "br": _Parser._branch,
    "switch": _Parser._switch,
    "ret": _Parser._return,
    "unreachable": _Parser._nothing,
    "phi": _Parser._phi,
    "call": _Parser._call,
    "extractvalue": _Parser._extractvalue,
    "insertvalue": _Parser._insertvalue,
    "atomicrmw": _Parser._atomicrmw,
    "cmpxchg": _Parser._cmpxchg,
    "fence": _Parser._nothing,
}


def _type_at(type_: Type, indices: tuple[int, ...]) -> Type:
    for index in indices:
        type_ = type_.items[index] if isinstance(type_, StructType) else type_.item  # type: ignore[union-attr]
    return type_


def _string_bytes(text: str) -> bytes:
    return re.sub(rb"\\([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), text.encode("latin-1"))


def _read_float(token: str, type_: FloatType) -> ConstFloat:
    """LLVM writes float and double constants as doubles, half as 0xH and bfloat as 0xR with their own bits."""
    if token.startswith("0xH"):
        value = struct.unpack("<e", int(token[3:], 16).to_bytes(2, "little"))[0]
    elif token.startswith("0xR"):
        value = struct.unpack("<f", (int(token[3:], 16) << 16).to_bytes(4, "little"))[0]
    elif token.startswith("0x"):
        value = struct.unpack("<d", int(token[2:], 16).to_bytes(8, "little"))[0]
    else:
        value = float(token)
    return ConstFloat(value, struct.unpack("<Q", struct.pack("<d", value))[0], type_)
