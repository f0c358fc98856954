"""The text of a ufunc's kernel: one thread an element of the loop. Before: operands' kinds, loop axes. After: a Kernel.

Kernels come from text because a loop over "each argument" would have to be a loop over values of different types.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, Literal

from numba_gpucore import language
from numba_gpucore.base.records import dataclass

#: number: a parameter that is the value itself. element: of an array, one for each turn of the loop. part: an array
#: with the core axes. cell: an array of one element, for a core function that takes "()" as an array.
Kind = Literal["number", "element", "part", "cell"]


@dataclass(frozen=True)
class Parameter:
    """cast: the argument is converted by the global of that name, because its type is not the declared one."""

    kind: Kind
    cast: str = ""


ELEMENT, NUMBER = Parameter("element"), Parameter("number")


def element_kernel(
    py_func: Callable[..., Any], inputs: Sequence[Parameter], n_axes: int, names: Mapping[str, Any]
) -> FunctionType:
    """A kernel of `inputs` and an output array that stores what `core` returns. `names`: core, and casts."""
    parameters = [f"a{number}" for number in range(len(inputs))]
    values = ", ".join(_value(name, one, n_axes) for name, one in zip(parameters, inputs, strict=True))
    body = f"out[{_index(n_axes)}] = core({values})"
    return _make(py_func, [*parameters, "out"], "out", n_axes, body, names)


def part_kernel(
    py_func: Callable[..., Any], parameters: Sequence[Parameter], n_axes: int, names: Mapping[str, Any]
) -> FunctionType:
    """A kernel of inputs and outputs that hands each turn's parts of them to `core`. The last one is an output."""
    arguments = [f"a{number}" for number in range(len(parameters))]
    values = ", ".join(_value(name, one, n_axes) for name, one in zip(arguments, parameters, strict=True))
    return _make(py_func, arguments, arguments[-1], n_axes, f"core({values})", names)


def _index(n_axes: int) -> str:
    return ", ".join(f"i{axis}" for axis in range(n_axes))


def _value(name: str, parameter: Parameter, n_axes: int) -> str:
    if parameter.kind == "number":
        value = name
    elif parameter.kind == "cell":
        first = "".join(f"i{axis}, " for axis in range(n_axes - 1))
        value = f"{name}[{first}i{n_axes - 1}:i{n_axes - 1} + 1]"
    else:
        value = f"{name}[{_index(n_axes)}]"
    return f"{parameter.cast}({value})" if parameter.cast else value


def _make(
    py_func: Callable[..., Any],
    parameters: Sequence[str],
    looped: str,
    n_axes: int,
    body: str,
    names: Mapping[str, Any],
) -> FunctionType:
    count = " * ".join(f"{looped}.shape[{axis}]" for axis in range(n_axes))
    lines = [f"def kernel({', '.join(parameters)}):", "    i = grid(1)", f"    if i < {count}:"]
    for axis in reversed(range(1, n_axes)):
        lines += [f"        i{axis} = i % {looped}.shape[{axis}]", f"        i = i // {looped}.shape[{axis}]"]
    lines += ["        i0 = i", f"        {body}"]
    # The module of the function, whose package may have brought the compiled kernel along.
    namespace: dict[str, Any] = {"grid": language.grid, "__name__": py_func.__module__, **names}
    exec(_compile_at("\n".join(lines), py_func.__code__), namespace)
    kernel: FunctionType = namespace["kernel"]
    kernel.__name__ = kernel.__qualname__ = py_func.__name__
    return kernel


def _compile_at(text: str, place: CodeType) -> CodeType:
    """Code all of which stands in the first line of `place`, so that errors and traces name the user's source."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr, ast.arg)):
            node.lineno = node.end_lineno = place.co_firstlineno
    return compile(tree, place.co_filename, "exec")
