"""The kernel's statements. Before: `resolve_exits`, `values`. After: `text_tree`, `print_kernel`.

Each construct is printed as a person would: a loop that tests first becomes `while (test)`, one that tests last
`do … while (test)`, and a branch that leaves needs no `else`.
"""

from __future__ import annotations

from numba_gpucore.base.errors import Fault
from numba_metal.codegen.addresses import store_text
from numba_metal.codegen.atomics import print_atomic, print_atomic_load, print_atomic_store
from numba_metal.codegen.block_memory import print_memory_call
from numba_metal.codegen.expressions import LOGICAL_OR, Expr, convert, logical_not
from numba_metal.codegen.instructions import print_instr
from numba_metal.codegen.ir_types import Instr, IntType, Local, PointerType, Undefined, Value
from numba_metal.codegen.resolve_exits import (
    CONTINUE,
    If,
    SetFlag,
    SetState,
    Statement,
    Switch,
    While,
    Word,
)
from numba_metal.codegen.structure import Copies, Straight
from numba_metal.codegen.text_tree import Group, Line, Scope, exits_of_loop
from numba_metal.codegen.values import CannotPrint, Values
from numba_metal.codegen.variables import unique_name
from numba_metal.codegen.vectors import is_vector, store_vector
from numba_metal.codegen.wide_integers import is_wide, wide_expr

_WORDS = frozenset(("break;", "continue;", "return;"))


class BodyPrinter:
    """`extra_types`: types of the variables that exist only in the text (flags, temporaries of copies)."""

    def __init__(self, values: Values):
        self._values = values
        self._selection = values.selection
        self.extra_types: dict[str, str] = {}
        self._numbers = {b.label: n for n, b in enumerate(values.selection.function.blocks)}

    def scope(self, statements: list[Statement]) -> Scope:
        scope = Scope()
        for statement in statements:
            match statement:
                case Straight(block=block):
                    for instr in self._selection.statements[block]:
                        self._print_instr(scope, instr)
                case Copies(source=source, target=target):
                    self._print_copies(scope, source, target)
                case If():
                    self._print_if(scope, statement)
                case While():
                    self._print_while(scope, statement)
                case Switch():
                    self._print_switch(scope, statement)
                case Word(text=text):
                    scope.add_line(f"{text};")
                case SetFlag(name=name, value=value):
                    self.extra_types[name] = "bool"
                    scope.add_line(f"{name} = {'true' if value else 'false'};", defines=name)
                case SetState(block=block):
                    self.extra_types["state"] = "int"
                    scope.add_line(f"state = {block};", defines="state")
        return scope

    # -- instructions

    def _note_fault(self, problem: CannotPrint, instr: Instr | None) -> None:
        code = self._values.job.request.py_func.__code__
        line = instr.source.line if instr is not None and instr.source else code.co_firstlineno
        fault = Fault(code.co_filename, line, problem.what, problem.advice)
        if fault not in self._values.faults:
            self._values.faults.append(fault)

    def _reads(self, *operands: Value) -> set[str]:
        variables = self._values.variables
        return {variables.name(name) for name in self._selection.reads(*operands)}

    def _print_instr(self, scope: Scope, instr: Instr) -> None:
        try:
            self._print_statement(scope, instr)
        except CannotPrint as problem:
            self._note_fault(problem, instr)

    def _print_statement(self, scope: Scope, instr: Instr) -> None:
        values = self._values
        reads = self._reads(*self._selection.operands(instr))
        place = _place(instr)
        if instr.opcode == "store" and is_vector(instr):
            for line in store_vector(values, instr):
                scope.add_line(line, reads, place=place)
            return
        if instr.opcode == "store":
            text = print_atomic_store(values, instr) if "atomic" in instr.flags else store_text(values, instr)
            scope.add_line(text, reads, place=place)
            return
        if instr.opcode == "fence":
            raise CannotPrint("a memory fence of LLVM")
        if instr.opcode == "call" and instr.detail.startswith("llvm.mem"):
            for line in print_memory_call(values, instr):
                scope.add_line(line, reads, place=place)
            return
        expr = self._result(instr)
        if instr.name not in self._selection.used:
            if expr.text:
                scope.add_line(f"{expr.text};", reads, place=place)
            return
        assert instr.name is not None
        name = values.variables.name(instr.name)
        value = self._fit(expr, instr.name)
        scope.add_line(f"{name} = {value.text};", reads, name, place)

    def _result(self, instr: Instr) -> Expr:
        if instr.opcode in ("atomicrmw", "cmpxchg"):
            return print_atomic(self._values, instr)
        if instr.opcode == "load" and "atomic" in instr.flags:
            return print_atomic_load(self._values, instr)
        return print_instr(self._values, instr)

    def _fit(self, expr: Expr, name: str) -> Expr:
        """The expression as the variable of value `name` takes it."""
        type_ = self._values.types.of_variable(name)
        if expr.type == type_ or expr.text == "nullptr":
            return expr
        if type_.endswith("*"):
            return Expr(f"({type_}){expr.within(15)}", type_, 15)
        return convert(expr, type_)

    # -- copies on edges

    def _print_copies(self, scope: Scope, source: int, target: int) -> None:
        """Assign what phis take, all at once: an assignment waits until no other needs the old value."""
        pending: list[tuple[str, str, set[str]]] = []
        for phi in self._selection.function.blocks[target].instrs:
            if phi.opcode != "phi":
                break
            assert phi.name is not None
            if phi.name not in self._selection.used:
                continue
            incoming = zip(phi.operands, phi.labels, strict=True)
            operand = next(value for value, label in incoming if self._numbers[label] == source)
            try:
                pending += self._copy(phi, operand)
            except CannotPrint as problem:
                self._note_fault(problem, phi)
        while pending:
            ready = next((c for c in pending if not any(c[0] in o[2] for o in pending if o is not c)), None)
            if ready is None:
                name, text, reads = pending.pop(0)
                temporary = unique_name(f"next_{name}", {*self.extra_types, *self._values.variables.names.values()})
                self.extra_types[temporary] = self._type_by_name[name]
                scope.add_line(f"{temporary} = {text};", reads, defines=temporary)
                pending.append((name, temporary, {temporary}))
            else:
                pending.remove(ready)
                scope.add_line(f"{ready[0]} = {ready[1]};", ready[2], defines=ready[0])

    @property
    def _type_by_name(self) -> dict[str, str]:
        variables, types = self._values.variables, self._values.types
        return {name: types.of_variable(value) for value, name in variables.names.items()}

    def _copy(self, phi: Instr, operand: Value) -> list[tuple[str, str, set[str]]]:
        values = self._values
        assert phi.name is not None
        name, type_ = values.variables.name(phi.name), values.types.of_variable(phi.name)
        if isinstance(operand, Local) and values.variables.is_variable(operand.name):
            if values.variables.of(operand.name) == values.variables.of(phi.name):
                return []
        if is_wide(phi):
            expr = wide_expr(values, operand)
        elif isinstance(phi.type, IntType) and not isinstance(operand, Undefined):
            expr = values.as_type(operand, type_)
        else:
            expr = self._fit(values.expr(operand), phi.name)
        if isinstance(phi.type, PointerType) and expr.text == "nullptr":
            expr = Expr("nullptr", type_)
        return [(name, expr.text, self._reads(operand))]

    # -- constructs

    def _condition(self, condition: int | str) -> tuple[Expr, set[str]]:
        if isinstance(condition, str):
            return Expr(condition, "bool"), {condition}
        instr = self._selection.function.blocks[condition].instrs[-1]
        try:
            return self._values.expr(instr.operands[0]), self._reads(*instr.operands)
        except CannotPrint as problem:
            self._note_fault(problem, instr)
            return Expr("false", "bool"), set()

    def _branch_place(self, condition: int | str) -> str:
        return "" if isinstance(condition, str) else _place(self._selection.function.blocks[condition].instrs[-1])

    def _print_if(self, scope: Scope, statement: If) -> None:
        condition, reads = self._condition(statement.condition)
        then, orelse = self.scope(statement.then), self.scope(statement.orelse)
        if not then.items and not orelse.items:
            return
        place = self._branch_place(statement.condition)
        choice = _choice(condition, then, orelse, reads, place)
        if choice is not None:
            scope.items.append(choice)
            return
        if not then.items or (_leaves(orelse) and not _leaves(then)):
            condition, then, orelse = logical_not(condition), orelse, then
        if orelse.items and _leaves(then):
            scope.items.append(_branch(condition, [then], reads, place))
            scope.items.extend(orelse.items)
        else:
            scope.items.append(_branch(condition, [then, orelse] if orelse.items else [then], reads, place))

    def _print_while(self, scope: Scope, statement: While) -> None:
        body = self.scope(statement.body)
        if statement.header is None:
            # What comes before the first way out runs in any case, and a barrier is better seen outside (`mask_exits`).
            start = next((n for n, item in enumerate(body.items) if any(exits_of_loop([item]))), len(body.items))
            scope.items.extend(body.items[:start])
            if start < len(body.items):
                scope.items.append(Group(["do {"], [Scope(body.items[start:])], "} while (false);"))
            return
        first, last = (body.items[0], body.items[-1]) if body.items else (None, None)
        if isinstance(first, Group) and _is_break(first):
            head = f"while ({first.negated}) {{"
            scope.items.append(Group([head], [Scope(body.items[1:])], "}", first.reads, first.place))
        elif isinstance(last, Group) and _is_break(last) and not _has_continue(statement.body):
            tail = f"}} while ({last.negated});"
            scope.items.append(Group(["do {"], [Scope(body.items[:-1])], tail, last.reads))
        else:
            scope.items.append(Group(["while (true) {"], [body], "}"))

    def _print_switch(self, scope: Scope, statement: Switch) -> None:
        self.extra_types["state"] = "int"
        scope.add_line("state = 0;", defines="state")
        heads, bodies = ["switch (state) {"], [Scope()]
        for block, arm in statement.arms:
            inner = self.scope(arm)
            if not inner.items or not _leaves(inner):
                inner.add_line("break;")
            bodies[0].items.append(Group([f"case {block}: {{"], [inner], "}"))
        body = Scope([Group(heads, bodies, "}", frozenset(("state",)))])
        scope.items.append(Group(["while (true) {"], [body], "}"))


def _place(instr: Instr) -> str:
    return str(instr.source) if instr.source is not None and instr.source.function else ""


def _branch(condition: Expr, bodies: list[Scope], reads: set[str], place: str) -> Group:
    heads = [f"if ({condition.text}) {{", "} else {"][: len(bodies)]
    branch = Group(heads, bodies, "}", frozenset(reads), place, logical_not(condition).text)
    only = bodies[0].items
    if len(bodies) == 1 and len(only) == 1 and isinstance(only[0], Line) and not only[0].defines:
        branch.heads, branch.tail = [f"if ({condition.text})"], ""
    return branch


def _choice(condition: Expr, then: Scope, orelse: Scope, reads: set[str], place: str) -> Line | None:
    """`x = test ? a : b` for two branches that do no more than that."""
    if len(then.items) != 1 or len(orelse.items) != 1:
        return None
    a, b = then.items[0], orelse.items[0]
    if not isinstance(a, Line) or not isinstance(b, Line) or a.defines is None or a.defines != b.defines:
        return None
    start = f"{a.defines} = "
    texts = [line.text.removeprefix(start).removesuffix(";") for line in (a, b)]
    if any(" ? " in text for text in (*texts, condition.text)):
        return None
    text = f"{start}{condition.within(LOGICAL_OR)} ? {texts[0]} : {texts[1]};"
    return Line(text, frozenset(reads) | a.reads | b.reads, a.defines, place)


def _leaves(scope: Scope) -> bool:
    """True if control never falls out of the end of `scope`."""
    if not scope.items:
        return False
    last = scope.items[-1]
    if isinstance(last, Line):
        return last.text in _WORDS
    return bool(last.negated) and len(last.bodies) == 2 and all(map(_leaves, last.bodies))


def _is_break(group: Group) -> bool:
    items = group.bodies[0].items
    return (
        bool(group.negated)
        and len(group.bodies) == 1
        and len(items) == 1
        and (isinstance(items[0], Line) and items[0].text == "break;")
    )


def _has_continue(statements: list[Statement]) -> bool:
    """True if a `continue` stands in the loop itself; those of loops inside it are their own."""
    for statement in statements:
        if statement == CONTINUE:
            return True
        if isinstance(statement, If) and (_has_continue(statement.then) or _has_continue(statement.orelse)):
            return True
    return False
