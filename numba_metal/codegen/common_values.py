"""What is the same in all threads of a group, and what may differ. Before: `print_body`. After: `mask_exits`.

A variable is common where all threads compute it by the same arithmetic from the kernel's scalar arguments. What is
read from memory counts as varying, since threads that have ended would have to read it too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from numba_gpucore.base.late_pattern import late_pattern
from numba_metal.codegen.text_tree import Group, Item, Line, Scope, exits_of_loop, is_if

RETURN = "return;"
_BARRIER = "threadgroup_barrier("
_VARYING = late_pattern(r"\b(?:tid|gid|lane|thread_index)\b")
#: Calls that neither touch memory nor other threads: casts, and what integer arithmetic is made of.
_CALL = late_pattern(r"(\w+)\s*\(")
_PURE_CALL = late_pattern(
    r"(?:bool|u?char|u?short|u?int|u?long|half|float|min|max|if|while|(?:divide|remainder|absolute)_\w+)$"
)


class NotCommon(Exception):
    """Something is not the same in all threads, or one that has ended cannot know it."""


def walk(scope: Scope) -> Iterator[Item]:
    for item in scope.items:
        yield item
        if isinstance(item, Group):
            for body in item.bodies:
                yield from walk(body)


def is_barrier(item: Item) -> bool:
    return isinstance(item, Line) and item.text.startswith(_BARRIER)


def is_return(item: Item) -> bool:
    return isinstance(item, Line) and item.text == RETURN


def is_word(item: Item) -> bool:
    return isinstance(item, Line) and item.text in ("break;", "continue;")


def is_loop_exit(item: Item) -> bool:
    """A `break` or `continue`, or an `if` that ends in its only one."""
    if isinstance(item, Line):
        return is_word(item)
    return leaves_by(item, ("break;", "continue;")) and sum(1 for _exit in exits_of_loop([item])) == 1


def leaves_by(group: Group, words: tuple[str, ...]) -> bool:
    """True for an `if` without `else` that ends in one of the words."""
    if not is_if(group) or len(group.bodies) != 1:
        return False
    last = group.bodies[0].items[-1]
    return isinstance(last, Line) and last.text in words


def has_barrier(scope: Scope) -> bool:
    return any(map(is_barrier, walk(scope)))


def holds_barrier(item: Item) -> bool:
    return isinstance(item, Group) and any(map(has_barrier, item.bodies))


def varying_names(scope: Scope) -> set[str]:
    """Variables that may differ between the threads of a group."""
    assignments = count_assignments(scope)
    varying: set[str] = set()
    size = -1
    while len(varying) > size:
        size = len(varying)
        _note_varying(scope, assignments, varying, False)
    return varying


def _note_varying(scope: Scope, assignments: Counter[str], varying: set[str], is_varying: bool) -> None:
    """assignments: how many each variable has in the whole kernel."""
    for item in scope.items:
        if isinstance(item, Line):
            if item.defines and (is_varying or varies(item.text, item.reads, varying)):
                varying.add(item.defines)
            continue
        splits = varies(" ".join((*item.heads, item.tail)), item.reads, varying)
        if not is_if(item) and not holds_barrier(item):
            splits = splits or has_varying_exit(item.bodies[0].items, varying)
        for body in item.bodies:
            if splits and holds_barrier(item):
                # All threads will come by here, so only what has another value elsewhere differs.
                varying |= {name for name, count in count_assignments(body).items() if count < assignments[name]}
            _note_varying(body, assignments, varying, is_varying or (splits and not holds_barrier(item)))


def has_varying_exit(items: list[Item], varying: set[str]) -> bool:
    """True if only some threads may leave a loop, or this run of it, where these stand in its body."""
    return any(
        isinstance(item, Group)
        and is_if(item)
        and any(exits_of_loop([item]))
        and (
            varies(item.heads[0], item.reads, varying)
            or any(has_varying_exit(body.items, varying) for body in item.bodies)
        )
        for item in items
    )


def count_assignments(scope: Scope) -> Counter[str]:
    return Counter(item.defines for item in walk(scope) if isinstance(item, Line) and item.defines)


def varies(text: str, reads: frozenset[str], varying: set[str]) -> bool:
    return not _is_pure(text) or _VARYING.search(text) is not None or not varying.isdisjoint(reads)


def _is_pure(text: str) -> bool:
    """True for arithmetic on variables and the kernel's scalar arguments."""
    return "[" not in text and "*(" not in text and all(map(_PURE_CALL.match, _CALL.findall(text)))


def what_decides(scope: Scope, names: frozenset[str]) -> set[str]:
    """The variables that these depend on. Raises NotCommon unless every thread can compute them by arithmetic."""
    needed = set(names)
    size = -1
    while len(needed) > size:
        size = len(needed)
        for name in sorted(needed):
            for line in _definitions(scope, name):
                if not _is_pure(line.text):
                    raise NotCommon
                needed |= line.reads
    if not all(_is_common(scope, name) for name in needed):
        raise NotCommon
    return needed


def _definitions(scope: Scope, name: str) -> list[Line]:
    return [item for item in walk(scope) if isinstance(item, Line) and item.defines == name]


def _is_common(scope: Scope, name: str, is_loop: bool = False) -> bool:
    """True if all assignments of a variable stand where every thread comes by: in no construct without a barrier, but
    where a loop around barriers ends."""
    for item in scope.items:
        if isinstance(item, Group):
            is_met = holds_barrier(item)
            for body in item.bodies:
                if is_met or (is_loop and is_loop_exit(item)):
                    is_assigned_elsewhere = not _is_common(body, name, is_met and not is_if(item))
                else:
                    is_assigned_elsewhere = bool(_definitions(body, name))
                if is_assigned_elsewhere:
                    return False
    return True
