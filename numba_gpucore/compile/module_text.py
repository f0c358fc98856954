"""Modules as LLVM assembly, the form in which they are kept and linked. Before: code_library. After: linking."""

from __future__ import annotations

import re
from collections.abc import Sequence

import llvmlite.binding as llvm

from numba_gpucore.base.late_pattern import late_pattern

#: A function with its body, and its name.
DEFINITION = late_pattern(r'^define [^@\n]*@"?(?P<name>[^"(\n]+)"?\(.*?^\}$', re.MULTILINE | re.DOTALL)
#: The name of a function or variable that is mentioned.
SYMBOL = late_pattern(r'@"?(?P<name>[\w.$]+)"?')
_ENVIRONMENT = late_pattern(r'^@"?_ZN08NumbaEnv[^\n]*\n', re.MULTILINE)


def remove_environments(text: str) -> str:
    """Without Numba's "environment" of every function, which is for the interpreter: nothing on a device reads it."""
    return _ENVIRONMENT.sub("", text)


def link_texts(texts: Sequence[str]) -> llvm.ModuleRef:
    """One module of several. Raises RuntimeError with LLVM's text."""
    module = llvm.parse_assembly(texts[0])
    for text in texts[1:]:
        module.link_in(llvm.parse_assembly(text))
    return module


def make_internal(module: llvm.ModuleRef, *visible: str) -> None:
    """Let nothing of a module be seen from outside but these functions and variables."""
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name not in visible:
            value.linkage = "internal"
