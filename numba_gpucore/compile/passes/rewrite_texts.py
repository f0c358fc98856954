"""f-strings, `print` and exceptions in kernels. Before: Numba's IR of the bytecode. After: its rewrites.

A device has no strings. An f-string that is an argument of `print` or of a raised exception becomes the list of its
parts, texts that stay on the host and values that travel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from numba_gpucore.compile.numba_api import FunctionPass, build_definitions, errors, ir, register_pass
from numba_gpucore.compile.passes.read_texts import UNKNOWN, TextReader
from numba_gpucore.compile.texts import TextStart


def print_line(separator: str, end: str, *arguments: Any) -> None:
    """What `print` in a kernel becomes. A TextStart, Format or Spread says how to read what follows it."""
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
            rewriter.insert_copies()
            rewriter.remove_consumed()
            state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return bool(rewriter.consumed)


class _Rewriter:
    def __init__(self, func_ir):
        self._func_ir = func_ir
        self._reader = TextReader(func_ir)
        self.consumed = self._reader.consumed

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
        if (
            isinstance(statement, ir.Assign)
            and isinstance(statement.value, ir.Expr)
            and statement.value.op == "getattr"
        ):
            return [self._rewrite_attribute(statement)]
        return [statement]

    def _rewrite_attribute(self, statement):
        """`Model.DoesNotExist`, an exception in a class, which itself has no type in a kernel."""
        owner = statement.value.value
        cls = self._reader.constant(owner)
        found = getattr(cls, statement.value.attr, None) if isinstance(cls, type) else None
        if not (isinstance(found, type) and issubclass(found, BaseException)):
            return statement
        value = owner
        while isinstance(value, ir.Var):
            self.consumed.add(value.name)
            value = getattr(self._reader.definition(value), "value", None)
        return ir.Assign(ir.Global(statement.value.attr, found, statement.loc), statement.target, statement.loc)

    def _rewrite_raise(self, statement):
        reader = self._reader
        call = reader.definition(statement.exception)
        if not (isinstance(call, ir.Expr) and call.op == "call"):
            return statement
        exception = reader.constant(call.func)
        if call.kws or call.vararg:  # Numba would leave them out
            raise errors.UnsupportedError(
                "an exception in a kernel takes neither keywords nor *values — write its arguments one by one",
                statement.loc,
            )
        texts = [reader.text_parts(argument) for argument in call.args]
        if exception is UNKNOWN or not any(text is not None for text in texts):
            return statement
        arguments: list[Any] = []
        for argument, parts in zip(call.args, texts, strict=True):
            if parts is not None:
                arguments += [TextStart(len(parts)), *parts]
            else:
                constant = reader.constant(argument)
                arguments.append(argument if constant is UNKNOWN else constant)
        self.consumed.add(statement.exception.name)
        rewritten = ir.DynamicRaise if isinstance(statement, ir.Raise) else ir.DynamicTryRaise
        return rewritten(exception, tuple(arguments), statement.loc)

    # -- print

    def _calls_print(self, value) -> bool:
        return isinstance(value, ir.Expr) and value.op == "call" and self._reader.constant(value.func) is print

    def _rewrite_print(self, statement, scope) -> list:
        call, loc = statement.value, statement.loc
        given = [[argument] for argument in call.args]
        given += [] if call.vararg is None else self._reader.spread_arguments(call.vararg)
        arguments: list[Any] = [*self._print_options(call)]
        for argument in given:
            parts = self._reader.text_parts(argument[0]) if len(argument) == 1 else None
            arguments += argument if parts is None else [TextStart(len(parts)), *parts]
        self.consumed.add(call.func.name)
        statements = []

        def assign(value) -> Any:
            target = scope.redefine("$print", loc)
            statements.append(ir.Assign(value, target, loc))
            return target

        function = assign(ir.Global("print_line", print_line, loc))
        variables = [part if isinstance(part, ir.Var) else assign(ir.Const(part, loc)) for part in arguments]
        statements.append(ir.Assign(ir.Expr.call(function, variables, (), loc), statement.target, loc))
        return statements

    def _print_options(self, call) -> tuple[str, str]:
        options = {"sep": " ", "end": "\n"}
        for name, variable in call.kws:
            value = self._reader.constant(variable)
            if name == "flush":
                continue
            if name not in options:
                raise errors.UnsupportedError(f"print in a kernel takes sep and end, not '{name}'", call.loc)
            if value is not None and not isinstance(value, str):
                raise errors.UnsupportedError(f"print in a kernel: '{name}' must be a constant string", call.loc)
            if value is not None:
                options[name] = value
        return options["sep"], options["end"]

    # -- cleaning up

    def insert_copies(self) -> None:
        """Keep the values that texts were made of."""
        for block in self._func_ir.blocks.values():
            body = []
            for statement in block.body:
                made = statement.value if isinstance(statement, ir.Assign) else None
                if isinstance(made, ir.Expr) and made in self._reader.copies:
                    copy, original = self._reader.copies[made]
                    body.append(ir.Assign(original, copy, statement.loc))
                body.append(statement)
            block.body = body

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
