"""Functions that are called inside `try`: their exceptions are the handler's, not the host's. Before: lowering. After:
linking.

A call inside `try` names the callee with QUIET behind; here each such function is defined as the original without its
calls of `gpu.throw`, and with quiet callees. It still returns non-zero where the original throws.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.compile.module_text import SYMBOL, read_functions

QUIET = ".quiet"
_THROW = late_pattern(r'^[^\n]*call void @"?gpu\.throw"?\([^\n]*\n', re.MULTILINE)
#: A function's entry in the debug information cannot be shared, and without it LLVM takes no places of variables.
_LINES = late_pattern(r",? !dbg !\d+")
_VARIABLES = late_pattern(r'^ *(?:call void @"?llvm\.dbg\.|#dbg_)[^\n]*\n', re.MULTILINE)


def define_quiet_functions(texts: Sequence[str]) -> list[str]:
    """The modules in LLVM assembly, with definitions of the quiet functions that they call."""
    if not any(QUIET in text for text in texts):
        return list(texts)
    originals = {name: function for text in texts for name, function in read_functions(text)}
    wanted: list[str] = []
    pending = [name for text in texts for name in _quiet_names(text)]
    while pending:
        name = pending.pop()
        if name not in wanted and name in originals:
            wanted.append(name)
            pending += [callee for callee in _symbols(originals[name]) if callee in originals]
    return [_with_quiet_functions(text, set(wanted)) for text in texts] if wanted else list(texts)


def _symbols(text: str) -> list[str]:
    return list(dict.fromkeys(match["name"].removesuffix(QUIET) for match in SYMBOL.finditer(text)))


def _quiet_names(text: str) -> list[str]:
    names = (match["name"] for match in SYMBOL.finditer(text))
    return [name.removesuffix(QUIET) for name in names if name.endswith(QUIET)]


def _with_quiet_functions(text: str, wanted: set[str]) -> str:
    """A module with quiet versions of those functions that it defines, and declarations of the others it now calls."""
    definitions = {name: function for name, function in read_functions(text) if name in wanted}
    added = [_quieten(body, wanted) for body in definitions.values()]
    called = {name for body in added for name in _quiet_names(body)} - definitions.keys()
    for name in sorted(called):
        declaration = re.search(rf'^declare [^\n]*@"?{re.escape(name)}"?\([^\n]*$', text, re.MULTILINE)
        is_declared = re.search(rf'^declare [^\n]*@"?{re.escape(name + QUIET)}"?\(', text, re.MULTILINE)
        if declaration is not None and is_declared is None:
            added.append(_rename(declaration[0], {name}))
    # A module that defines a function must not declare it as well.
    for name in definitions:
        text = re.sub(rf'^declare [^\n]*@"?{re.escape(name + QUIET)}"?\([^\n]*\n', "", text, flags=re.MULTILINE)
    return "\n".join([text, *added, ""]) if added else text


def _quieten(body: str, wanted: set[str]) -> str:
    return _rename(_LINES.sub("", _VARIABLES.sub("", _THROW.sub("", body))), wanted)


def _rename(text: str, names: set[str]) -> str:
    def quiet(found: re.Match[str]) -> str:
        return f'@"{found["name"]}{QUIET}"' if found["name"] in names else found[0]

    return SYMBOL.sub(quiet, text)
