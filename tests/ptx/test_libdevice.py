"""All functions of `numba_gpucore.libdevice`: NVIDIA's own on the PTX machine, our counterparts on the CPU device.

One kernel for each C prototype calls every function of it. Prototypes are compared with NVIDIA's file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numba_ptxplus
from numba_gpucore import libdevice
from numba_gpucore.base.errors import KernelLanguageError, UnsupportedKernelError
from numba_gpucore.launch import session
from numba_gpucore.launch.jit import jit
from numba_gpucore.libdevice import LibdeviceFunction
from numba_gpucore.runtime.libdevice import COUNTERPARTS
from numba_ptxplus.codegen.libdevice import open_libdevice
from numba_ptxplus.codegen.libdevice_calls import _LLVM_TYPES
from numba_ptxplus.toolchain import find_libdevice
from tests.ptx.device import PLATFORM, PtxDevice, use_device

N = 32
#: They read memory: a string, or an array of any length.
LEFT_OUT = {"__nv_nan", "__nv_nanf", "__nv_norm", "__nv_normf", "__nv_rnorm", "__nv_rnormf"}
#: Below this magnitude results are compared absolutely: sin near pi and the like lose all relative accuracy.
ATOL = {"float32": 2e-7, "float64": 1e-15}
RTOL = {"float32": 4e-6, "float64": 1e-13}
#: nvcc's approximate functions. Source: CUDA C++ Programming Guide, "Intrinsic Functions".
APPROXIMATE_RTOL = 2e-3

PROTOTYPES = sorted({(f.value, f.params, f.outs) for f in libdevice.functions().values()})


def functions_of(prototype: tuple[Any, ...]) -> list[LibdeviceFunction]:
    return [f for f in libdevice.functions().values() if (f.value, f.params, f.outs) == prototype]


def kernel_of(functions: list[LibdeviceFunction]) -> Callable[..., None]:
    """`kernel(x0, …, r0, …)`: row k of each result array is what the k-th function gives."""
    results, params = len(functions[0].results), len(functions[0].params)
    xs, rs = [f"x{i}" for i in range(params)], [f"r{i}" for i in range(results)]
    lines = [f"def kernel({', '.join(xs + rs)}):", " i = gpu.grid(1)"]
    for row, function in enumerate(functions):
        targets = ", ".join(f"{r}[{row}, i]" for r in rs)
        lines.append(f" {targets} = libdevice.{function.name}({', '.join(f'{x}[i]' for x in xs)})")
    namespace: dict[str, Any] = {"libdevice": libdevice, "gpu": numba_ptxplus}
    exec("\n".join(lines), namespace)
    return namespace["kernel"]


def make_arguments(functions: list[LibdeviceFunction]) -> list[np.ndarray]:
    """Inputs inside every function's domain, from 1.05 on where a function needs more than 1; then empty results."""
    rng = np.random.default_rng(7)
    inputs = []
    for name in functions[0].params:
        dtype = np.dtype(name)
        if dtype.kind == "f":
            inputs.append(rng.uniform(0.05, 0.95, N).astype(dtype))
        elif "float" in functions[0].value and len(functions[0].params) > 1:
            inputs.append(rng.integers(1, 5, N).astype(dtype))  # exponents and orders
        else:
            limits = np.iinfo(dtype)
            inputs.append(rng.integers(limits.min, limits.max, N, dtype=dtype, endpoint=True))
    return [*inputs, *(np.zeros((len(functions), N), name) for name in functions[0].results)]


def run(platform: Any, kernel: Callable[..., None], arguments: list[np.ndarray]) -> list[np.ndarray]:
    copies = [argument.copy() for argument in arguments]
    jit(platform, kernel)[1, N](*copies)
    return copies


@pytest.fixture(scope="module")
def machine() -> PtxDevice:
    return PtxDevice()


@pytest.mark.parametrize("prototype", PROTOTYPES, ids=lambda p: f"{p[0]}({', '.join((*p[1], *p[2]))})")
def test_counterparts_agree_with_libdevice(
    prototype: tuple[Any, ...], machine: PtxDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ptxas takes every function; those with a counterpart give what it gives."""
    use_device(monkeypatch, machine)
    functions = functions_of(prototype)
    arguments = make_arguments(functions)
    by_libdevice = run(PLATFORM, kernel_of(functions), arguments)
    rows = [row for row, function in enumerate(functions) if function.name in COUNTERPARTS]
    if not rows:
        return
    monkeypatch.setattr(session, "_default", None)
    monkeypatch.setenv("NUMBA_PTXPLUS_DEVICE", "cpu")
    known = [functions[row] for row in rows]
    shapes = arguments[: len(prototype[1])] + [result[rows] for result in arguments[len(prototype[1]) :]]
    by_counterpart = run(numba_ptxplus.target.PLATFORM, kernel_of(known), shapes)
    for position in range(len(prototype[1]), len(arguments)):
        for row, function in enumerate(known):
            compare(by_counterpart[position][row], by_libdevice[position][rows[row]], function)


def compare(got: np.ndarray, wanted: np.ndarray, function: LibdeviceFunction) -> None:
    if got.dtype.kind != "f":
        np.testing.assert_array_equal(got, wanted, err_msg=function.name)
        return
    rtol = APPROXIMATE_RTOL if function.name.startswith("fast_") else RTOL[got.dtype.name]
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=ATOL[got.dtype.name], err_msg=function.name)


def test_prototypes_are_those_of_the_file() -> None:
    path = find_libdevice()
    assert path is not None
    library = open_libdevice(path)
    assert {f.c_name for f in libdevice.functions().values()} == library.names - LEFT_OUT
    for function in libdevice.functions().values():
        found = re.match(r"define [^@]*?(\w+) @[\w.]+\((.*?)\)", library._text(function.c_name))
        assert found
        params = [parameter.split()[0] for parameter in found[2].split(", ")]
        assert found[1] == _LLVM_TYPES[function.value], function
        assert params == [_LLVM_TYPES[name] for name in function.params] + ["ptr"] * len(function.outs), function


def test_functions_are_names_of_the_module() -> None:
    assert numba_ptxplus.libdevice.sinpi is libdevice.functions()["sinpi"]
    assert {"acos", "sincos", "ull2float_rz"} <= set(dir(numba_ptxplus.libdevice))
    assert str(libdevice.functions()["frexp"]) == "float64, int32 libdevice.frexp(float64)"
    with pytest.raises(AttributeError, match="libdevice has no function 'sinus'"):
        _ = numba_ptxplus.libdevice.sinus
    with pytest.raises(KernelLanguageError, match=r"libdevice\.sinpi\(\) exists only while a kernel runs"):
        numba_ptxplus.libdevice.sinpi(0.5)


def bessel(x: Any) -> None:
    x[0] = numba_ptxplus.libdevice.j0(x[0])
    x[1] = numba_ptxplus.libdevice.dadd_ru(x[0], x[1])


def test_functions_without_counterpart_are_refused_at_their_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_default", None)
    monkeypatch.setenv("NUMBA_PTXPLUS_DEVICE", "cpu")
    line = bessel.__code__.co_firstlineno
    with pytest.raises(UnsupportedKernelError) as refusal:
        numba_ptxplus.jit(bessel)[1, 1](np.ones(2))
    assert [(fault.line, fault.what.split()[0]) for fault in refusal.value.faults] == [
        (line + 1, "libdevice.j0"),
        (line + 2, "libdevice.dadd_ru"),
    ]
    assert "exists on NVIDIA GPUs only" in str(refusal.value)
