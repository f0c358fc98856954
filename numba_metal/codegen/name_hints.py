"""Gives LLVM values the names of the Python variables they are stored to. Before: `legalize`. After: `variables`.

Numba keeps each Python variable in an alloca of its name; once optimisation has dissolved it, only its values' own
names are left. They are set first, so that the printed kernel reads like the Python one.
"""

from __future__ import annotations

import re

import llvmlite.binding as llvm

_PYTHON_NAME = re.compile(r"[A-Za-z_]\w*(\.\d+)?$")
_ANONYMOUS = re.compile(r"\.?\d|\$|$|inserted\.|extracted\.")


def name_values_after_variables(module: llvm.ModuleRef) -> None:
    for function in module.functions:
        if function.is_declaration:
            continue
        for block in function.blocks:
            for instr in block.instructions:
                if instr.opcode == "store":
                    _name_stored_value(*instr.operands)


def _name_stored_value(value: llvm.ValueRef, variable: llvm.ValueRef) -> None:
    if not variable.is_instruction or variable.opcode != "alloca":
        return
    name = variable.name
    if not _PYTHON_NAME.match(name):
        return
    target = _array_data(value) if str(value.type).startswith(("{", "%")) else value
    if target is not None and target.is_instruction and _ANONYMOUS.match(target.name):
        target.name = name.split(".")[0]


def _array_data(value: llvm.ValueRef) -> llvm.ValueRef | None:
    """The memory of an array structure that a function made: a shared array or an alloca."""
    while value.is_instruction and value.opcode == "insertvalue":
        value, item = list(value.operands)
        if item.is_instruction and item.opcode in ("alloca", "call") and str(item.type).startswith("ptr"):
            return item
    return None
