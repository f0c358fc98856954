"""Parsing of a function's body. Before: declarations.py. After: parser.py puts it into a Function.

Braces open a scope: registers, variables and labels declared inside are renamed, so that a FunctionBody is flat.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .declarations import SPACES, take_type, take_variables
from .errors import PtxSyntaxError, UnsupportedInstruction
from .stream import TokenStream
from .syntax import (
    Address,
    Arguments,
    Both,
    FunctionBody,
    Instruction,
    Label,
    Literal,
    Not,
    Operand,
    Register,
    Sink,
    Special,
    Symbol,
    Vector,
)

SPECIAL_WORDS = ("WARP_SZ",)


@dataclass(frozen=True)
class _Scope:
    """One pair of braces; number 0 is the function's own."""

    number: int
    names: dict[str, Register | Symbol]


class BodyParser:
    """Parses one body, from its `{` to its `}`; `parse` is called once."""

    def __init__(self, stream: TokenStream):
        self.stream = stream
        self.body = FunctionBody()
        self.scopes: list[_Scope] = []
        self.nscopes = 0

    def parse(self) -> FunctionBody:
        self._open_scope()
        while self.scopes:
            self._statement()
        return self.body

    def _statement(self) -> None:
        stream = self.stream
        token = stream.next
        if token.text == "{":
            self._open_scope()
        elif token.text == "}":
            stream.take()
            self.scopes.pop()
        elif token.text == ";":
            stream.take()
        elif token.text in (".loc", ".file"):
            stream.skip_line(token.line)
        elif token.text.startswith("."):
            self._directive()
        elif stream.tokens[stream.position + 1].text == ":":
            self._label()
        else:
            self.body.statements.append(self._instruction())

    def _open_scope(self) -> None:
        self.stream.expect("{")
        self.scopes.append(_Scope(self.nscopes, {}))
        self.nscopes += 1

    def _unique(self, name: str) -> str:
        return f"{name}@{self.scopes[-1].number}" if self.scopes[-1].number else name

    def _directive(self) -> None:
        stream = self.stream
        token = stream.take()
        space = token.text.removeprefix(".")
        if space == "reg":
            self._registers()
        elif space in SPACES:
            for variable in take_variables(stream, space):
                unique = self._unique(variable.name)
                self.scopes[-1].names[variable.name] = Symbol(unique)
                self.body.variables[unique] = replace(variable, name=unique)
        elif space == "pragma":
            while stream.take().text != ";":
                pass
        else:
            raise UnsupportedInstruction(token.line, stream.lines[token.line - 1].strip(), "unknown directive")

    def _registers(self) -> None:
        """`.reg .b32 %r<5>, %x;` (PTX ISA, "Parameterized Variable Names")."""
        stream = self.stream
        type_ = take_type(stream)
        while True:
            name = stream.take_word()
            names = [name]
            if stream.try_take("<"):
                names = [f"{name}{i}" for i in range(stream.take_int())]
                stream.expect(">")
            for each in names:
                unique = self._unique(each)
                self.scopes[-1].names[each] = Register(unique)
                self.body.registers[unique] = type_
            if stream.try_take(";"):
                return
            stream.expect(",")

    def _label(self) -> None:
        stream = self.stream
        token = stream.take()
        stream.expect(":")
        if stream.try_take(".branchtargets"):
            targets = [stream.take_word()]
            while stream.try_take(","):
                targets.append(stream.take_word())
            stream.expect(";")
            self.body.branch_targets[token.text] = tuple(targets)
        elif stream.try_take(".callprototype"):
            while stream.take().text != ";":
                pass
            self.body.prototypes.add(token.text)
        else:
            self.body.statements.append(Label(token.text, token.line))

    def _instruction(self) -> Instruction:
        stream = self.stream
        guard = self._guard()
        token = stream.take()
        if token.kind != "word":
            raise PtxSyntaxError(token.line, f"expected an instruction, got {token.text!r}")
        opcode, *modifiers = token.text.split(".")
        operands: list[Operand] = []
        while not stream.try_take(";"):
            if operands:
                stream.expect(",")
            operands.append(self._operand())
        text = " ".join(stream.lines[token.line - 1].split("//")[0].split())
        return Instruction(opcode, tuple(modifiers), tuple(operands), guard, token.line, text)

    def _guard(self) -> Register | Not | None:
        if not self.stream.try_take("@"):
            return None
        is_negated = self.stream.try_take("!") is not None
        register = self._register(self.stream.take_word())
        return Not(register) if is_negated else register

    def _operand(self) -> Operand:
        first = self._single_operand()
        return Both(first, self._single_operand()) if self.stream.try_take("|") else first

    def _single_operand(self) -> Operand:
        stream = self.stream
        if stream.try_take("["):
            return self._address()
        if stream.try_take("{"):
            return Vector(self._list("}"))
        if stream.try_take("("):
            return Arguments(self._list(")"))
        if stream.try_take("!"):
            return Not(self._register(stream.take_word()))
        if stream.next.kind == "word":
            return self._name(stream.take_word())
        return stream.take_literal()

    def _list(self, end: str) -> tuple[Operand, ...]:
        items: list[Operand] = []
        while not self.stream.try_take(end):
            if items:
                self.stream.expect(",")
            items.append(self._single_operand())
        return tuple(items)

    def _address(self) -> Address:
        stream = self.stream
        base: Operand
        base = self._name(stream.take_word()) if stream.next.kind == "word" else stream.take_literal()
        if not isinstance(base, Register | Symbol | Literal):
            raise PtxSyntaxError(stream.next.line, f"{base} is no address")
        offset = 0
        while not stream.try_take("]"):
            offset += stream.take_int()
        return Address(base, offset)

    def _register(self, name: str) -> Register:
        found = self._name(name)
        if not isinstance(found, Register):
            raise PtxSyntaxError(self.stream.next.line, f"{name} is not a register")
        return found

    def _name(self, name: str) -> Register | Special | Symbol | Sink:
        if name == "_":
            return Sink()
        for scope in reversed(self.scopes):
            if name in scope.names:
                return scope.names[name]
        if name.startswith("%") or name in SPECIAL_WORDS:
            return Special(name)
        return Symbol(name)
