"""What f-strings and argument tuples in Numba's IR are made of. Before: bytecode. After: rewrite_texts.

Numba's IR of an f-string is `"bad " + str(i)`, with a format `"bad " + format_value(i, "", ".3f")`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from numba_gpucore.compile.format_specs import format_value
from numba_gpucore.compile.numba_api import consts, errors, ir
from numba_gpucore.compile.texts import Format, Spread, apply_format, join_texts

UNKNOWN = object()


class TextReader:
    """Reads one function. `consumed`: names of variables that held what has been taken apart. `copies`: variables that
    must be given the value of a part where the text was made, by the expression that stands there."""

    def __init__(self, func_ir):
        self._func_ir = func_ir
        self.consumed: set[str] = set()
        self.copies: dict[Any, Any] = {}

    def text_parts(self, variable) -> list[Any] | None:
        """Texts, Formats and variables that an f-string is made of; None for what is no f-string."""
        visited: set[str] = set()
        parts = list(self._walk_text(variable, visited))
        if len(visited) < 2 and (not visited or isinstance(parts[0], str)):
            return None
        self.consumed |= visited
        return list(join_texts(parts)) or [""]

    def spread_arguments(self, variable) -> Iterator[list[Any]]:
        """The arguments that `*variable` stands for: a variable alone, or a tuple after a Spread."""
        value = self.definition(variable)
        is_temporary = variable.name.startswith("$")
        if is_temporary and isinstance(value, ir.Expr):
            if value.op == "build_tuple":
                self.consumed.add(variable.name)
                for item in value.items:
                    yield [item]
                return
            if value.op == "binop" and value.fn is operator.add:
                self.consumed.add(variable.name)
                yield from self.spread_arguments(value.lhs)
                yield from self.spread_arguments(value.rhs)
                return
            if value.op == "call" and self.constant(value.func) is tuple:
                self.consumed.update((variable.name, value.func.name))
                yield [Spread(), value.args[0]]
                return
        yield [Spread(), variable]

    def _walk_text(self, variable, visited: set[str]) -> Iterator[Any]:
        """Parts in order. `visited` gets the variables that were taken apart; none if `variable` is no text."""
        value = self.definition(variable)
        if isinstance(value, ir.Expr) and value.op == "binop" and value.fn is operator.add:
            sides: list[tuple[list[Any], set[str]]] = []
            for side in (value.lhs, value.rhs):
                taken: set[str] = set()
                sides.append((list(self._walk_text(side, taken)), taken))
            if all(taken for _parts, taken in sides):
                visited.add(variable.name)
                for parts, taken in sides:
                    visited |= taken
                    yield from parts
                return
        elif isinstance(value, ir.Expr) and value.op == "call" and self.constant(value.func) in (str, format_value):
            if not value.kws and (value.args and (len(value.args) == 1) == (self.constant(value.func) is str)):
                visited.update((variable.name, value.func.name))
                yield from self._formatted(value, visited)
                return
        elif isinstance(value, ir.Const) and isinstance(value.value, str):
            visited.add(variable.name)
            yield value.value
            return
        yield variable

    def _formatted(self, call, visited: set[str]) -> Iterator[Any]:
        """The value of `str(value)` or `format_value(value, …)`, with its Format before it."""
        argument, *formats = call.args
        inner = self.definition(argument)
        text = "".join(self._format_text(variable, call, visited) for variable in formats)
        if isinstance(inner, ir.Expr) and inner.op == "call" and self.constant(inner.func) is format_value:
            visited.update((argument.name, inner.func.name))
            found, *rest = self._formatted(inner, visited)  # from Python 3.13 on, conversion and format are two steps
            yield from (Format(found.text + text), *rest) if text else (found, *rest)
            return
        if isinstance(inner, ir.Const) and isinstance(inner.value, str):
            visited.add(argument.name)
            yield apply_format(text, inner.value, call.loc)
            return
        if text:
            yield Format(text)
        yield self._copy_of(argument, call)

    def _format_text(self, variable, call, visited: set[str]) -> str:
        visited.add(variable.name)
        text = self.constant(variable)
        if not isinstance(text, str):
            raise errors.UnsupportedError("the format of an f-string in a kernel must be constant", call.loc)
        return text if variable is call.args[1] or not text else f":{text}"

    def _copy_of(self, argument, call):
        """The value that `argument` has where the text is made; a user's variable can have another one later on."""
        if argument.name.startswith("$"):
            return argument
        if call not in self.copies:
            self.copies[call] = (argument.scope.redefine("$text_part", call.loc), argument)
        return self.copies[call][0]

    def definition(self, variable) -> Any:
        try:
            return self._func_ir.get_definition(variable)
        except KeyError:
            return None

    def constant(self, variable) -> Any:
        try:
            return self._func_ir.infer_constant(variable)
        except consts.ConstantInferenceError:
            return UNKNOWN
