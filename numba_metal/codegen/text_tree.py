"""Statements as nested text, and where each variable is declared. Before: `print_kernel` fills it. After: the text.

A variable is declared in the innermost scope that holds all its uses: with its first assignment where that stands
directly in the scope, else on a line of its own before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Union

INDENT = "    "


@dataclass
class Line:
    """One statement. defines: the variable that it assigns; reads: those that it needs. place: where the user's
    program says so, as "function +line"; "" if unknown."""

    text: str
    reads: frozenset[str] = frozenset()
    defines: str | None = None
    place: str = ""


@dataclass
class Group:
    """A construct with bodies: heads[i] opens bodies[i], `tail` closes the last. reads: of heads and tail. negated: the
    opposite of an if's condition, "" for other constructs."""

    heads: list[str]
    bodies: list[Scope]
    tail: str
    reads: frozenset[str] = frozenset()
    place: str = ""
    negated: str = ""


Item = Union[Line, Group]


@dataclass
class Scope:
    items: list[Item] = field(default_factory=list)

    def add_line(self, text: str, reads: Iterable[str] = (), defines: str | None = None, place: str = "") -> None:
        self.items.append(Line(text, frozenset(reads), defines, place))


def is_if(group: Group) -> bool:
    return group.heads[0].startswith("if (")


def exits_of_loop(items: Iterable[Item]) -> Iterator[Line]:
    """The `break`s and `continue`s in a loop's body that are its own, not those of loops inside it."""
    for item in items:
        if isinstance(item, Line):
            if item.text in ("break;", "continue;"):
                yield item
        elif is_if(item):
            for body in item.bodies:
                yield from exits_of_loop(body.items)


def declare_variables(scope: Scope, types: dict[str, str]) -> None:
    """Put declarations into the tree; `types[name]` is the C++ type of variable `name`."""
    touched: dict[int, frozenset[str]] = {}
    _note_touched(scope, touched)
    _declare(scope, types, set(), touched)


def _note_touched(scope: Scope, touched: dict[int, frozenset[str]]) -> frozenset[str]:
    """Fill in the variables that each scope and item, by its `id`, reads or defines; those of `scope` itself."""
    names: set[str] = set()
    for item in scope.items:
        found = set(item.reads)
        if isinstance(item, Group):
            found.update(*(_note_touched(body, touched) for body in item.bodies))
        elif item.defines:
            found.add(item.defines)
        touched[id(item)] = frozenset(found)
        names |= found
    touched[id(scope)] = frozenset(names)
    return touched[id(scope)]


def _declare(scope: Scope, types: dict[str, str], declared: set[str], touched: dict[int, frozenset[str]]) -> None:
    last_item = {name: item for item in scope.items for name in touched[id(item)]}
    items: list[Item] = []
    for item in scope.items:
        for name in sorted(touched[id(item)] - declared):
            if last_item[name] is item and not _belongs_here(name, item, touched):
                continue
            declared.add(name)
            if isinstance(item, Line) and item.defines == name and name not in item.reads:
                item.text = f"{types[name]} {item.text}"
            else:
                items.append(Line(f"{types[name]} {name};"))
        items.append(item)
        if isinstance(item, Group):
            for body in item.bodies:
                _declare(body, types, declared, touched)
    scope.items = items


def _belongs_here(name: str, item: Item, touched: dict[int, frozenset[str]]) -> bool:
    """True unless all uses in an item lie in one body of it."""
    if isinstance(item, Line) or name in item.reads:
        return True
    return sum(name in touched[id(body)] for body in item.bodies) > 1


def add_places(scope: Scope, last: str = "") -> str:
    """Put a comment before each statement that comes from another place than the one before it; returns the last."""
    items: list[Item] = []
    for item in scope.items:
        if item.place and item.place != last:
            last = item.place
            items.append(Line(f"// {last}"))
        items.append(item)
        if isinstance(item, Group):
            for body in item.bodies:
                last = add_places(body, last)
    scope.items = items
    return last


def render(scope: Scope, depth: int) -> Iterator[str]:
    indent = INDENT * depth
    for item in scope.items:
        if isinstance(item, Line):
            yield f"{indent}{item.text}"
            continue
        for head, body in zip(item.heads, item.bodies, strict=True):
            yield f"{indent}{head}"
            yield from render(body, depth + 1)
        if item.tail:
            yield f"{indent}{item.tail}"
