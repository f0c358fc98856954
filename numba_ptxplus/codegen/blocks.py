"""LLVM assembly of one function as basic blocks, for passes that llvmlite offers no means for. Before: legalize.
After: merge_guards, outline_throws.

All values and blocks must have names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.base.records import dataclass
from numba_gpucore.compile import module_text

_FUNCTION = late_pattern(r"^(?P<head>define [^\n]*\{\n)(?P<body>.*?)^\}$", re.MULTILINE | re.DOTALL)
_NAME = r'(?:[\w.$-]+|"[^"]+")'
VALUE = late_pattern(rf"%{_NAME}")
#: A line that gives a value its name.
DEFINITION = late_pattern(r"^  (?P<name>%\S+) = ")
#: A call in a block that ends the thread: nothing follows it but `unreachable`.
THROW = "@gpu.throw("


@dataclass
class Block:
    label: str
    lines: list[str]

    @property
    def targets(self) -> list[str]:
        """Labels of the blocks that may come next."""
        return module_text.targets_of(self.lines)

    @property
    def throws(self) -> bool:
        return any(THROW in line for line in self.lines)


Blocks = dict[str, Block]


def read_blocks(body: str) -> Blocks:
    """The blocks of a function's body by label, in order; comments at labels are left out."""
    return {label: Block(label, lines) for label, lines in module_text.read_blocks(body).items()}


def write_blocks(blocks: Collection[Block]) -> str:
    return "".join(f"{block.label}:\n" + "".join(f"{line}\n" for line in block.lines) for block in blocks)


def rewrite_functions(text: str, rewrite: Callable[[str, str], str]) -> str:
    """The module with each function as `rewrite` makes it of its first line and its body."""
    return _FUNCTION.sub(lambda found: rewrite(found["head"], found["body"]), text)
