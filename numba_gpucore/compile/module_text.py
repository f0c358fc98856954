"""Modules as LLVM assembly, the form in which they are kept and linked. Before: code_library. After: linking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import llvmlite.binding as llvm

from numba_gpucore.base.late_pattern import late_pattern

#: The name of a function or variable that is mentioned.
SYMBOL = late_pattern(r'@"?(?P<name>[\w.$]+)"?')
#: A block that a block may go on to.
_TARGET = late_pattern(r'\blabel %([\w.$-]+|"[^"]+")')
_ENVIRONMENTS = ("@_ZN08NumbaEnv", '@"_ZN08NumbaEnv')


def remove_environments(text: str) -> str:
    """Without Numba's "environment" of every function, which is for the interpreter: nothing on a device reads it."""
    return "\n".join(line for line in text.split("\n") if not line.startswith(_ENVIRONMENTS))


def split_module(text: str) -> Iterator[str]:
    """Each function with its body as one piece, and the lines outside functions, in order."""
    before, *definitions = f"\n{text}".split("\ndefine ")
    yield from before[1:].splitlines()
    for definition in definitions:
        function, end, after = definition.partition("\n}")
        yield f"define {function}{end}"
        yield from after.splitlines()


def read_functions(text: str) -> Iterator[tuple[str, str]]:
    """The name and the text of each function that a module defines."""
    return ((symbol_of(piece), piece) for piece in split_module(text) if piece.startswith("define "))


def read_blocks(body: str) -> dict[str, list[str]]:
    """The lines of a function's blocks by label, in order, without comments; the first block's label is "entry" where
    the text does not name it."""
    blocks: dict[str, list[str]] = {}
    label = "entry"
    for line in body.splitlines():
        if line.startswith(" "):
            blocks.setdefault(label, []).append(line)
        elif line and not line.startswith(";"):
            label = line.partition(":")[0]
            blocks.setdefault(label, [])
    return blocks


def targets_of(block: list[str]) -> list[str]:
    """Labels of the blocks that may come next; LLVM prints a switch on several lines."""
    return [label for line in block if "label %" in line for label in _TARGET.findall(line)]


def symbol_of(line: str) -> str:
    """The name of the function or variable that a line declares or defines."""
    start = line.index("@") + 1
    if line[start] == '"':
        return line[start + 1 : line.index('"', start + 1)]
    return line[start : line.index(" " if start == 1 else "(", start)]


def link_texts(texts: Sequence[str]) -> llvm.ModuleRef:
    """One module of several. Raises RuntimeError with LLVM's text."""
    module = llvm.parse_assembly(texts[0])
    for text in texts[1:]:
        module.link_in(llvm.parse_assembly(text))
    return module


def make_internal(module: llvm.ModuleRef, *visible: str) -> None:
    """Let nothing of a module be seen from outside but these functions and variables."""
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name not in visible:
            value.linkage = "internal"
