"""Modules of a program as LLVM assembly, made one. Before: definitions. After: program parses the text.

A call of llvmlite costs some microseconds under Numba's locks, and linking modules and marking their functions takes
hundreds of them for a kernel.
"""

from __future__ import annotations

from collections.abc import Iterable

from numba_gpucore.compile.module_text import split_module, symbol_of

#: How words start that stand behind a function's own attributes; "#" is a group of these.
#: Source: LLVM Language Reference Manual, "Functions".
_AFTER_ATTRIBUTES = (
    "#", "section", "partition", "comdat", "align", "gc", "prefix", "prologue", "personality", "!", "{",
)  # fmt: skip
#: What a variable may say of itself before "constant" or "global".
_VISIBILITY = ("dso_local ", "hidden ", "local_unnamed_addr ", "unnamed_addr ")
#: What the builder of a program says of every module.
_HEADER = ("source_filename = ", "target ", "; ModuleID = ")


def join_texts(texts: Iterable[str], visible: frozenset[str], recursive: frozenset[str]) -> str:
    """One module of several, in which all but `visible` symbols are internal, and functions are to be inlined but for
    `recursive` ones and those that say otherwise. Weak ones stay as they are: LLVM's code generator calls them
    (ir/half_*.ll).

    Only the first text may have numbered metadata and attributes, as LLVM writes them.
    """
    pieces = [piece for text in texts for piece in split_module(text)]
    known = {symbol_of(piece) for piece in pieces if _defines(piece)}
    fixed_groups = {
        piece.removeprefix("attributes ").partition(" = ")[0]
        for piece in pieces
        if piece.startswith("attributes ") and " noinline " in piece
    }
    joined = []
    for piece in pieces:
        if piece.startswith("define "):
            piece = piece if symbol_of(piece) in visible else _seal_function(piece, recursive, fixed_groups)
        elif piece.startswith(("@", "declare ")):
            name = symbol_of(piece)
            if not _defines(piece):
                if name in known:
                    continue
                known.add(name)
            elif name not in visible:
                piece = _seal_variable(piece)
        elif piece.startswith(_HEADER):
            continue
        joined.append(piece)
    return "\n".join(joined)


def _defines(piece: str) -> bool:
    return piece.startswith("define ") or (piece.startswith("@") and " = external " not in piece)


def _seal_function(function: str, recursive: frozenset[str], fixed_groups: set[str]) -> str:
    line, _, body = function.partition("\n")
    return f"{_seal_head(line, recursive, fixed_groups)}\n{body}"


def _seal_head(line: str, recursive: frozenset[str], fixed_groups: set[str]) -> str:
    linkage = line.split(" ", 2)[1]
    if linkage.startswith("weak"):
        return line
    start = "define " if linkage in ("internal", "private") else "define internal "
    params_end = line.rindex(")") + 1
    words = line[params_end:].split()
    place = next(place for place, word in enumerate(words) if word.startswith(_AFTER_ATTRIBUTES))
    if " alwaysinline" in line or " noinline" in line or words[place] in fixed_groups:
        return start + line[len("define ") :]
    words.insert(place, "noinline" if symbol_of(line) in recursive else "alwaysinline")
    return f"{start}{line[len('define ') : params_end]} {' '.join(words)}"


def _seal_variable(line: str) -> str:
    name, _, rest = line.partition(" = ")
    while rest.startswith(_VISIBILITY):
        rest = rest.partition(" ")[2]
    return f"{name} = internal {rest}" if rest.startswith(("constant ", "global ")) else line
