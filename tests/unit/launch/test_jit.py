"""The decorator's forms and options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.errors import KernelLanguageError, OptionError
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.dtypes import float32, int32, void
from numba_gpucore.launch.device_function import DeviceFunction
from numba_gpucore.launch.jit import jit
from numba_gpucore.launch.kernel import Kernel
from tests.unit.launch import fake_device

HOST = fake_device.platform("HOST")


def function(x):
    """What it does."""


@pytest.fixture(autouse=True)
def _compiler(requests: list[CompileRequest]) -> None:
    pass


@pytest.mark.parametrize(
    "decorate",
    [
        lambda: jit(HOST, function),
        lambda: jit(HOST)(function),
        lambda: jit(HOST, fastmath=True)(function),
        lambda: jit(HOST, "void(int32)")(function),
        lambda: jit(HOST, ["void(int32)", (float32,)])(function),
        lambda: jit(HOST, (int32,))(function),
        lambda: jit(HOST, void(int32))(function),
        lambda: jit(HOST, argtypes=(int32,))(function),
    ],
)
def test_forms_that_make_kernels(decorate: Callable[[], Any]) -> None:
    decorated = decorate()
    assert isinstance(decorated, Kernel)
    assert decorated.py_func is function
    assert decorated.__doc__ == "What it does."


def test_signatures_are_kept() -> None:
    kernel = jit(HOST, ["void(int32)", (float32,)])(function)
    assert [str(*types) for types in kernel.signatures] == ["int32", "float32"]


@pytest.mark.parametrize(
    "decorated",
    [
        jit(HOST, function, device=True),
        jit(HOST, device=True)(function),
        jit(HOST, "float32(float32)", device=True)(function),
        jit(HOST, float32(float32), device=True, inline=True)(function),
    ],
)
def test_forms_that_make_device_functions(decorated: Any) -> None:
    assert isinstance(decorated, DeviceFunction)
    assert decorated.py_func is function
    with pytest.raises(KernelLanguageError, match="device function 'function' can be called from kernels only"):
        decorated(1)


def test_unknown_options_are_listed_with_the_known_ones() -> None:
    with pytest.raises(OptionError, match=r"unknown options 'colour', 'size'; the options are boundscheck, cache,"):
        jit(HOST, size=1, colour=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_registers": "many"}, "max_registers must be a whole number from 1 on, not 'many'"),
        ({"max_registers": 0}, "max_registers must be a whole number from 1 on, not 0"),
        ({"launch_bounds": "abc"}, "launch_bounds must be whole numbers from 1 on, not 'abc'"),
        ({"launch_bounds": -64}, "launch_bounds must be whole numbers from 1 on, not -64"),
        ({"launch_bounds": (64, 2.0)}, r"launch_bounds must be whole numbers from 1 on, not 64, 2\.0"),
        ({"launch_bounds": (1, 2, 3, 4)}, "Got 4 launch bounds: "),
        ({"opt": "fast"}, "opt must be True, False or 0 to 3, not 'fast'"),
        ({"debug": "no"}, "debug must be True or False, not 'no'"),
        ({"fastmath": {"contract"}}, "fastmath must be True or False, not {'contract'}"),
        ({"cache": "folder"}, "cache must be True or False, not 'folder'"),
        ({"inline": "sometimes"}, "inline must be 'never' or 'always', not 'sometimes'"),
    ],
)
def test_values_that_options_cannot_have(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        jit(HOST, **options)


def test_numbers_say_yes_and_no() -> None:
    """So that equal options make equal cache keys."""
    assert repr(jit(HOST, boundscheck=1, cache=0)(function).options) == repr(
        jit(HOST, boundscheck=True, cache=False)(function).options
    )


def test_hints_are_taken() -> None:
    kernel = jit(HOST, forceinline=True, lto=True, link=[])(function)
    assert kernel.options == jit(HOST, function).options


def test_what_is_not_offered_says_so() -> None:
    with pytest.raises(OptionError, match="option 'abi': a foreign calling convention is not offered"):
        jit(HOST, abi="c")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (5, "jit takes a Python function, a signature or options, not 5"),
        (len, "jit takes a Python function"),
    ],
)
def test_what_cannot_be_decorated(value: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        jit(HOST)(value)


def test_a_decorated_function_can_be_decorated_with_other_options() -> None:
    kernel = jit(HOST, fastmath=True)(jit(HOST, device=True)(function))
    assert type(kernel) is Kernel and kernel.py_func is function
    assert kernel.options == KernelOptions(fastmath=True)


def test_coroutines_are_refused() -> None:
    async def waits(x):
        pass

    with pytest.raises(OptionError, match="async function"):
        jit(HOST, waits)


@pytest.mark.parametrize("kind", [set, frozenset])
def test_files_in_a_set_have_one_order(kind: type, tmp_path: Path) -> None:
    """A set's own differs from process to process, and so would the keys of kernels in the cache."""
    names = [f"{letter}.ptx" for letter in "abcdefgh"]
    for name in names:
        (tmp_path / name).write_text("// the same in all")
    linked = jit(HOST, link=kind(str(tmp_path / name) for name in names))(function).options.link
    assert [one.name for one in linked] == names
