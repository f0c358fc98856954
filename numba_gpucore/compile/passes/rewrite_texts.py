"""f-strings and `print` in kernels. Before: Numba's IR of the bytecode. After: its rewrites and type inference.

A device has no strings. Numba's IR of an f-string is `"bad " + str(i)`; where that is an argument of `print` or of a
raised exception it becomes the list of its parts, texts that stay on the host and values that travel.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from numba_gpucore.compile.numba_api import FunctionPass, build_definitions, consts, errors, ir, register_pass
from numba_gpucore.compile.texts import join_texts


@dataclass(frozen=True)
class TextStart:
    """Stands among the arguments of an exception: the next `count` of them are the parts of one text."""

    count: int


def print_line(*parts: Any) -> None:
    """What `print` in a kernel becomes: writes texts and values without separators."""
    raise NotImplementedError("print_line exists only while a kernel runs")


@register_pass(mutates_CFG=False, analysis_only=False)
class RewriteTexts(FunctionPass):
    """Replace f-strings in raised exceptions, and `print` by `print_line`."""

    _name = "rewrite_texts_for_device"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        rewriter = _Rewriter(state.func_ir)
        for block in state.func_ir.blocks.values():
            rewriter.rewrite(block)
        if rewriter.consumed:
            rewriter.remove_consumed()
            state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return bool(rewriter.consumed)


class _Rewriter:
    """`consumed`: names of variables that held what has been taken apart."""

    def __init__(self, func_ir):
        self._func_ir = func_ir
        self.consumed: set[str] = set()

    def rewrite(self, block) -> None:
        body = []
        for statement in block.body:
            body += self._rewrite_statement(statement, block)
        block.body = body

    def _rewrite_statement(self, statement, block) -> list:
        if isinstance(statement, (ir.Raise, ir.TryRaise)) and statement.exception is not None:
            return [self._rewrite_raise(statement)]
        if isinstance(statement, ir.Assign) and self._calls_print(statement.value):
            return self._rewrite_print(statement, block.scope)
        return [statement]

    def _rewrite_raise(self, statement):
        call = self._definition(statement.exception)
        if not (isinstance(call, ir.Expr) and call.op == "call") or call.kws or call.vararg:
            return statement
        exception = self._constant(call.func)
        texts = [self._text_parts(argument) for argument in call.args]
        if exception is _UNKNOWN or not any(text is not None for text in texts):
            return statement
        arguments: list[Any] = []
        for argument, parts in zip(call.args, texts, strict=True):
            if parts is not None:
                arguments += [TextStart(len(parts)), *parts]
            else:
                constant = self._constant(argument)
                arguments.append(argument if constant is _UNKNOWN else constant)
        self.consumed.add(statement.exception.name)
        rewritten = ir.DynamicRaise if isinstance(statement, ir.Raise) else ir.DynamicTryRaise
        return rewritten(exception, tuple(arguments), statement.loc)

    # -- print

    def _calls_print(self, value) -> bool:
        return isinstance(value, ir.Expr) and value.op == "call" and self._constant(value.func) is print

    def _rewrite_print(self, statement, scope) -> list:
        call, loc = statement.value, statement.loc
        separator, end = self._print_options(call)
        parts: list[Any] = []
        for position, argument in enumerate(call.args):
            parts += [separator] if position else []
            text = self._text_parts(argument)
            parts += [argument] if text is None else text
        parts.append(end)
        self.consumed.add(call.func.name)
        statements = []

        def assign(value) -> Any:
            target = scope.redefine("$print", loc)
            statements.append(ir.Assign(value, target, loc))
            return target

        function = assign(ir.Global("print_line", print_line, loc))
        variables = [part if isinstance(part, ir.Var) else assign(ir.Const(part, loc)) for part in join_texts(parts)]
        statements.append(ir.Assign(ir.Expr.call(function, variables, (), loc), statement.target, loc))
        return statements

    def _print_options(self, call) -> tuple[str, str]:
        options = {"sep": " ", "end": "\n"}
        if call.vararg is not None:
            raise errors.UnsupportedError("print(*values) in a kernel: write the values one by one", call.loc)
        for name, variable in call.kws:
            value = self._constant(variable)
            if name not in options:
                raise errors.UnsupportedError(f"print in a kernel takes sep and end, not '{name}'", call.loc)
            if value is not None and not isinstance(value, str):
                raise errors.UnsupportedError(f"print in a kernel: '{name}' must be a constant string", call.loc)
            if value is not None:
                options[name] = value
        return options["sep"], options["end"]

    # -- f-strings

    def _text_parts(self, variable) -> list[Any] | None:
        """Texts and variables that an f-string is made of; None for what is no f-string."""
        visited: set[str] = set()
        parts = list(self._walk_text(variable, visited))
        if len(visited) < 2 and (not visited or isinstance(parts[0], str)):
            return None
        self.consumed |= visited
        return list(join_texts(parts)) or [""]

    def _walk_text(self, variable, visited: set[str]) -> Iterator[Any]:
        """Parts in order. `visited` gets the variables that were taken apart; none if `variable` is no text."""
        value = self._definition(variable)
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
        elif isinstance(value, ir.Expr) and value.op == "call" and len(value.args) == 1 and not value.kws:
            if self._constant(value.func) is str:
                visited.update((variable.name, value.func.name))
                yield value.args[0]
                return
        elif isinstance(value, ir.Const) and isinstance(value.value, str):
            visited.add(variable.name)
            yield value.value
            return
        yield variable

    def _definition(self, variable) -> Any:
        try:
            return self._func_ir.get_definition(variable)
        except KeyError:
            return None

    def _constant(self, variable) -> Any:
        try:
            return self._func_ir.infer_constant(variable)
        except consts.ConstantInferenceError:
            return _UNKNOWN

    # -- cleaning up

    def remove_consumed(self) -> None:
        """Remove assignments to consumed variables that nothing reads any more: strings cannot be typed."""
        self._consume_aliases()
        while True:
            uses = Counter(
                variable.name
                for block in self._func_ir.blocks.values()
                for statement in block.body
                for variable in _variables_read(statement)
            )
            removed = False
            for block in self._func_ir.blocks.values():
                kept = [s for s in block.body if not self._is_dead(s, uses)]
                removed |= len(kept) < len(block.body)
                block.body = kept
            if not removed:
                return

    def _is_dead(self, statement, uses: Counter) -> bool:
        name = statement.target.name if isinstance(statement, ir.Assign) else None
        return name in self.consumed and not uses[name]

    def _consume_aliases(self) -> None:
        """Variables that only pass a consumed one on: `text = f"…"; raise E(text)`."""
        grown = True
        while grown:
            grown = False
            for block in self._func_ir.blocks.values():
                for statement in block.body:
                    if not (isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Var)):
                        continue
                    pair = {statement.target.name, statement.value.name}
                    if pair & self.consumed and not pair <= self.consumed:
                        self.consumed |= pair
                        grown = True


_UNKNOWN = object()


def _variables_read(statement) -> Iterator[Any]:
    if isinstance(statement, ir.Assign):
        value = statement.value
        if isinstance(value, ir.Var):
            yield value
        elif isinstance(value, ir.Inst):
            yield from value.list_vars()
    elif isinstance(statement, (ir.DynamicRaise, ir.DynamicTryRaise)):
        yield from (argument for argument in statement.exc_args or () if isinstance(argument, ir.Var))
    else:
        yield from statement.list_vars()
