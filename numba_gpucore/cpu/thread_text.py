"""The code of one thread of a flat program as text. Before: flat_program simplifies it. After: merge_blocks and kin.

llvmlite cannot change instructions, so these passes work on LLVM assembly. They know the names of the function's
parameters (`gpu.run_place` in ir/flat.ll) and leave whatever they do not recognise as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.base.records import dataclass
from numba_gpucore.compile.module_text import read_blocks, read_functions, split_module, symbol_of, targets_of

#: The function in ir/flat.ll.
SYMBOL = "gpu.run_place"
#: The same with the outcome of comparisons known (bound_rows).
PLAIN_SYMBOL = "gpu.run_plain_place"
#: What a throw calls until settle_throws.
NOTE_THROW = "gpu.note_throw"
#: Of values, types and labels, never of texts, in which a comma or a space would follow.
_QUOTED_VALUE = late_pattern(r'%"([^"\n, ]+)"')
_QUOTED_LABEL = late_pattern(r'^"([^"\n, ]+)":', re.MULTILINE)
_VALUE = late_pattern(r"%[\w.$-]+")
#: May be computed once for all threads: no memory that kernels write, nothing that can trap.
_MOVABLE = late_pattern(
    r"^(?:extractvalue|add|sub|mul|sext|zext|trunc|select|icmp|and|or|xor|shl|lshr|ashr|freeze|getelementptr)\b"
    r"|^(?:tail )?call [^@\n]*@llvm\.(?:[us](?:min|max)|abs)\."
    r"|^load\b[^\n]*!invariant\.load"
)
#: Parameters of the function.
X, FAILURE, LAUNCH, PARAMS, WIDTH = "%x", "%failure", "%launch", "%params", "%width"
BLOCK, THREAD, THREAD_Y, THREAD_Z = "%bx", "%tx", "%ty", "%tz"
#: Those that all threads of a row have in common.
_ROW_INDICES = (WIDTH, BLOCK, "%by", "%bz", THREAD_Y, THREAD_Z)
ROW_PARAMS = (LAUNCH, *_ROW_INDICES, PARAMS)
#: How far x is from a value.
DISTANCE = late_pattern(rf"^sub (?:n[us]w )*i64 (\S+), {X}$")
#: Conditions whose outcome is known, as instructions: values cannot be replaced where they are used.
SETTLED = {True: "or i1 true, false", False: "or i1 false, false"}
BRANCH = late_pattern(r"^  br i1 (%[\w.$-]+), label %([\w.$-]+), label %([\w.$-]+)")
_INCOMING = late_pattern(r"\[ (\S+), %([\w.$-]+) \]")


def name_plainly(text: str) -> str:
    """A module's text without quotes around names, for passes that look for plain ones: LLVM quotes names with a `$`,
    which Numba gives to values of its own."""
    text = _QUOTED_VALUE.sub(lambda found: f"%{_spell(found[1])}", text)
    if '\n"' in text:
        text = _QUOTED_LABEL.sub(lambda found: f"{_spell(found[1])}:", text)
    return text


def _spell(name: str) -> str:
    return "".join(one if one.isalnum() or one in "_.-" else f".{ord(one):x}." for one in name)


def row_params(params: str) -> str:
    """Parameters of a function that computes what all threads of a row have in common; `params` is their type."""
    return ", ".join((f"ptr {LAUNCH}", *(f"i32 {index}" for index in _ROW_INDICES), f"{params} {PARAMS}"))


def params_type(declaration: str) -> str:
    """The type of `%params`, the last parameter, in the declaration of such a function."""
    return declaration.partition("(")[2].rpartition(")")[0].split(", ", 1 + len(_ROW_INDICES))[-1]


def define_declared(text: str, definitions: Mapping[str, Callable[[str], str]]) -> str:
    """A module's text in which the declarations of some functions, by name, are replaced by what is made of them."""

    def define(piece: str) -> str:
        make = definitions.get(symbol_of(piece)) if piece.startswith("declare ") else None
        return piece if make is None else make(piece)

    return "\n".join(map(define, split_module(text)))


@dataclass
class ThreadText:
    """`head` is the line that opens the function, `body` what follows up to its closing brace."""

    head: str
    body: str

    @cached_property
    def blocks(self) -> dict[str, list[str]]:
        """Lines by label, in order."""
        return read_blocks(self.body)

    @cached_property
    def definitions(self) -> dict[str, str]:
        """What stands behind "=" by value."""
        return read_definitions(self.body)

    @classmethod
    def find(cls, text: str, symbol: str = SYMBOL) -> ThreadText:
        """Read the function in a module's text. Raises ValueError if there is none."""
        for name, function in read_functions(text):
            if name == symbol:
                head, _, body = function.partition("\n")
                return cls(f"{head}\n", body.removesuffix("}"))
        raise ValueError(f"the module does not define @{symbol}")

    def predecessors(self, label: str) -> int:
        """How many edges lead to a block."""
        return sum(targets_of(block).count(label) for block in self.blocks.values())

    def mentions(self, value: str) -> bool:
        return value in _VALUE.findall(self.body)

    def operands(self, value: str, pattern: re.Pattern[str]) -> tuple[str, ...]:
        """What `pattern` captures in the definition of `value`; () if it does not match."""
        match = pattern.match(self.definitions.get(value, ""))
        return match.groups() if match else ()

    def operand(self, value: str, pattern: re.Pattern[str]) -> str:
        """The first of them; "" if there is none."""
        return next(iter(self.operands(value, pattern)), "")

    def defined_by(self, pattern: re.Pattern[str]) -> set[str]:
        """Values whose definition matches."""
        return {name for name, text in self.definitions.items() if pattern.match(text)}

    def users(self, value: str) -> set[str]:
        """Values whose definition mentions `value`, and the text of other instructions that do."""
        lines = (line.strip().partition(" = ") for block in self.blocks.values() for line in block)
        uses = ((name, text if equals else name) for name, equals, text in lines)
        return {name for name, use in uses if value in use and value in _VALUE.findall(use)}

    def targets(self, label: str) -> list[str]:
        """Blocks that a block can go on to; a switch takes several lines."""
        return targets_of(self.blocks[label])

    def reachable(self, label: str, without: str = "") -> set[str]:
        """Blocks that control can come to from a block, not going on from `without`; the block itself if it can."""
        found: set[str] = set()
        pending = [label]
        while pending:
            current = pending.pop()
            for target in self.targets(current) if current != without else ():
                if target not in found:
                    found.add(target)
                    pending.append(target)
        return found

    def throws(self, label: str) -> bool:
        """True if a block throws."""
        return any(f"@{NOTE_THROW}(" in line for line in self.blocks[label])

    def is_idle(self, label: str, source: str) -> bool:
        """True if a thread that comes to `label` from `source` returns with nothing done."""
        *lines, last = self.blocks[label]
        result = last.strip().removeprefix("ret i32 ")
        if not last.strip().startswith("ret ") or any(" = phi " not in line for line in lines):
            return False
        return FAILURE == incoming_values(self.definitions.get(result, "")).get(source, result)

    def slice(self, value: str) -> list[str] | None:
        """Names of the instructions that compute `value` from what all threads of a row have in common, in order;
        None if it depends on the thread, or on memory."""
        names: list[str] = []

        def visit(name: str) -> bool:
            if not name.startswith("%") or name in ROW_PARAMS or name in names:
                return True
            text = self.definitions.get(name, "")
            if not _MOVABLE.match(text) or not all(visit(operand) for operand in _VALUE.findall(text)):
                return False
            names.append(name)
            return True

        return names if visit(value) else None


def read_definitions(body: str) -> dict[str, str]:
    """What stands behind "=" by value."""
    parts = (line.strip().partition(" = ") for line in body.splitlines() if line.startswith("  %"))
    return {name: text for name, _, text in parts}


def values_in(text: str) -> list[str]:
    """The values that a text names, in order; labels, too."""
    return _VALUE.findall(text)


def count_values(body: str) -> Counter[str]:
    """How often each value is written."""
    return Counter(_VALUE.findall(body))


def incoming_values(phi: str) -> dict[str, str]:
    """A phi's values by the block that they come from."""
    return {source: value for value, source in _INCOMING.findall(phi)}


def read_logic(text: str) -> tuple[str, tuple[str, ...]]:
    """Whether a definition is "and", "or" or "not" of conditions, and of which; "" and () for any other."""
    match text.replace(",", "").split():
        case ["and", "i1", a, b] | ["select", "i1", a, "i1", b, "i1", "false"]:
            return "and", (a, b)
        case ["or", "i1", a, b] | ["or", "disjoint", "i1", a, b] | ["select", "i1", a, "i1", "true", "i1", b]:
            return "or", (a, b)
        case ["xor", "i1", a, "true"]:
            return "not", (a,)
    return "", ()


def loop_headers(blocks: dict[str, list[str]]) -> list[str]:
    """Targets of edges that lead back to a block on the way from the first one."""
    entry = next(iter(blocks))
    headers: dict[str, None] = {}
    done: set[str] = set()
    active: list[tuple[str, list[str]]] = [(entry, targets_of(blocks[entry]))]
    on_way = {entry}
    while active:
        label, targets = active[-1]
        if not targets:
            active.pop()
            on_way.discard(label)
            done.add(label)
            continue
        target = targets.pop()
        if target in on_way:
            headers[target] = None
        elif target not in done:
            on_way.add(target)
            active.append((target, targets_of(blocks[target])))
    return list(headers)
