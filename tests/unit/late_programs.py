"""Programs that reach late features in every way there is, and what compiling each gives in a process of its own.

    python tests/unit/late_programs.py (late | early) PACKAGE

prints a JSON object: for each program its text, or its error, and the features that are loaded then. "early" loads all
features before.
"""

from __future__ import annotations

import cmath
import json
import math
import operator
import os
import random
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
from numba import njit, types
from numba.core.target_extension import target_override
from numba.extending import intrinsic, overload, register_jitable

from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.compile.dispatcher import descriptor_for
from numba_gpucore.compile.driver import inspect_stage
from numba_gpucore.compile.late_features import LATE_FEATURES, load_features, loaded_features
from numba_gpucore.compile.numba_types import from_numba

ufunc, mode = np.hypot, "add"


@njit
def called(x, i):
    return np.maximum(x[i], 0) + x[i:].sum()


@register_jitable
def registered(x, y, out):
    out[:] = x - y


def doubled(x):
    raise NotImplementedError


@overload(doubled, target="gpucore")
def overload_doubled(x):
    return lambda x: np.sum(x) + np.add(x[0], x[1])


@intrinsic(target="gpucore")
def asked(typingctx, x):
    """Whether type inference knows the sum of two arrays, which packages that extend Numba ask it like this."""
    add = typingctx.resolve_value_type(operator.add)
    is_known = typingctx.resolve_function_type(add, (x, x), {}) is not None

    def lower(context, builder, sig, args):
        return context.get_constant(types.boolean, is_known)

    return types.boolean(x), lower


def undecorated(x):
    return x


def adds(x, y, out):
    out[:] = x + y * 2 - 1


def adds_in_place(x, y, out):
    x += 1
    y *= x


def negates(x, y, out):
    out[:] = -x


def looks_for_items(x, y, out):
    function = operator.contains  # looked up before its templates for arrays are there
    out[0] = x.sum() + (1 if 3 in (1, 2) else 2)
    out[1] = function(y, x[0])


def opens_a_file(x, y, out):
    with open("file") as file:
        out[0] = len(file.read())


def in_a_registered_function(x, y, out):
    registered(x, y, out)


def in_other_functions(x, y, out):
    out[0] = called(x, 1) + doubled(x)


def asks_type_inference(x, y, out):
    out[0] = asked(x)


def asks_for_attributes(x, y, out):
    out[0] = hasattr(x, "sum") + 2 * hasattr(x, "nothing") + 4 * hasattr("text", "upper")


def ufuncs_of_numbers(x, y, out):
    out[0] = np.sin(x[0]) + np.fmax(x[1], 1) + ufunc(x[0], y[0]) + np.ldexp(x[0], 2)


def methods(x, y, out):
    out[0] = x.max() + x.mean() + x.argmax()


def declined_by_ours(x, y, out):
    out[0] = np.count_nonzero(x, axis=0)


def dtypes_are_equal(x, y, out):
    out[0] = 1 if x.dtype == np.dtype(np.float32) else 2


def complex_numbers(x, y, out):
    z = complex(x[0], y[0])
    out[0] = abs(z * z) + cmath.exp(z).real + np.log1p(z).imag


def dates(x, y, out):
    out[0] = x[0] - y[0]
    if x[0] > y[0] and not np.isnat(x[0]):
        out[0] = max(out[0], out[1])


def texts(x, y, out):
    if mode == "add" and len(mode) == 3:
        out[0] = 1


def joined_texts(x, y, out):
    out[0] = len(mode + str(3))


def unknown_names(x, y, out):
    out[0] = x.nothing + np.fft.fft(x)[0] + undecorated(x[0]) + (x << "text")[0]


def random_numbers(x, y, out):
    out[0] = random.random() + np.random.normal(0.0, 1.0)


def registers(x):
    """What an overload registers while a program is compiled that calls it."""


@overload(registers)
def overload_registers(x):
    @register_jitable
    def follower(x):
        return x + 1

    return lambda x: follower(x)


def registers_while_compiled(x, y, out):
    out[0] = registers(x[0])


def checks_domains(x, y, out):
    out[0] = math.sqrt(x[0])


FLOATS, HALVES, DATES = types.float32[::1], types.float16[::1], types.NPDatetime("ns")[::1]
OTHER_TYPES: dict[Callable[..., None], tuple[types.Type, ...]] = {
    dates: (DATES, DATES, types.NPTimedelta("ns")[::1]),
}
KERNELS = (
    adds, adds_in_place, negates, looks_for_items, opens_a_file, in_a_registered_function, in_other_functions,
    asks_type_inference, asks_for_attributes, ufuncs_of_numbers, methods,
    declined_by_ours, dtypes_are_equal, complex_numbers, dates, texts, joined_texts, unknown_names,
    random_numbers, registers_while_compiled, checks_domains,
)  # fmt: skip
OTHER_OPTIONS = {checks_domains: KernelOptions(debug=True)}
OF_HALVES = (adds, ufuncs_of_numbers)
#: Of the other target, whose literals are weak.
ON_METAL = (adds, complex_numbers)
#: How a target's kernels are compiled: back-end, code generator, architecture.
BACKENDS = {
    "numba_metal": ("metal", "numba_metal.codegen:CODEGEN", "apple-msl3.2"),
    "numba_ptxplus": ("cuda", "numba_ptxplus.codegen:CODEGEN", "sm_80"),
}


def programs(package: str) -> Iterator[tuple[str, Callable[..., None], tuple[types.Type, ...]]]:
    """(name, kernel, types of its arguments)"""
    for kernel in KERNELS if package == "numba_ptxplus" else ON_METAL:
        yield kernel.__name__, kernel, OTHER_TYPES.get(kernel, (FLOATS,) * 3)
    for kernel in OF_HALVES:
        yield f"{kernel.__name__} of halves", kernel, (HALVES, FLOATS, HALVES)


def compile_program(package: str, kernel: Callable[..., None], arg_types: tuple[types.Type, ...]) -> str:
    """A program's text, or its error."""
    backend, codegen, arch = BACKENDS[package]
    target = import_module(f"{package}.target").TARGET
    argtypes = tuple(map(from_numba, arg_types))
    options = OTHER_OPTIONS.get(kernel, KernelOptions())
    request = CompileRequest(kernel, target, backend, codegen, 1, arch, argtypes, options)
    try:
        return inspect_stage(request, "asm")
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def compile_in_child(package: str, kernel: Callable[..., None], arg_types: tuple[types.Type, ...]) -> dict[str, Any]:
    """As `compile_program`, in a copy of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with open(writing, "w", encoding="utf-8") as pipe:
            told = compile_program(package, kernel, arg_types)
            json.dump({"told": told, "loaded": sorted(loaded_features())}, pipe)
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    result: dict[str, Any] = json.loads(text)
    return result


def main(when: str, package: str) -> None:
    import_module(BACKENDS[package][1].partition(":")[0])
    if when == "early":
        load_features(LATE_FEATURES)
        target = package.removeprefix("numba_")
        with target_override(target):
            descriptor_for(target).target_context.refresh()
    results = {name: compile_in_child(package, *program) for name, *program in programs(package)}
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
