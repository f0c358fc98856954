"""Source lines in the functions of a program, so that debuggers stop at Python lines. Before: emit. After: assemble.

A kernel is inlined into functions that no user wrote. Each gets an entry of its own in the debug information, and the
kernel's lines become lines inlined there; LLVM writes none for a function without an entry. This is done at the very
end, since passes before it copy functions, which may not share an entry. Numba's units for profilers only name lines in
assembly text; here they become DWARF.

Source: LLVM, "Source Level Debugging"; Language Reference, "Specialized Metadata Nodes".
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.compile.entry_lines import escape_text
from numba_gpucore.compile.job import Job

_FUNCTION = late_pattern(r"^define [^\n]*?@\"?(?P<name>[\w.$]+)\"?\([^\n]*\{\n.*?^\}$", re.MULTILINE | re.DOTALL)
#: The location of an instruction, or the last operand of a debug record.
_PLACE = late_pattern(r"(?P<before>, !dbg |^    #dbg_[^\n]*, )(?P<place>!\d+)(?P<end>\)?(?:, ![^\n]*)?)$", re.MULTILINE)
_ENTRY = late_pattern(r" !dbg !\d+")
_LOCATION = late_pattern(r"^(!\d+) = (?:distinct )?!DILocation\((?P<place>.*?)(?:, inlinedAt: (?P<at>!\d+))?\)$", re.M)
_NUMBER = late_pattern(r"^!(\d+) = ", re.MULTILINE)
_DIRECTIVES_ONLY = "emissionKind: DebugDirectivesOnly"
_UNITS = late_pattern(r"^(!llvm\.dbg\.cu = !\{[^}\n]*)\}$", re.MULTILINE)


def add_lines(text: str, job: Job) -> str:
    """LLVM assembly of a whole program, with an entry for every function that holds lines of the user's."""
    writer = _LineWriter(text, job)
    marked = _FUNCTION.sub(writer.mark_function, text.replace(_DIRECTIVES_ONLY, f"emissionKind: {writer.kind}"))
    return _UNITS.sub(rf"\1, {writer.unit}}}", marked) + "\n".join(writer.nodes) + "\n"


class _LineWriter:
    """`nodes`: the metadata that the text lacks."""

    def __init__(self, text: str, job: Job):
        code = job.request.py_func.__code__
        folder, _, name = os.path.abspath(code.co_filename).rpartition(os.sep)
        self.kind = "FullDebug" if job.request.options.debug else "LineTablesOnly"
        self.nodes: list[str] = []
        self._first_line = code.co_firstlineno
        self._locations = {found[1]: (found["place"], found["at"]) for found in _LOCATION.finditer(text)}
        self._numbers = self._free_numbers(text)
        self._file = self._add(f'!DIFile(filename: "{escape_text(name)}", directory: "{escape_text(folder)}")')
        self._type = self._add("!DISubroutineType(types: !{null})")
        unit = f"distinct !DICompileUnit(language: DW_LANG_C, file: {self._file}, emissionKind: {self.kind})"
        self.unit = self._add(unit)

    @staticmethod
    def _free_numbers(text: str) -> Iterator[str]:
        number = max(map(int, _NUMBER.findall(text)), default=-1)
        while True:
            number += 1
            yield f"!{number}"

    def _add(self, node: str) -> str:
        number = next(self._numbers)
        self.nodes.append(f"{number} = {node}")
        return number

    def mark_function(self, function: re.Match[str]) -> str:
        """The function with its entry; as it is where no line of the user's is in it."""
        if not _PLACE.search(function[0]):
            return function[0]
        entry = self._add(
            f'distinct !DISubprogram(name: "{function["name"]}", file: {self._file}, line: {self._first_line}, '
            f"unit: {self.unit}, type: {self._type}, spFlags: DISPFlagDefinition)"
        )
        root = self._add(f"distinct !DILocation(line: {self._first_line}, scope: {entry})")
        moved: dict[str, str] = {}
        head, brace, body = function[0].partition("{\n")
        head = _ENTRY.sub("", head)  # recursive functions, which are inlined nowhere, still have that of Numba
        body = _PLACE.sub(
            lambda found: found["before"] + self._inlined(found["place"], root, moved) + found["end"], body
        )
        return f"{head.rstrip()} !dbg {entry} {brace}{body}"

    def _inlined(self, location: str, root: str, moved: dict[str, str]) -> str:
        """A location as one inlined at `root`; `moved` holds those of the function so far."""
        if location not in moved:
            place, at = self._locations[location]
            at = root if at is None else self._inlined(at, root, moved)
            moved[location] = self._add(f"distinct !DILocation({place}, inlinedAt: {at})")
        return moved[location]
