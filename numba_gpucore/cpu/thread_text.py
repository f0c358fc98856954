"""The code of one thread of a flat program as text. Before: program simplifies it. After: merge_blocks, bound_rows.

llvmlite cannot change instructions, so these passes work on LLVM assembly. They know the names of the function's
parameters (`gpu.run_place` in ir/flat.ll) and leave whatever they do not recognise as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

#: The function in ir/flat.ll.
SYMBOL = "gpu.run_place"
_FUNCTION = re.compile(rf"^define [^\n]*@{re.escape(SYMBOL)}\([^\n]*\{{\n(?P<body>.*?)^\}}$", re.MULTILINE | re.DOTALL)
_DEFINITION = re.compile(r"^  (%[\w.$-]+) = (.*)$")
_LABEL = re.compile(r"^([\w.$-]+):")


@dataclass
class ThreadText:
    """`head` is the line that opens the function, `body` what follows up to its closing brace. `blocks`: lines by
    label, in order. `definitions`: what stands behind "=" by value."""

    head: str
    body: str
    blocks: dict[str, list[str]] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def find(cls, text: str) -> ThreadText:
        """Read the function in a module's text. Raises ValueError if there is none."""
        match = _FUNCTION.search(text)
        if match is None:
            raise ValueError(f"the module does not define @{SYMBOL}")
        thread = cls(match.group()[: match.start("body") - match.start()], match.group("body"))
        label = ""
        for line in thread.body.splitlines():
            if found := _LABEL.match(line):
                label = found.group(1)
            elif line.strip():
                thread.blocks.setdefault(label, []).append(line)
                if found := _DEFINITION.match(line):
                    thread.definitions[found.group(1)] = found.group(2)
        return thread

    def predecessors(self, label: str) -> int:
        """How many edges lead to a block."""
        return len(re.findall(rf"label %{re.escape(label)}(?![\w.$-])", self.body))

    def mentions(self, value: str) -> bool:
        return re.search(rf"{re.escape(value)}(?![\w.$-])", self.body) is not None
