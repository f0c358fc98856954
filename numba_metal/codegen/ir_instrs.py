"""LLVM instructions, one a line. Before: `ir_tokens`. After: `ir_reader`.

Source: LLVM Language Reference, "Instruction Reference".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from numba_metal.codegen.ir_tokens import BINARY, CASTS, FLOAT_NAMES, OTHER_TYPES, LineReader, unquote
from numba_metal.codegen.ir_types import (
    VOID,
    Aggregate,
    ConstInt,
    Instr,
    IntType,
    Metadata,
    OtherType,
    PointerType,
    StructType,
    Type,
    Value,
    VectorType,
)

Parts = dict[str, Any]


class InstrReader(LineReader):
    """Each method reads what follows one opcode, and returns fields of an Instr."""

    def read_instr(self) -> Instr:
        name = None
        if self.peek(1) == "=":
            name = unquote(self.next())
            self.next()
        opcode = self.next()
        if opcode in ("tail", "musttail", "notail"):
            opcode = self.next()
        if opcode in BINARY:
            parts = self._binary()
        elif opcode in CASTS:
            parts = self._cast()
        else:
            reader = _READERS.get(opcode)
            if reader is None:
                raise self.error(f"unknown instruction '{opcode}'")
            parts = reader(self)
        fields = {"opcode": opcode, "name": name, **parts}
        return Instr(**fields, **self._read_tail())

    def _read_tail(self) -> Parts:
        """Alignment and debug location, which may end any instruction."""
        tail: Parts = {}
        while self.peek():
            token = self.next()
            if token == "align" and self.peek().isdigit():
                tail["align_nbytes"] = int(self.next())
            elif token == "!dbg" and self.peek()[1:].isdigit():
                tail["source"] = self.places.get(int(self.next()[1:]))
        return tail

    def _binary(self) -> Parts:
        flags = self.read_flags()
        left = self.read_typed_value()
        self.expect(",")
        return {"flags": flags, "type": left.type, "operands": (left, self.read_value(left.type))}

    def _cast(self) -> Parts:
        flags = self.read_flags()
        value = self.read_typed_value()
        self.expect("to")
        return {"flags": flags, "operands": (value,), "type": self.read_type()}

    def _unary(self) -> Parts:
        flags = self.read_flags()
        value = self.read_typed_value()
        return {"flags": flags, "operands": (value,), "type": value.type}

    def _compare(self) -> Parts:
        flags = self.read_flags()
        predicate = self.next()
        flags |= self.read_flags()
        left = self.read_typed_value()
        self.expect(",")
        operands = (left, self.read_value(left.type))
        type_: Type = IntType(1)
        if isinstance(left.type, VectorType):
            type_ = VectorType(left.type.count, type_)
        return {"flags": flags, "detail": predicate, "operands": operands, "type": type_}

    def _select(self) -> Parts:
        flags = self.read_flags()
        operands = [self.read_typed_value()]
        while self.accept(","):
            if self.peek().startswith("!"):
                self.at -= 1
                break
            operands.append(self.read_typed_value())
        return {"flags": flags, "operands": tuple(operands), "type": operands[1].type}

    def _getelementptr(self) -> Parts:
        flags = self.read_flags()
        source_type = self.read_type()
        operands: list[Value] = []
        while self.accept(","):
            if self.peek().startswith("!"):
                break
            operands.append(self.read_typed_value())
        type_ = operands[0].type
        return {"flags": flags, "source_type": source_type, "operands": tuple(operands), "type": type_}

    def _load(self) -> Parts:
        is_atomic = self.accept("atomic")
        flags = self.read_flags() | ({"atomic"} if is_atomic else set())
        type_ = self.read_type()
        self.expect(",")
        pointer = self.read_typed_value()
        return {"flags": frozenset(flags), "type": type_, "source_type": type_, "operands": (pointer,)}

    def _store(self) -> Parts:
        is_atomic = self.accept("atomic")
        flags = self.read_flags() | ({"atomic"} if is_atomic else set())
        value = self.read_typed_value()
        self.expect(",")
        pointer = self.read_typed_value()
        return {"flags": frozenset(flags), "type": VOID, "source_type": value.type, "operands": (value, pointer)}

    def _alloca(self) -> Parts:
        source_type = self.read_type()
        operands: tuple[Value, ...] = ()
        if self.peek() == "," and _is_int_type(self.peek(1)):
            self.next()
            operands = (self.read_typed_value(),)
        return {"source_type": source_type, "operands": operands, "type": PointerType()}

    def _branch(self) -> Parts:
        if self.accept("label"):
            return {"type": VOID, "labels": (unquote(self.next()),)}
        condition = self.read_typed_value()
        labels = []
        while self.accept(","):
            if not self.accept("label"):
                break
            labels.append(unquote(self.next()))
        return {"type": VOID, "operands": (condition,), "labels": tuple(labels)}

    def _switch(self) -> Parts:
        value = self.read_typed_value()
        self.expect(",")
        self.expect("label")
        labels = [unquote(self.next())]
        cases: list[int] = []
        self.expect("[")
        while not self.accept("]"):
            case = self.read_typed_value()
            assert isinstance(case, ConstInt)
            cases.append(case.value)
            self.expect(",")
            self.expect("label")
            labels.append(unquote(self.next()))
        return {"type": VOID, "operands": (value,), "labels": tuple(labels), "indices": tuple(cases)}

    def _return(self) -> Parts:
        if self.peek() == "void":
            return {"type": VOID}
        return {"type": VOID, "operands": (self.read_typed_value(),)}

    def _nothing(self) -> Parts:
        return {"type": VOID}

    def _phi(self) -> Parts:
        flags = self.read_flags()
        type_ = self.read_type()
        operands, labels = [], []
        while self.accept("["):
            operands.append(self.read_value(type_))
            self.expect(",")
            labels.append(unquote(self.next()))
            self.expect("]")
            if self.peek(1) == "[":
                self.expect(",")
        return {"flags": flags, "type": type_, "operands": tuple(operands), "labels": tuple(labels)}

    def _call(self) -> Parts:
        flags = self.read_flags()
        type_ = self._result_type()
        if self.peek() == "(":
            self.skip_group()
        if not self.peek().startswith("@"):
            raise self.error("call through a pointer")
        callee = unquote(self.next())
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
            is_type = re.fullmatch(r"i\d+", token) or token in FLOAT_NAMES or token in OTHER_TYPES or token in "[{<"
            if is_type or token == "ptr":
                return self.read_type()
            self.next()
            self.skip_group()

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

    def _extractvalue(self) -> Parts:
        aggregate = self.read_typed_value()
        indices = self._read_indices()
        return {"type": _type_at(aggregate.type, indices), "operands": (aggregate,), "indices": indices}

    def _insertvalue(self) -> Parts:
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

    def _extractelement(self) -> Parts:
        vector = self.read_typed_value()
        self.expect(",")
        assert isinstance(vector.type, VectorType)
        return {"type": vector.type.item, "operands": (vector, self.read_typed_value())}

    def _insertelement(self) -> Parts:
        operands = [self.read_typed_value()]
        for _ in range(2):
            self.expect(",")
            operands.append(self.read_typed_value())
        return {"type": operands[0].type, "operands": tuple(operands)}

    def _shufflevector(self) -> Parts:
        """`indices`: for each component of the result one of both vectors' together, -1 where any will do."""
        operands = [self.read_typed_value()]
        for _ in range(2):
            self.expect(",")
            operands.append(self.read_typed_value())
        first, second, mask = operands
        assert isinstance(mask.type, VectorType) and isinstance(first.type, VectorType)
        zeros: tuple[Value, ...] = (ConstInt(0, IntType(32)),) * mask.type.count
        places = mask.items if isinstance(mask, Aggregate) else zeros
        indices = tuple(place.value if isinstance(place, ConstInt) else -1 for place in places)
        return {"type": VectorType(mask.type.count, first.type.item), "operands": (first, second), "indices": indices}

    def _atomicrmw(self) -> Parts:
        flags = self.read_flags()
        operation = self.next()
        pointer = self.read_typed_value()
        self.expect(",")
        value = self.read_typed_value()
        return {"flags": flags, "detail": operation, "operands": (pointer, value), "type": value.type,
                "source_type": value.type}  # fmt: skip

    def _cmpxchg(self) -> Parts:
        self.accept("weak")
        flags = self.read_flags()
        operands = [self.read_typed_value()]
        for _ in range(2):
            self.expect(",")
            operands.append(self.read_typed_value())
        type_ = operands[1].type
        return {"flags": flags, "operands": tuple(operands), "type": StructType((type_, IntType(1))),
                "source_type": type_}  # fmt: skip


def _is_int_type(token: str) -> bool:
    return bool(re.fullmatch(r"i\d+", token))


_READERS: dict[str, Callable[[InstrReader], Parts]] = {
    "fneg": InstrReader._unary,
    "freeze": InstrReader._unary,
    "icmp": InstrReader._compare,
    "fcmp": InstrReader._compare,
    "select": InstrReader._select,
    "getelementptr": InstrReader._getelementptr,
    "load": InstrReader._load,
    "store": InstrReader._store,
    "alloca": InstrReader._alloca,
    "br": InstrReader._branch,
    "switch": InstrReader._switch,
    "ret": InstrReader._return,
    "unreachable": InstrReader._nothing,
    "phi": InstrReader._phi,
    "call": InstrReader._call,
    "extractvalue": InstrReader._extractvalue,
    "insertvalue": InstrReader._insertvalue,
    "extractelement": InstrReader._extractelement,
    "insertelement": InstrReader._insertelement,
    "shufflevector": InstrReader._shufflevector,
    "atomicrmw": InstrReader._atomicrmw,
    "cmpxchg": InstrReader._cmpxchg,
    "fence": InstrReader._nothing,
}


def _type_at(type_: Type, indices: tuple[int, ...]) -> Type:
    for index in indices:
        type_ = type_.items[index] if isinstance(type_, StructType) else type_.item  # type: ignore[union-attr]
    return type_
