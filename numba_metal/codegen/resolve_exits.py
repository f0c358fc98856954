"""From labelled constructs to what C++ has: while, if, break, continue. Before: `structure`. After: the printer.

C++ has no labelled break. A Goto needs no word where control falls through to its target; one `break` or `continue`
where the innermost loop does it; a `do { } while (false)` around code that is left in its middle; and a flag only
where more than one loop is left at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Union

from numba_metal.codegen.structure import (
    END,
    Branch,
    Copies,
    Dispatch,
    Goto,
    Labelled,
    Loop,
    Straight,
    Tree,
)


@dataclass
class If:
    """`block`: the branch whose condition it is; a flag's name instead, where one is tested."""

    condition: int | str
    then: list[Statement]
    orelse: list[Statement]


@dataclass
class While:
    """`header` is the loop's first block; None for a loop that runs once (`do { } while (false)`)."""

    header: int | None
    body: list[Statement]


@dataclass
class Switch:
    """The dispatch loop of an irreducible function."""

    arms: list[tuple[int, list[Statement]]]


@dataclass(frozen=True)
class Word:
    """break, continue or return."""

    text: str


@dataclass(frozen=True)
class SetFlag:
    name: str
    value: bool


@dataclass(frozen=True)
class SetState:
    """The number of the block that the dispatch loop goes to next."""

    block: int


Statement = Union[Straight, Copies, If, While, Switch, Word, SetFlag, SetState]
BREAK, CONTINUE, RETURN = Word("break"), Word("continue"), Word("return")


@dataclass(eq=False)
class _Frame:
    """What encloses a place: a loop (label: its header), a loop that runs once, or code that needs no construct (label:
    the block behind it). after: where control falls to behind it. pending: flags by targets that are left for."""

    kind: Literal["loop", "once", "plain"]
    label: int
    after: tuple[str, int]
    pending: dict[tuple[str, int], str] = field(default_factory=dict)


def resolve_exits(tree: Tree) -> list[Statement]:
    """Statements without Gotos; `("at", END)` is where the function ends."""
    if len(tree) == 1 and isinstance(tree[0], Dispatch):
        return _resolve_dispatch(tree[0])
    wrapped: set[int] = set()
    while True:
        resolver = _Resolver(wrapped)
        statements = resolver.sequence(tree, ("at", END), ())
        if not resolver.to_wrap - wrapped:
            return statements
        wrapped |= resolver.to_wrap


class _Resolver:
    def __init__(self, wrapped: set[int]):
        self._wrapped = wrapped
        self.to_wrap: set[int] = set()

    def sequence(self, tree: Tree, fall: tuple[str, int], frames: tuple[_Frame, ...]) -> list[Statement]:
        """`fall`: where control gets to behind the last node: ("at", block) or ("next", header)."""
        statements: list[Statement] = []
        for index, node in enumerate(tree):
            is_last = index + 1 == len(tree)
            match node:
                case Straight() | Copies():
                    statements.append(node)
                case Goto(target=target, is_back_edge=is_back_edge):
                    statements += self._go(("next" if is_back_edge else "at", target), fall, frames)
                case Branch(block=block, then=then, orelse=orelse):
                    # In the middle of a sequence only a throw's branch stands, which never falls through.
                    behind = fall if is_last else ("nowhere", block)
                    arms = [self.sequence(arm, behind, frames) for arm in (then, orelse)]
                    statements.append(If(block, *arms))
                case Loop(header=header, body=body):
                    statements += self._construct("loop", header, body, fall, frames)
                case Labelled(label=label, body=body):
                    behind = ("at", label)
                    if label in self._wrapped:
                        statements += self._construct("once", label, body, behind, frames)
                    else:
                        statements += self.sequence(body, behind, (*frames, _Frame("plain", label, behind)))
        return statements

    def _construct(
        self,
        kind: Literal["loop", "once"],
        label: int,
        body: Tree,
        after: tuple[str, int],
        frames: tuple[_Frame, ...],
    ) -> list[Statement]:
        frame = _Frame(kind, label, after)
        inner_fall = ("next", label) if kind == "loop" else after
        inner = self.sequence(body, inner_fall, (*frames, frame))
        statements: list[Statement] = [While(label if kind == "loop" else None, inner)]
        for target, flag in frame.pending.items():
            exits = self._go(target, after, frames, flag)
            if exits:
                statements.append(If(flag, exits, []))
        outer_flags = {flag for outer in frames for flag in outer.pending.values()}
        cleared = [SetFlag(flag, False) for flag in frame.pending.values() if flag not in outer_flags]
        return [*cleared, *statements]

    def _go(
        self, target: tuple[str, int], fall: tuple[str, int], frames: tuple[_Frame, ...], flag: str | None = None
    ) -> list[Statement]:
        """Words that bring control to `target`; `flag` says that this flag is set already."""
        if target == fall:
            return []
        kind, label = target
        around = [frame for frame in frames if frame.kind != "plain"]
        innermost = around[-1] if around else None
        if innermost is not None and kind == "next" and (innermost.kind, innermost.label) == ("loop", label):
            return [CONTINUE]
        if innermost is not None and innermost.after == target:
            return [BREAK]
        if target == ("at", END):
            return [RETURN]
        inside = frames[frames.index(innermost) + 1 :] if innermost is not None else frames
        if any(frame.label == label for frame in inside):
            self.to_wrap.add(label)
            return []
        assert innermost is not None, f"no way to leave for block {label}"
        name = flag or f"{'continue' if kind == 'next' else 'goto'}_{label}"
        innermost.pending[target] = name
        return [BREAK] if flag else [SetFlag(name, True), BREAK]


def _resolve_dispatch(dispatch: Dispatch) -> list[Statement]:
    def resolve(tree: Tree) -> list[Statement]:
        statements: list[Statement] = []
        for node in tree:
            match node:
                case Straight() | Copies():
                    statements.append(node)
                case Goto(target=target):
                    statements.append(RETURN if target == END else SetState(target))
                case Branch(block=block, then=then, orelse=orelse):
                    statements.append(If(block, resolve(then), resolve(orelse)))
        return statements

    return [Switch([(block, resolve(tree)) for block, tree in dispatch.arms])]
