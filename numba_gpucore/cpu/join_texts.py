"""Modules of a program as LLVM assembly, made one. Before: definitions. After: program parses the text.

A call of llvmlite costs some microseconds under Numba's locks, and linking modules and marking their functions takes
hundreds of them for a kernel.
"""

from __future__ import annotations

from collections.abc import Iterable

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.compile.module_text import symbol_of

#: What follows a function's parameters in LLVM's own text: a group of attributes, then what must stand behind these.
_TAIL = late_pattern(r"(?P<group> #\d+)?(?: align \d+)?(?: personality [^!{\n]*)?(?: !\w+ !\d+)* \{$")
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
    lines = [line for text in texts for line in text.splitlines()]
    known = {symbol_of(line) for line in lines if _defines(line)}
    fixed_groups = {
        line.removeprefix("attributes").partition(" = ")[0]
        for line in lines
        if line.startswith("attributes ") and " noinline " in line
    }
    joined = []
    for line in lines:
        if line.startswith("define "):
            line = line if symbol_of(line) in visible else _seal_function(line, recursive, fixed_groups)
        elif line.startswith(("@", "declare ")):
            name = symbol_of(line)
            if not _defines(line):
                if name in known:
                    continue
                known.add(name)
            elif name not in visible:
                line = _seal_variable(line)
        elif line.startswith(_HEADER):
            continue
        joined.append(line)
    return "\n".join(joined)


def _defines(line: str) -> bool:
    return line.startswith("define ") or (line.startswith("@") and " = external " not in line)


def _seal_function(line: str, recursive: frozenset[str], fixed_groups: set[str]) -> str:
    linkage = line.split(" ", 2)[1]
    if linkage.startswith("weak"):
        return line
    start = "define " if linkage in ("internal", "private") else "define internal "
    tail = _TAIL.search(line, line.rindex(")"))
    if tail is None or " alwaysinline" in line or " noinline" in line or tail["group"] in fixed_groups:
        return start + line[len("define ") :]
    mark = " noinline" if symbol_of(line) in recursive else " alwaysinline"
    return start + line[len("define ") : tail.start()] + mark + tail.group()


def _seal_variable(line: str) -> str:
    name, _, rest = line.partition(" = ")
    while rest.startswith(_VISIBILITY):
        rest = rest.partition(" ")[2]
    return f"{name} = internal {rest}" if rest.startswith(("constant ", "global ")) else line
