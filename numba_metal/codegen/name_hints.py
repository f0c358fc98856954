"""Gives LLVM values the names of the Python variables they are stored to. Before: `legalize`. After: `variables`.

Numba keeps each Python variable in an alloca of its name; once optimisation has dissolved it, only its values' own
names are left. They are set first, as `x.v`, so that the printed kernel reads like the Python one; LLVM's passes add to
a name behind the mark. What to rename is found in the module's text: llvmlite does not tell an operand's opcode.
"""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from numba_gpucore.base.late_pattern import late_pattern

_FUNCTION = late_pattern(r'^define [^@\n]*@"?([^"(\n]+)"?\(.*?^\}$', re.MULTILINE | re.DOTALL)
_STORE = late_pattern(r"^  store (\{.*\}|\S+) %([\w.]+), ptr %([A-Za-z_]\w*(?:\.\d+)?), align", re.MULTILINE)
_DEFINITION = late_pattern(r"^  %([\w.]+) = (\w.*)$", re.MULTILINE)
_POINTER_STORE = late_pattern(r"^  store ptr %([\w.]+), ptr %([\w.]+), align", re.MULTILINE)
_DATA_FIELD = late_pattern(r"getelementptr inbounds \{.*\}, ptr %([\w.]+), i32 0, i32 4\b")
_LOAD = late_pattern(r"load .*, ptr %([\w.]+), align")
_SAME_POINTER = late_pattern(r"bitcast ptr %([\w.]+) to ptr")
#: Names that Numba and its code for arrays give, not the user's program.
_MARKED = late_pattern(r"([A-Za-z_]\w*)\.v(?:\d|\.|$)")
_VARIABLE = late_pattern(r"([A-Za-z_]\w*?)(?:\.\d+)?$")
_ANONYMOUS = late_pattern(r"\.\d+(\.i\d*)*$|local\.array|inserted\.|extracted\.")


def python_name(value_name: str) -> str | None:
    """`x.v.0.i` → `x`: the Python variable that an LLVM value is named after, if it is."""
    match = _MARKED.match(value_name)
    return match[1] if match else None


def name_values_after_variables(module: llvm.ModuleRef) -> None:
    wanted = {match[1]: _renames(match[0]) for match in _FUNCTION.finditer(str(module))}
    for function in module.functions:
        renames = wanted.get(function.name)
        if not renames:
            continue
        for block in function.blocks:
            for instr in block.instructions:
                name = renames.get(instr.name)
                if name is not None:
                    instr.name = name


def _renames(text: str) -> dict[str, str]:
    """Anonymous values of one function and the variables that take them; the first of several wins."""
    definitions = dict(_DEFINITION.findall(text))
    allocas = {name for name, body in definitions.items() if body.startswith("alloca")}
    array_data = _array_data(text, definitions)
    renames = {name: f"{match[1]}.v" for name in allocas if (match := _VARIABLE.match(name))}
    for type_, value, variable in _STORE.findall(text):
        if variable not in allocas:
            continue
        if type_.startswith("{"):
            loaded = _LOAD.match(definitions.get(value, ""))
            value = array_data.get(loaded[1], "") if loaded else ""
        if value in definitions and _ANONYMOUS.match(value):
            renames.setdefault(value, f"{variable.split('.')[0]}.v")
    return renames


def _array_data(text: str, definitions: dict[str, str]) -> dict[str, str]:
    """For each alloca of an array structure: the value that its data pointer was set to."""
    fields = {name: match[1] for name, body in definitions.items() if (match := _DATA_FIELD.match(body))}
    data: dict[str, str] = {}
    for value, field in _POINTER_STORE.findall(text):
        if field in fields:
            while match := _SAME_POINTER.match(definitions.get(value, "")):
                value = match[1]
            data[fields[field]] = value
    return data
