"""What a GPU executes, read off NVIDIA's disassembly. Before: nvdisasm -c. After: tests that count instructions.

Control flow is that of labels, branches and exits; guards make an instruction conditional. Source: CUDA Binary
Utilities, "nvdisasm", "Instruction Set Reference".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_LINE = re.compile(r"^(?P<label>\.L_x_\d+):|^\s+/\*[0-9a-f]{4,}\*/\s+(?P<instruction>.*?)\s*;", re.MULTILINE)
_GUARD = re.compile(r"^@!?U?P\w+\s+")
_TARGET = re.compile(r"`\((\.L_x_\d+)\)")
#: A throw is a call of code of its own, which does not come back.
_THROW = re.compile(r"CALL\S* `\(\$kernel_\w+\$throws")
#: Where such code begins.
_FUNCTION = re.compile(r"^\$kernel_\S+:", re.MULTILINE)


@dataclass(frozen=True)
class Sass:
    """One kernel's disassembly: what is told is of the kernel, without the functions that it calls."""

    text: str

    @cached_property
    def _lines(self) -> tuple[list[str], dict[str, int]]:
        instructions: list[str] = []
        labels: dict[str, int] = {}
        function = _FUNCTION.split(self.text[self.text.index(".text.kernel_") :], maxsplit=1)[0]
        for found in _LINE.finditer(function):
            if found["label"]:
                labels[found["label"]] = len(instructions)
            else:
                instructions.append(found["instruction"])
        return instructions, labels

    @property
    def instructions(self) -> list[str]:
        return self._lines[0]

    @cached_property
    def successors(self) -> list[list[int]]:
        """Positions that each instruction can go on to."""
        instructions, labels = self._lines
        found = []
        for position, text in enumerate(instructions):
            guard = _GUARD.match(text)
            operation = text[guard.end() :] if guard else text
            ends = operation.startswith(("EXIT", "BRA")) or _THROW.match(operation)
            goes_on = [position + 1] if guard or not ends else []
            if operation.startswith("BRA"):
                target = _TARGET.search(operation)
                assert target is not None, operation
                has_condition = "P" in operation[3 : target.start()]
                goes_on = [labels[target[1]], *goes_on, *([position + 1] if has_condition else [])]
            found.append([after for after in goes_on if after < len(instructions)])
        return found

    @cached_property
    def throws(self) -> set[int]:
        return {position for position, text in enumerate(self.instructions) if _THROW.search(text)}

    @property
    def count(self) -> int:
        """Instructions that a thread can come to."""
        return len(self._reachable([0], set()))

    @cached_property
    def ordinary(self) -> set[int]:
        """Positions that a thread can come to without having to throw."""
        throwing = set(self.throws)
        while more := {
            position
            for position, after in enumerate(self.successors)
            if position not in throwing and after and throwing.issuperset(after)
        }:
            throwing |= more
        return self._reachable([0], throwing)

    def _reachable(self, start: list[int], avoided: set[int]) -> set[int]:
        found: set[int] = set()
        pending = list(start)
        while pending:
            position = pending.pop()
            if position not in found and position not in avoided:
                found.add(position)
                pending += self.successors[position]
        return found

    def executed(self, rounds: int) -> int:
        """Instructions of a thread that does not throw, with so many rounds of every loop."""
        outside = set(range(len(self.instructions))) - self.ordinary
        in_loops = {p for p in self.ordinary if p in self._reachable(self.successors[p], outside)}
        return len(self.ordinary) + (rounds - 1) * len(in_loops)
