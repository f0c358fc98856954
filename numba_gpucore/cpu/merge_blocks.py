"""Run blocks that are neighbours in x as one row where kernels cannot tell. Before: flat_program. After: stride_rows.

LLVM vectorises along a row: with blocks of (16, 16) threads, rows of one block are too short. A kernel may ask for its
block and thread index only to compute its x in the grid; that sum is replaced by x itself, which the loop has.
"""

from __future__ import annotations

import re

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.cpu.thread_text import BLOCK, THREAD, WIDTH, ThreadText, X, count_values, read_definitions

#: Threads in a row of blocks; a place in it must fit into the 20 bits of ir/throw_first.ll.
MAX_ROW_THREADS = 2**20
_SUM = late_pattern(r"^add (?:n[us]w )*i64 (%\S+), (%\S+)$")
_PRODUCT = late_pattern(r"^mul (?:n[us]w )*i64 (%\S+), (%\S+)$")
_WIDENED = late_pattern(r"^[sz]ext (?:nneg )?i32 (%\S+) to i64$")
_ROW_THREADS = late_pattern(r"^(@gpu\.row_threads = .*constant i64) 1\b", re.MULTILINE)


def merge_blocks(text: str, keeps_blocks: bool) -> str:
    """Replace block * width + thread by x; then let rows be long, unless something else needs the block's own x, or
    `keeps_blocks` says that it does."""
    thread = ThreadText.find(text)
    body = thread.body
    for name in thread.definitions:
        if _is_grid_x(thread, name):
            body = re.sub(rf"^  {re.escape(name)} = .*\n", "", body, flags=re.MULTILINE)
            body = re.sub(rf"{re.escape(name)}(?![\w.$-])", X, body)
    merged = ThreadText(thread.head, _drop_unused(body))
    text = text.replace(thread.body, merged.body)
    if keeps_blocks or merged.mentions(BLOCK) or merged.mentions(THREAD):
        return text
    return _ROW_THREADS.sub(rf"\1 {MAX_ROW_THREADS}", text)


def _is_grid_x(thread: ThreadText, name: str) -> bool:
    """True for block * width + thread, in any order."""
    terms = _SUM.match(thread.definitions[name])
    if terms is None:
        return False
    for product, single in (terms.groups(), terms.groups()[::-1]):
        factors = _PRODUCT.match(thread.definitions.get(product, ""))
        if factors and _widened(thread, single) == THREAD:
            return {_widened(thread, factor) for factor in factors.groups()} == {BLOCK, WIDTH}
    return False


def _widened(thread: ThreadText, name: str) -> str | None:
    match = _WIDENED.match(thread.definitions.get(name, ""))
    return match.group(1) if match else None


def _drop_unused(body: str) -> str:
    """Remove the products and extensions that were only there for the sum."""
    while True:
        uses = count_values(body)
        unused = [
            f"  {name} = {text}\n"
            for name, text in read_definitions(body).items()
            if text.startswith(("mul ", "sext ", "zext ")) and uses[name] == 1
        ]
        if not unused:
            return body
        for line in unused:
            body = body.replace(line, "")
