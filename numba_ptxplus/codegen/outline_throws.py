"""Code that throws moves out of the functions it is in. Before: merge_guards. After: emit.

Each place where a hot block goes on to one that ends the thread becomes a call of a function of its own, which finds
out which check failed and fills in the mailbox. Such a function is called once, so ptxas puts the kernel's parameters
into it as they are; what can be computed from those and from thread and block numbers is computed again there. Little
is left to be kept in registers, and to be passed, by the way that does not throw: on sm_90 a checked saxpy has 31
machine instructions of its own instead of 62, a tiled matrix product 145 instead of 435, beside the code that throws
(tests/ptx/test_cost_of_checks.py). LLVM's own pass for this, hot-cold splitting, is not to be had through llvmlite.

Works on LLVM assembly whose values all have names.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import count

from numba_gpucore.base.late_pattern import late_pattern
from numba_ptxplus.codegen.blocks import DEFINITION, THROW, VALUE, Block, read_blocks, rewrite_functions, write_blocks
from numba_ptxplus.codegen.merge_guards import PURE

#: The longest computation that is done again where a thread throws, rather than passed.
_MAX_REPEATED = 24
_POSITION = late_pattern(r"^  %\S+ = (?:tail )?call [^@]*@llvm\.nvvm\.read\.ptx\.sreg\.(?:n?tid|n?ctaid)\.[xyz]\(\)")
#: Also what has values of more than one part, which are not worth passing.
_STAYS = late_pattern(
    r"^  (?:%\S+ = )?(?:alloca|switch|ret|fence|indirectbr|extractvalue|insertvalue|(?:\w*tail )?call)\b"
    r"|.*(?:\{|\[\d+ x )"
)
_LOCATION = late_pattern(r", !dbg !\d+")
_BRANCH_LABELS = late_pattern(r", label .*|label .*")
#: A type of an operand, or an operand, which has the type before it.
_OPERAND = late_pattern(
    rf"(?P<type>(?<![\w.])(?:i\d+|half|bfloat|float|double|ptr(?: addrspace\(\d+\))?|<\d+ x \w+>)) "
    rf"|(?P<value>{VALUE.pattern})"
)
_PHI = late_pattern(r"^  (?P<name>%\S+) = phi (?P<type>[^\[]+?) (?P<sources>\[.*\])")
_SOURCE = late_pattern(r"\[ (?P<value>[^\s,]+), %(?P<label>[^\s\]]+) \]")
_THROW_CALL = late_pattern(rf"^(?P<call>.*{re.escape(THROW)})(?P<arguments>[^()]*)(?P<end>\).*)$")
_RANGE = late_pattern(r"\brange\([^)]*\) ")


def outline_throws(text: str) -> str:
    """The module with a function `throws.<n>` for each place where a thread may come to its end."""
    numbers = count()
    added: list[str] = []

    def rewrite(head: str, body: str) -> str:
        if THROW not in body:
            return f"{head}{body}}}"
        outliner = _Outliner(head, body, numbers)
        changed = outliner.outlined_body()
        added.extend(outliner.functions)
        return f"{head}{changed}}}"

    return "\n".join([rewrite_functions(text, rewrite), *added]) if THROW in text else text


class _Outliner:
    """One function. functions: what was taken out of it."""

    def __init__(self, head: str, body: str, numbers: count[int]):
        self._numbers = numbers
        self._blocks = read_blocks(body)
        self._parameters = set(VALUE.findall(head.partition("(")[2]))
        lines = [line for block in self._blocks.values() for line in block.lines]
        self._definitions = {found["name"]: line for line in lines if (found := DEFINITION.match(line))}
        self.functions: list[str] = []

    def outlined_body(self) -> str:
        cold = self._find_cold()
        hot = {label: block for label, block in self._blocks.items() if label not in cold}
        entries = {target for block in hot.values() for target in block.targets} & cold
        kept = [
            block if label in hot else self._outlined(block, hot.keys())
            for label, block in self._blocks.items()
            if label in hot or label in entries
        ]
        return write_blocks(kept)

    def _find_cold(self) -> set[str]:
        """Blocks after which a thread always ends, and that can move; never the first, where the thread comes in."""
        movable = [block for block in list(self._blocks.values())[1:] if all(map(_can_move, block.lines))]
        cold = {block.label for block in movable if block.throws}
        # from the end on, since most blocks lead to later ones
        leading = [(block.label, block.targets) for block in reversed(movable) if block.targets]
        n_known = -1
        while len(cold) > n_known:
            n_known = len(cold)
            cold.update(label for label, targets in leading if cold.issuperset(targets))
        return cold

    def _outlined(self, entry: Block, hot: Collection[str]) -> Block:
        """What takes the place of `entry`: a call of a new function that does all that comes from there on."""
        labels = self._reachable(entry.label)
        region = self._region(labels)
        passed, repeated = self._needs(region)
        name = f"throws.{next(self._numbers)}"
        parameters = ", ".join(f"{type_} {value}" for value, type_ in passed.items())
        region[0].lines[:0] = repeated
        self.functions.append(
            f"define internal void @{name}({parameters}) noinline cold noreturn nounwind {{\n"
            f"{write_blocks(_with_one_throw(region))}}}\n"
        )
        throw = next(line for label in labels for line in self._blocks[label].lines if THROW in line)
        location = _LOCATION.search(throw)
        phis = [_keep_sources(line, hot) for line in entry.lines if _PHI.match(line)]
        call = f"  call void @{name}({parameters}) noreturn{location[0] if location else ''}"
        return Block(entry.label, [*phis, call, "  unreachable"])

    def _reachable(self, start: str) -> list[str]:
        labels = [start]
        for label in labels:
            labels += [target for target in dict.fromkeys(self._blocks[label].targets) if target not in labels]
        return labels

    def _region(self, labels: list[str]) -> list[Block]:
        """Copies of the blocks, of which the first is come to from outside: what differs by that stays there."""
        return [
            Block(
                label,
                [
                    _LOCATION.sub("", _keep_sources(line, labels))
                    for line in self._blocks[label].lines
                    if "#dbg" not in line and not (label == labels[0] and _PHI.match(line))
                ],
            )
            for label in labels
        ]

    def _needs(self, region: list[Block]) -> tuple[dict[str, str], list[str]]:
        """Values from outside, each with its type, and lines that compute what need not come from there."""
        lines = [line for block in region for line in block.lines]
        inside = {found["name"] for line in lines if (found := DEFINITION.match(line))}
        passed: dict[str, str] = {}
        repeated: dict[str, str] = {}
        for value, type_ in _operands(lines).items():
            if value in inside:
                continue
            computation = self._computation(value)
            if computation is None:
                passed[value] = type_
            else:
                repeated |= computation
        passed |= {
            value: type_ for value, type_ in _operands(list(repeated.values())).items() if value in self._parameters
        }
        return passed, [_LOCATION.sub("", line) for line in repeated.values()]

    def _computation(self, value: str) -> dict[str, str] | None:
        """The lines that compute `value` from parameters and positions, in order; None if others are needed."""
        lines: dict[str, str] = {}

        def visit(value: str, depth: int) -> bool:
            if value in lines or value in self._parameters:
                return True
            line = self._definitions[value]
            if depth == _MAX_REPEATED or not (_POSITION.match(line) or PURE.match(line)):
                return False
            if not all(visit(operand, depth + 1) for operand in VALUE.findall(line.partition(" = ")[2])):
                return False
            lines[value] = line
            return len(lines) <= _MAX_REPEATED

        return lines if value not in self._parameters and visit(value, 0) else None


def _can_move(line: str) -> bool:
    return THROW in line or not _STAYS.match(line) or _POSITION.match(line) is not None


def _keep_sources(line: str, labels: Collection[str]) -> str:
    """The line; a phi only with what comes from these blocks."""
    found = _PHI.match(line)
    if found is None:
        return line
    sources = [f"[ {s['value']}, %{s['label']} ]" for s in _SOURCE.finditer(line) if s["label"] in labels]
    return f"  {found['name']} = phi {found['type']} {', '.join(sources)}"


def _operands(lines: list[str]) -> dict[str, str]:
    """The values that the lines read, each with its type."""
    types: dict[str, str] = {}
    for line in lines:
        text = DEFINITION.sub("", line)
        phi = _PHI.match(line)
        if phi:
            text = f"{phi['type']} " + " ".join(source["value"] for source in _SOURCE.finditer(line))
        type_ = ""
        for found in _OPERAND.finditer(_BRANCH_LABELS.sub("", text)):
            if found["type"]:
                type_ = found["type"]
            else:
                types.setdefault(found["value"], type_)
    return types


def _with_one_throw(blocks: list[Block]) -> list[Block]:
    """The blocks with one call that throws, to which all others go with what they would have said."""
    ends = {block.label: _RANGE.sub("", block.lines[-2]) for block in blocks if block.throws}
    calls = {label: found for label, line in ends.items() if (found := _THROW_CALL.match(line))}
    if len(calls) < 2 or len(calls) < len(ends):
        return blocks
    said = zip(*(call["arguments"].split(", ") for call in calls.values()), strict=True)
    phis, arguments = [], []
    for position, alternatives in enumerate(said):
        type_ = alternatives[0].partition(" ")[0]
        if len(set(alternatives)) == 1:
            arguments.append(alternatives[0])
            continue
        values = (alternative.rpartition(" ")[2] for alternative in alternatives)
        sources = ", ".join(f"[ {value}, %{label} ]" for value, label in zip(values, calls, strict=True))
        phis.append(f"  %throws.said.{position} = phi {type_} {sources}")
        arguments.append(f"{type_} %throws.said.{position}")
    call = next(iter(calls.values()))
    together = [*phis, f"{call['call']}{', '.join(arguments)}{call['end']}", "  unreachable"]
    changed = [
        Block(block.label, [*block.lines[:-2], "  br label %throws.together"]) if block.throws else block
        for block in blocks
    ]
    return [*changed, Block("throws.together", together)]
