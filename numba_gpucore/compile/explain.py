"""From Numba's errors to what a user needs: where, what, and what to do. Before: Numba's passes. After: the user.

Numba lists every implementation that it tried, often over a hundred lines. Here the reason that decides is kept, at the
user's line. The error keeps its class, so that `except TypingError` works, and the original as `.original`.
"""

from __future__ import annotations

import dis
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from numba_gpucore.base.errors import Fault, GpuError, UnsupportedKernelError, remake_error
from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.compile.call_chains import is_library_file, is_own_file
from numba_gpucore.compile.hints import ALLOCATIONS, HINTS, HINTS_WITHOUT_JIT, Hint
from numba_gpucore.compile.numba_api import config

_COLOURS = late_pattern(r"\x1b\[[0-9;]*m")
_STEP = late_pattern(r"Failed in [\w ]+ mode pipeline \(step: [^)]*\)\n\s*")
#: ` at /path/file.py (12)` of "During:" lines, `Raised from /path/file.py (12)`, or `File "path/file.py", line 12:`.
_PLACE = late_pattern(
    r'(?: at | from )(?P<path>[^\n"() ]+?) \((?P<line>\d+)\)|^File "(?P<file>[^"\n]+)", line (?P<at>\d+):', re.MULTILINE
)
#: One of the returns that do not agree.
_RETURN = late_pattern(r"^Return of: [^\n]*, location: \nFile \"(?P<file>[^\"\n]+)\", line (?P<at>\d+):", re.MULTILINE)
_REASON = late_pattern(
    r"(?P<error>\w+Error|RequireLiteralValue): (?P<text>(?:(?!\w+Error: ).)*?)\n\s*raised from (?P<path>[^\n]+):\d+$",
    re.MULTILINE | re.DOTALL,
)
_INDEXED = late_pattern(
    r"^no (?:getitem|setitem) for (?:getitem|setitem)\(array\([^()]*?, (?P<ndim>\d+)d, \w\), "
    r"\((?P<items>[^()]*)\)"
)
_OPERATOR = late_pattern(r"operator '(\w+)'")
_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|", "xor": "^", "invert": "~", "neg": "-", "pos": "+",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "iadd": "+=", "isub": "-=", "imul": "*=",
}  # fmt: skip
#: What Numba's reading of bytecode asserts something about, without a place (numba/core/interpreter.py,
#: peep_hole_call_function_ex_to_call_function_kw).
_ASSERTED_OPCODE = "CALL_FUNCTION_EX"
#: What it says, without a place, of `raise … from …`, which is that opcode with two operands.
_CHAINED = "Multiple argument raise"
#: (name := value) in Python 3.10 and later ones: Numba keeps one of the two names of the value only.
_OPCODES_OF_ASSIGNMENT_EXPRESSIONS = ("DUP_TOP", "COPY")
#: What Numba adds to a reason: where it was at.
_REASON_END = late_pattern(r' During: | File "')
_NO_IMPLEMENTATION = late_pattern(
    r"No implementation of function \w*Function\((?P<function>.*?)\) found for signature:\s*>>> (?P<call>.*?)\n\s*\n",
    re.DOTALL,
)
#: What Numba finds wrong with the signature of a user's overload (numba/core/typing/templates.py).
_REFUSED_OVERLOAD = late_pattern(
    r"InternalError: (?P<text>(?:(?!\w+Error: ).)*?)\n\s*raised from [^\n]+\btemplates\.py:\d+$",
    re.MULTILINE | re.DOTALL,
)


def explain_error(error: Exception, py_func: Callable[..., Any]) -> Exception:
    """The error to raise instead of one that came out of Numba's passes; our own are returned as they are."""
    if isinstance(error, GpuError):
        return error
    faults = list(dict.fromkeys(_fault(cause, py_func) for cause in _causes(error, py_func)))
    cls: Any = type(error)
    explained: Exception = _error_class(cls)(py_func.__name__, faults)
    explained.original = error  # type: ignore[attr-defined]
    explained.msg = getattr(error, "msg", str(error))  # type: ignore[attr-defined]  # where Numba's errors have it
    return explained


def _causes(error: Exception, py_func: Callable[..., Any]) -> list[Exception]:
    """The error and what else type inference found in the kernel itself; not what only follows from them."""
    others = getattr(error, "other_errors", []) if getattr(error, "failed_function", None) is py_func else []
    return [error, *(other for other in others if "Undecided type" not in str(other))]


@cache
def _error_class(original: Any) -> type[Exception]:
    """Both an UnsupportedKernelError and what Numba raised."""
    namespace = {
        "__init__": UnsupportedKernelError.__init__,
        "__reduce__": lambda self: (_remake_explained, (original, self.args, self.kernel_name, self.faults)),
        "__str__": BaseException.__str__,  # KeyError has one that quotes
        "__doc__": UnsupportedKernelError.__doc__,
        "__module__": original.__module__,
    }
    return type(original.__name__, (UnsupportedKernelError, original), namespace)


def _remake_explained(original: Any, args: tuple[Any, ...], kernel_name: str, faults: tuple[Fault, ...]) -> Exception:
    """`remake_error` for classes that no module has; what Numba raised stays behind."""
    return remake_error(_error_class(original), args, {"kernel_name": kernel_name, "faults": faults})


def _fault(error: Exception, py_func: Callable[..., Any]) -> Fault:
    text = _STEP.sub("", _COLOURS.sub("", str(error.args[0]) if error.args else str(error)))
    what, advice = _what(text, error)
    filename, line = _place(text, error, py_func)
    return Fault(filename, line, what, advice)


def _what(text: str, error: Exception) -> tuple[str, str]:
    """What is wrong and what to do. The first of: a reason that our own code gave, a message that HINTS knows, Numba's
    first sentence."""
    call = _NO_IMPLEMENTATION.search(text + "\n\n")
    for reason in _REASON.finditer(text):
        path = os.path.abspath(reason["path"])
        if is_own_file(path) or not is_library_file(path):  # ours, or that of a user's overload
            what, advice = _split_advice(_REASON_END.split(" ".join(reason["text"].split()), maxsplit=1)[0])
            name = _function_name(call["function"]) if call else ""
            if what.startswith("a kernel cannot allocate") and name not in ("", "overload_allocate"):
                return _match(ALLOCATIONS, name) or (f"{name}: {what}", advice)
            if reason["error"] == "RequireLiteralValue":  # programs look for the name
                what = f"RequireLiteralValue: {what}"
            return simplify_types(what), advice
    if call and (refused := _REFUSED_OVERLOAD.search(text)):
        what = " ".join(refused["text"].split())
        name = call["call"].partition("(")[0]
        return f"the overload of '{name}' cannot be used: {what}", "correct its signature"
    description = f"no {_function_name(call['function'])} for {call['call']}" if call else _first_sentence(text)
    first = simplify_types(description)
    if call is None and isinstance(error, (KeyError, TypeError, AssertionError, NotImplementedError)):
        first = f"{type(error).__name__}: {first}"
    hints = (*HINTS_WITHOUT_JIT, *HINTS) if config.DISABLE_JIT else HINTS
    return _too_many_indices(first) or _match(hints, first) or (first, "")


def _match(hints: Iterable[Hint], text: str) -> tuple[str, str] | None:
    """What the first hint that knows the text says instead."""
    for hint in hints:
        if found := re.search(hint.pattern, text):
            what = found.expand(hint.what) if hint.what else text
            return _OPERATOR.sub(lambda name: f"operator '{_SYMBOLS.get(name[1], name[1])}'", what), hint.advice
    return None


def _too_many_indices(text: str) -> tuple[str, str] | None:
    """NumPy's words for an index with more integers than the array has axes."""
    found = _INDEXED.match(text)
    if found is None:
        return None
    given = found["items"].count(",") + 1
    if given <= int(found["ndim"]):
        return None
    return f"too many indices: the array has {found['ndim']} axes, the index {given}", "give one index for each axis"


def _split_advice(reason: str) -> tuple[str, str]:
    what, separator, advice = reason.partition(" — ")
    if not separator and reason.startswith("a kernel cannot allocate memory"):
        what, _separator, advice = reason.partition(": ")
    return what, advice


def _first_sentence(text: str) -> str:
    lines = []
    for line in text.strip().splitlines():
        if not line.strip() or line.startswith(("During: ", "File ", "raised from ")):
            break
        lines.append(line.strip().partition(" Raised from ")[0])
    return " ".join(lines) or "it has no message"


def _function_name(description: str) -> str:
    """`<built-in function add>` → `add`; `<function ones at 0x7f…>` → `ones`."""
    found = re.search(r"<(?:built-in function|function|ufunc|class) '?([\w.]+)'?", description)
    return found[1] if found else description


_SIMPLER_TYPES = (
    (late_pattern(r"Literal\[int\]\(-?\d+\)"), "int64"),
    (late_pattern(r"Literal\[bool\]\(\w+\)"), "bool"),
    (late_pattern(r"OptionalType\((\w+)\)"), r"\1 or None"),
    (late_pattern(r"\bUniTuple\((\w+) x 1\)|\bTuple\(([^(),]+)\)"), lambda found: f"({found[1] or found[2]},)"),
    (late_pattern(r"\bUniTuple\((\w+) x (\d+)\)"), lambda found: f"({', '.join([found[1]] * int(found[2]))})"),
    (late_pattern(r"\bTuple\(([^()]*)\)"), r"(\1)"),
    (late_pattern(r"Literal\[str\]\((.*?)\)", re.DOTALL), r"'\1'"),
    (late_pattern(r"class\((\w+)\)"), r"\1"),
    (late_pattern(r"<IntEnum/|<iv=None>|<class 'numba\.core\.types[\w.]*\.(\w+)'>"), r"\1"),
    (late_pattern(r" at 0x[0-9a-f]+"), ""),
    (late_pattern(r"\bFunction\(<(?:built-in function|class|function|ufunc) '?([\w.]+)'?>\)"), r"\1"),
    (late_pattern(r"Module\(<module '([\w.]+)'[^>]*>\)"), r"the module \1"),
)


def simplify_types(text: str) -> str:
    """Numba's names of types as a user would write them."""
    for pattern, simpler in _SIMPLER_TYPES:
        text = pattern.sub(simpler, text)
    return " ".join(text.split())


def _place(text: str, error: Exception, py_func: Callable[..., Any]) -> tuple[str, int]:
    """The user's innermost line that Numba names, else the line that mentions the name at fault, else the first."""
    loc = getattr(error, "loc", None) or getattr(error, "lowered_line", None)
    for filename, line in [*_named_places(text), *([(loc.filename, loc.line)] if loc is not None else [])]:
        path = filename if filename.startswith("<") else os.path.abspath(filename)
        if line and not is_library_file(path):
            return path, line
    code = py_func.__code__
    names = re.findall(r"'(\w+)'", text) + ([text] if isinstance(error, KeyError) else [])
    opcodes = re.findall(r"\b[A-Z_]{5,}\b", text)
    if isinstance(error, AssertionError):
        opcodes.append(_ASSERTED_OPCODE)
    if _CHAINED in text:
        opcodes.append("RAISE_VARARGS 2")
    if "cannot be determined" in text:
        opcodes += _OPCODES_OF_ASSIGNMENT_EXPRESSIONS
    line = _line_of(py_func, names, opcodes)
    return code.co_filename, line or code.co_firstlineno


def _named_places(text: str) -> Iterator[tuple[str, int]]:
    # Numba takes returns from a set, whose order differs from one process to the next: the last of them first.
    yield from sorted(((found["file"], int(found["at"])) for found in _RETURN.finditer(text)), reverse=True)
    for found in _PLACE.finditer(text):
        yield found["path"] or found["file"], int(found["line"] or found["at"])


def _line_of(py_func: Callable[..., Any], names: Iterable[str], opcodes: Iterable[str]) -> int | None:
    """The line of the first instruction that is one of `opcodes`, alone or with operand, or mentions one of `names`."""
    line = None
    wanted, wanted_opcodes = set(names), set(opcodes)
    for instruction in dis.get_instructions(py_func):
        line = instruction.starts_line or line
        if not wanted_opcodes.isdisjoint((instruction.opname, f"{instruction.opname} {instruction.arg}")):
            return line
        if isinstance(instruction.argval, str) and instruction.argval in wanted:
            return line
    return None
