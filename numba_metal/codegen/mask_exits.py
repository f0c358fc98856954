"""Threads that end early still reach the barriers behind. Before: `print_body`. After: `text_tree` declares variables.

MSL 6.9.1: "All threads in a threadgroup executing the kernel must execute this function before any thread can continue
execution beyond the threadgroup_barrier", and a barrier in a condition needs all threads to enter the condition. CUDA
lets threads return before a barrier that the others wait at, and throwing does that too. So here a thread that is done
only clears its *mask*; barriers stand outside of what masks guard:

    bool live = true;                        // for each `return` in front of a barrier
    do {
        if (bad) { throw; live = false; break; }
        …
    } while (false);
    bool inside = live && x < n;             // for each `if` around a barrier
    if (inside) { … }
    threadgroup_barrier(…);
    if (inside) { … }

What decides how often a loop around a barrier runs must then be the same arithmetic in every thread: nothing that is
read from memory, or computed under a mask. Where a kernel has another loop, or votes at a barrier, its text stays as it
is: GPUs count the threads that are left, as CUDA programs expect, but MSL promises nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from numba_gpucore.base.late_pattern import late_pattern
from numba_metal.codegen.common_values import (
    RETURN,
    NotCommon,
    count_assignments,
    has_barrier,
    holds_barrier,
    is_barrier,
    is_loop_exit,
    is_return,
    is_word,
    leaves_by,
    varies,
    varying_names,
    walk,
    what_decides,
)
from numba_metal.codegen.text_tree import Group, Item, Line, Scope, exits_of_loop, is_if
from numba_metal.codegen.values import Values

_VOTE = late_pattern(r"\bbarrier_(?:count|and|or)\(")


def mask_exits(scope: Scope, values: Values, types: dict[str, str]) -> None:
    """Rewrite the kernel's text in place, where it must be and can be; `types` gets the masks as variables."""
    if not has_barrier(scope) or any(_VOTE.search(text) for text in _texts(scope)):
        return
    varying = varying_names(scope)
    ended = Scope(_end_by_return(scope.items, varying))
    if not (_ends_before_barrier(ended, False) or _has_varying_branch(ended, varying)):
        return
    try:
        masker = _Masker(ended, varying)
        scope.items = masker.transform(ended, values)
    except NotCommon:
        return
    types.update(dict.fromkeys(masker.masks, "bool"))


def _texts(scope: Scope) -> Iterator[str]:
    for item in walk(scope):
        yield from [item.text] if isinstance(item, Line) else [*item.heads, item.tail]


def _ends_before_barrier(scope: Scope, barrier_follows: bool) -> bool:
    """True if a `return` stands before a barrier; the scope is read from its end."""
    found = False
    for item in reversed(scope.items):
        if is_barrier(item):
            barrier_follows = True
        elif isinstance(item, Group):
            in_loop = not is_if(item) and holds_barrier(item)
            inner = [_ends_before_barrier(body, barrier_follows or in_loop) for body in item.bodies]
            found = found or any(inner)
            barrier_follows = barrier_follows or holds_barrier(item)
        elif is_return(item):
            found = found or barrier_follows
    return found


def _end_by_return(items: list[Item], varying: set[str]) -> list[Item]:
    """What leaves a loop around a barrier, behind which the kernel ends, returns instead, unless all threads leave."""
    *before, last = items or [Line("")]
    if not holds_barrier(last):
        return items
    assert isinstance(last, Group)
    if is_if(last):
        return [*before, replace(last, bodies=[Scope(_end_by_return(body.items, varying)) for body in last.bodies])]
    body = last.bodies[0].items
    if last.tail == "} while (false);":
        return [*before, *_end_by_return(_returns_for_breaks(body), varying)]
    rewritten: list[Item] = []
    for item in body:
        if isinstance(item, Group) and _is_break(item) and not varies(item.heads[0], item.reads, varying):
            *rest, leave = item.bodies[0].items
            rewritten.append(replace(item, bodies=[Scope([*_returns_for_breaks(rest), leave])]))
        elif is_word(item):
            rewritten.append(item)
        else:
            rewritten += _returns_for_breaks([item])
    return [*before, replace(last, bodies=[Scope(rewritten)])]


def _returns_for_breaks(items: list[Item]) -> list[Item]:
    result: list[Item] = []
    for item in items:
        if isinstance(item, Line):
            result.append(Line(RETURN) if item.text == "break;" else item)
        elif is_if(item):
            result.append(replace(item, bodies=[Scope(_returns_for_breaks(body.items)) for body in item.bodies]))
        else:
            result.append(item)
    return result


def _has_varying_branch(scope: Scope, varying: set[str]) -> bool:
    """True if a barrier stands in an `if` that only some threads may enter."""
    return any(
        isinstance(item, Group) and is_if(item) and holds_barrier(item) and varies(item.heads[0], item.reads, varying)
        for item in walk(scope)
    )


# -- rewriting


class _Masker:
    """masks: names of the variables that it adds."""

    def __init__(self, scope: Scope, varying: set[str]):
        self.masks: list[str] = []
        self._taken = set(count_assignments(scope))
        self._common_ifs: set[int] = set()
        self._needed: set[str] = set()
        for item in walk(scope):
            if isinstance(item, Group) and holds_barrier(item):
                self._note_control(item, scope, varying)

    def _note_control(self, item: Group, scope: Scope, varying: set[str]) -> None:
        """Note the variables that decide how often a loop around a barrier runs, or whether all threads enter a branch.
        Raises NotCommon unless every thread can compute them without reading memory, and all get the same."""
        constructs = [item]
        if not is_if(item):
            exits = list(filter(is_loop_exit, item.bodies[0].items))
            branches = [inner for inner in exits if isinstance(inner, Group)]
            is_hidden = len(exits) != sum(1 for _exit in exits_of_loop(item.bodies[0].items))
            if is_hidden or (_is_endless(item) and not any(map(_is_break, branches))):
                raise NotCommon
            constructs += branches
        for construct in constructs:
            if varies(" ".join((*construct.heads, construct.tail)), construct.reads, varying):
                if is_if(item):
                    return
                raise NotCommon
            self._needed |= what_decides(scope, construct.reads)
        if is_if(item):
            self._common_ifs.add(id(item))

    def transform(self, scope: Scope, values: Values) -> list[Item]:
        self._values = values
        if not _ends_before_barrier(scope, False):
            return self._body(scope, (), True)
        live = self._new_mask("live")
        return [Line(f"{live} = true;", defines=live), *self._body(scope, (live,), True)]

    def _new_mask(self, name: str) -> str:
        number = 1
        while name in self._taken:
            number += 1
            name = f"{name.rstrip('0123456789_')}_{number}"
        self._taken.add(name)
        self.masks.append(name)
        return name

    def _body(self, scope: Scope, masks: tuple[str, ...], is_kernel: bool) -> list[Item]:
        """masks: what a thread that ends must clear, innermost last."""
        items: list[Item] = []
        run: list[Item] = []
        is_fresh = is_kernel  # no thread can have ended yet

        def flush(is_last: bool = False) -> None:
            nonlocal is_fresh
            if run:
                items.extend(_guard(run, masks, is_fresh, keeps_return=is_last and is_kernel))
                is_fresh = is_fresh and not any(is_return(item) for item in walk(Scope(run)))
                run.clear()

        for item in scope.items:
            if is_barrier(item):
                flush()
                items.append(item)
            elif holds_barrier(item):
                assert isinstance(item, Group)
                flush()
                items.extend(self._construct(item, masks, is_fresh))
                is_fresh = False
            elif isinstance(item, Group) and is_loop_exit(item):
                flush()
                items.append(replace(item, bodies=[Scope(self._body(item.bodies[0], masks, False))]))
            elif is_word(item) or (isinstance(item, Line) and item.defines in self._needed):
                flush()
                items.append(item)
            else:
                run.append(item)
        flush(is_last=True)
        return items

    def _construct(self, group: Group, masks: tuple[str, ...], is_fresh: bool) -> list[Item]:
        if not is_if(group):
            return [self._loop(group, masks, is_fresh)]
        if id(group) in self._common_ifs:
            return [replace(group, bodies=[Scope(self._body(body, masks, False)) for body in group.bodies])]
        return self._branches(group, masks)

    def _branches(self, group: Group, masks: tuple[str, ...]) -> list[Item]:
        """An `if` around barriers: its bodies one after the other, each under a mask of its own."""
        condition = group.heads[0].removeprefix("if (").removesuffix(" {").removesuffix(")")
        inside = [self._new_mask("inside") for _body in group.bodies]
        reads = group.reads | frozenset(masks[-1:])
        items: list[Item] = []
        for name, test in zip(inside, (condition, f"!({condition})"), strict=False):
            within = f"({test})" if masks and ("||" in test or "?" in test) else test
            items.append(Line(f"{name} = {' && '.join((*masks[-1:], within))};", reads, name, group.place))
        for name, body in zip(inside, group.bodies, strict=True):
            items.extend(self._body(body, (*masks, name), False))
        return items

    def _loop(self, group: Group, masks: tuple[str, ...], is_fresh: bool) -> Group:
        loop = replace(group, bodies=[Scope(self._body(group.bodies[0], masks, False))])
        if not masks or is_fresh:
            return loop
        # What decides about the loop makes sense where a thread has come here, and perhaps only there.
        words, index = self._values.builtin("barrier_word"), self._values.builtin("thread_index")
        vote = f"{self._values.helper('barrier_or')}({words}, {index}, {masks[-1]})"
        return Group([f"if ({vote} != 0u) {{"], [Scope([loop])], "}", frozenset(masks[-1:]))


def _is_endless(loop: Group) -> bool:
    """True if only a `break` can end it."""
    return loop.heads[0] == "while (true) {"


def _is_break(group: Group) -> bool:
    return leaves_by(group, ("break;",))


def _guard(run: list[Item], masks: tuple[str, ...], is_fresh: bool, keeps_return: bool) -> list[Item]:
    """Items between two barriers, for threads whose mask is set; a thread that ends there clears its masks."""
    if not masks:
        return list(run)
    items = list(run)
    if not keeps_return and any(map(is_return, walk(Scope(run)))):
        if _returns_last(run):
            items = _clear_masks(run, masks, [])
        else:
            items = [Group(["do {"], [Scope(_clear_masks(run, masks, [Line("break;")]))], "} while (false);")]
    if is_fresh:
        return items
    return [Group([f"if ({masks[-1]}) {{"], [Scope(items)], "}", frozenset(masks[-1:]))]


def _returns_last(run: list[Item]) -> bool:
    """True if nothing of the run stands behind its `return`s, which end the branches of an `if`."""
    *_before, last = run
    if not isinstance(last, Group) or not is_if(last):
        return False
    at_ends = sum(is_return(body.items[-1]) for body in last.bodies if body.items)
    return at_ends == sum(map(is_return, walk(Scope(run))))


def _clear_masks(items: list[Item], masks: tuple[str, ...], leave: list[Line]) -> list[Item]:
    """`return` becomes: clear the masks, leave the innermost loop; behind each loop in between, leave the next."""
    result: list[Item] = []
    for item in items:
        if is_return(item):
            result += [Line(f"{name} = false;", defines=name) for name in masks]
            result += leave
        elif isinstance(item, Group) and any(is_return(inner) for body in item.bodies for inner in walk(body)):
            bodies = [Scope(_clear_masks(body.items, masks, leave)) for body in item.bodies]
            heads = [head if head.endswith("{") else f"{head} {{" for head in item.heads]
            result.append(replace(item, heads=heads, bodies=bodies, tail=item.tail or "}"))
            if not is_if(item):
                result.append(Group([f"if (!{masks[0]})"], [Scope([Line("break;")])], "", frozenset(masks[:1])))
        else:
            result.append(item)
    return result
