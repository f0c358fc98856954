"""Choose the axis along which rows of threads run. Before: flat_program simplifies a thread's code. After:
merge_blocks, or the same once more with this axis and x exchanged.

LLVM vectorises along a row, which takes neighbours in it to be neighbours in memory. After `i, j = cuda.grid(2)`, as
most programs have it, those of `a[i, j]` are neighbours in y: with rows along x a stencil is 80 times slower. Each
product on the way from an axis to an address, by an extent as a rule, makes steps along this axis longer. So addresses
vote, each for the axis that is multiplied least often; an address that depends on one axis alone does not.
"""

from __future__ import annotations

import math

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.cpu.thread_text import THREAD, THREAD_Y, THREAD_Z, ThreadText, X, values_in

_PRODUCT = late_pattern(r"^(?:mul|shl)\b")
#: Others, above all comparisons, reads and numbers, are no way from an axis to an address.
_WAY = late_pattern(
    r"^(?:mul|shl|add|sub|or|and|xor|sext|zext|trunc|freeze|select|phi|[us]div|[us]rem|[la]shr|getelementptr)\b"
    r"|^(?:tail )?call [^@\n]*@llvm\.(?:[us](?:min|max)|abs)\."
)
_ACCESS = late_pattern(r"^  (?:%\S+ = load|store) .*, ptr (%[\w.$-]+)")

#: How often x, y and z are multiplied on their ways to a value, at least; infinity where there is no way.
Products = tuple[float, ...]


def choose_row_axis(text: str) -> int:
    """0 for x, 1 for y, 2 for z, from the thread's function in a module's text in which rows run along x."""
    thread = ThreadText.find(text)
    products = _count_products(thread)
    accesses = (_ACCESS.match(line) for lines in thread.blocks.values() for line in lines)
    ballots = [_vote(products[access[1]]) for access in accesses if access and access[1] in products]
    votes = [ballots.count(axis) for axis in range(3)]
    return votes.index(max(votes))


def _vote(address: Products) -> int | None:
    least, more, _ = sorted(address)
    return address.index(least) if least < more < math.inf else None


def _count_products(thread: ThreadText) -> dict[str, Products]:
    """Of all values that an axis comes to. Rounds until nothing changes, since loops lead values back."""
    x, y, z = (tuple(0 if axis == own else math.inf for axis in range(3)) for own in range(3))
    found: dict[str, Products] = {X: x, THREAD: x, THREAD_Y: y, THREAD_Z: z}
    ways = [
        (name, values_in(text), int(_PRODUCT.match(text) is not None))
        for name, text in thread.definitions.items()
        if _WAY.match(text)
    ]
    is_changed = True
    while is_changed:
        is_changed = False
        for name, operands, step in ways:
            sources = [found[operand] for operand in operands if operand in found]
            if sources and (least := tuple(min(axis) + step for axis in zip(*sources, strict=True))) != found.get(name):
                found[name] = least
                is_changed = True
    return found
