"""Reads LLVM assembly into plain records. Before: `legalize` optimised the module. After: every pass of the emitter.

The text has what llvmlite's ModuleRef does not tell (flags, predicates, constants, debug locations), and one read of
it is faster than a call into LLVM for each operand. Only LLVM's own printer writes the text, so anything that does not
parse is a construct that the emitter cannot print. Source: LLVM Language Reference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from numba_gpucore.base.late_pattern import late_pattern
from numba_metal.codegen.ir_instrs import InstrReader
from numba_metal.codegen.ir_tokens import LineReader, unquote
from numba_metal.codegen.ir_types import Block, Function, GlobalVariable, Instr, Local, Module, SourceLine

_LABEL = late_pattern(r'^("[^"]*"|[-\w.$]+):')
_DEFINE = late_pattern(r"^define\b")
_LOCATION = late_pattern(
    r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+)(?:, column: \d+)?, scope: !(\d+)", re.MULTILINE
)
_SUBPROGRAM = late_pattern(r'^!(\d+) = distinct !DISubprogram\(name: "([^"]*)".*? line: (\d+)', re.MULTILINE)
_NESTED_SCOPE = late_pattern(r"^!(\d+) = (?:distinct )?!DILexicalBlock(?:File)?\(scope: !(\d+)", re.MULTILINE)


def read_module(text: str, first_lines: Mapping[str, int]) -> Module:
    """Parse what LLVM printed. first_lines: see `read_places`. Raises ir_tokens.IRSyntaxError."""
    places = read_places(text, first_lines)
    functions: dict[str, Function] = {}
    variables: dict[str, GlobalVariable] = {}
    lines = iter(text.splitlines())
    for line in lines:
        if _DEFINE.match(line):
            body: list[str] = []
            for inner in lines:
                if inner == "}":
                    break
                body.append(inner)
            function = _read_function(line, body, places)
            functions[function.name] = function
        elif line.startswith("@"):
            variable = _read_variable(line)
            if variable is not None:
                variables[variable.name] = variable
    return Module(functions, variables)


def read_places(text: str, first_lines: Mapping[str, int]) -> dict[int, SourceLine]:
    """The user's line behind each debug location, by the number of its metadata.

    first_lines: where functions begin, by name; for others LLVM's own record counts, which may be a line or two late.
    """
    subprograms = {number: (name, int(line)) for number, name, line in _SUBPROGRAM.findall(text)}
    parents = dict(_NESTED_SCOPE.findall(text))
    places: dict[int, SourceLine] = {}
    for number, line, scope in _LOCATION.findall(text):
        if line == "0":  # LLVM: code that comes from several lines, or from none
            continue
        while scope in parents:
            scope = parents[scope]
        name, first_line = subprograms.get(scope, ("", int(line)))
        places[int(number)] = SourceLine(name, int(line), int(line) - first_lines.get(name, first_line))
    return places


def _read_function(header: str, body: list[str], places: dict[int, SourceLine]) -> Function:
    parser = LineReader(header, places)
    while not parser.peek().startswith("@"):
        parser.next()
    name = unquote(parser.next())
    params = _read_params(parser)
    blocks: list[Block] = []
    label = str(sum(param.name.isdigit() for param in params))
    instrs: list[Instr] = []
    for line in _logical_lines(body):
        if match := _LABEL.match(line):
            if instrs:
                blocks.append(Block(label, tuple(instrs)))
            label, instrs = unquote(match[1]), []
        else:
            instrs.append(InstrReader(line, places).read_instr())
    blocks.append(Block(label, tuple(instrs)))
    return Function(name, params, tuple(blocks))


def _logical_lines(body: list[str]) -> list[str]:
    """Lines of a function without comments and debug records, with the cases of a switch joined to it."""
    lines: list[str] = []
    for line in body:
        stripped = line.strip()
        if not stripped or stripped.startswith((";", "#dbg")):
            continue
        if lines and lines[-1].lstrip().startswith("switch ") and "]" not in lines[-1]:
            lines[-1] += " " + stripped
        else:
            lines.append(line)
    return lines


def _read_params(parser: LineReader) -> tuple[Local, ...]:
    params: list[Local] = []
    parser.expect("(")
    while not parser.accept(")"):
        type_ = parser.read_type()
        parser.skip_attributes()
        name = unquote(parser.next()) if parser.peek().startswith("%") else str(len(params))
        params.append(Local(name, type_))
        parser.accept(",")
    return tuple(params)


def _read_variable(line: str) -> GlobalVariable | None:
    parser = LineReader(line, {})
    name = unquote(parser.next())
    parser.expect("=")
    is_declaration = False
    while parser.peek() not in ("global", "constant"):
        if parser.peek() in ("alias", "ifunc"):
            return None
        is_declaration |= parser.next() in ("external", "extern_weak")
    is_constant = parser.next() == "constant"
    type_ = parser.read_type()
    initializer = None if is_declaration else parser.read_value(type_)
    return GlobalVariable(name, type_, initializer, is_constant)
