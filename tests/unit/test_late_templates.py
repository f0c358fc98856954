"""Registrations that are taken over when a program asks give what Numba gives, which takes all over at once."""

from __future__ import annotations

import gc
import operator
from pathlib import Path

import pytest
from numba.core import types
from numba.core.extending import overload_method
from numba.core.target_extension import target_override
from numba.core.typing import BaseContext
from numba.core.typing.templates import AbstractTemplate, Registry

import numba_ptxplus
from numba_gpucore import dtypes
from numba_gpucore.compile.contexts import DeviceTypingContext
from numba_gpucore.compile.dispatcher import descriptor_for
from numba_gpucore.compile.late_features import LATE_FEATURES, load_features


class EagerContext(DeviceTypingContext):
    """Takes over all registrations at once, by Numba's own loop."""

    install_registry = BaseContext.install_registry


def fresh_context(context_class: type[DeviceTypingContext]) -> DeviceTypingContext:
    descriptor = descriptor_for("ptxplus")
    descriptor.target_context.refresh()  # makes the target's own context first
    context = context_class(descriptor)
    context.refresh()
    return context


@pytest.fixture
def contexts():
    """Ours and Numba's way, with the same registries, those of late features too."""
    load_features(LATE_FEATURES)
    with target_override("ptxplus"):
        yield fresh_context(DeviceTypingContext), fresh_context(EagerContext)


def classes_by_key(templates: dict) -> dict:
    # A template that is for a function is kept under a method of its own, which nothing asks for.
    return {getattr(key, "__func__", key): [type(template) for template in made] for key, made in templates.items()}


def test_all_that_is_registered_means_the_same(contexts) -> None:
    late, eager = contexts
    globals_, functions, attributes = set(late._noted_globals), set(late._noted_functions), set(late._noted_attributes)
    assert not late._globals and min(len(globals_), len(functions)) > 500 and len(attributes) > 20
    for value in globals_:
        late._lookup_global(value)
    for key in functions:
        late._take_functions(key)
    for key in attributes:
        late._take_attributes((key,))
    assert not (late._noted_globals or late._noted_functions or late._noted_attributes)
    assert late._globals == eager._globals
    assert classes_by_key(late._functions) == classes_by_key(eager._functions)
    assert classes_by_key(late._attributes) == classes_by_key(eager._attributes)


def test_a_value_that_is_registered_again_later_keeps_what_it_was(contexts) -> None:
    context, _eager = contexts
    known = context._lookup_global(operator.add).templates
    registry = Registry()

    @registry.register_global(operator.add)
    class AddNothing(AbstractTemplate):
        def generic(self, args, kws):
            return None

    context.install_registry(registry)
    later = context._lookup_global(operator.add).templates
    assert later[:-1] == known and issubclass(later[-1], AddNothing)


def test_a_value_keeps_what_it_was_when_an_equal_one_that_was_asked_for_is_gone(contexts) -> None:
    context, _eager = contexts
    passing = dtypes.DType("float32")
    assert passing == dtypes.float32 and context._lookup_global(passing) is not None
    del passing
    gc.collect()
    assert context._lookup_global(dtypes.float32) is not None


def test_two_meanings_that_cannot_be_one_are_refused(contexts) -> None:
    context, _eager = contexts
    registry, value = Registry(), object()
    for type_ in (types.int32, types.DType(types.int32)):
        registry.register_global(value, type_)
    context.install_registry(registry)
    with pytest.raises(TypeError, match="cannot augment int32 with dtype"):
        context._lookup_global(value)


def test_values_without_a_hash_are_not_registered(contexts) -> None:
    context, _eager = contexts
    assert context._lookup_global([]) is None


def test_a_method_that_is_overloaded_between_two_kernels_is_found() -> None:
    def kernel(x):
        x[0] = x.twice_first()

    with pytest.raises(TypeError, match="twice_first"):
        numba_ptxplus.compile_ptx(kernel, "void(float32[:])")

    @overload_method(types.Array, "twice_first", target="gpucore")
    def overload_twice_first(array):
        return lambda array: 2 * array[0]

    numba_ptxplus.compile_ptx(kernel, "void(float32[:])")


#: `njit` gives 2, 77: Numba lowers an attribute by what was registered last.
ATTRIBUTE = """
import numpy as np
import numba_ptxplus
from numba.extending import overload_attribute, types

@numba_ptxplus.jit
def first(x):
    x[0] = x.size

@numba_ptxplus.jit
def second(x):
    x[1] = x.size

x = np.zeros(2, np.int64)
first[1, 1](x)

@overload_attribute(types.Array, "size")
def _size(array):
    return lambda array: 77

second[1, 1](x)
print(x)
"""


def test_an_attribute_that_is_overloaded_between_two_kernels_has_its_new_meaning(tmp_path: Path, run_python) -> None:
    (tmp_path / "program.py").write_text(ATTRIBUTE)
    assert run_python(tmp_path / "program.py", NUMBA_PTXPLUS_DEVICE="cpu").stdout == "[ 2 77]\n"


#: Numba's own methods of arrays come to its registries with `mean`: after the program's.
METHODS = """
import sys
import numpy as np
import numba_ptxplus
from numba.extending import overload_method, types

@overload_method(types.Array, "sum", target=sys.argv[1])
def _sum(array):
    return lambda array: 43

@overload_method(types.Array, "copy", target=sys.argv[1])
def _copy(array):
    return lambda array: array[1:]

def sums(x, out):
    out[0] = x.sum()

def all_methods(x, out):
    out[0] = x.sum()
    out[1] = x.copy().size
    out[2] = x.mean()

x = np.arange(4, dtype=np.float32)
for name in sys.argv[2:]:
    out = np.zeros(3)
    numba_ptxplus.jit(globals()[name])[1, 1](x, out)
    print(*out)
"""
METHOD_RESULTS = {"sums": "43.0 0.0 0.0\n", "all_methods": "43.0 3.0 1.5\n"}


@pytest.mark.parametrize("target", ["generic", "cuda"])
@pytest.mark.parametrize("kernels", [("all_methods", "sums"), ("sums", "all_methods")])
def test_a_method_that_a_program_overloads_is_its_own_whenever_numbas_is_loaded(
    tmp_path: Path, run_python, target: str, kernels: tuple[str, ...]
) -> None:
    (tmp_path / "program.py").write_text(METHODS)
    result = run_python(tmp_path / "program.py", target, *kernels, NUMBA_PTXPLUS_DEVICE="cpu")
    assert result.stdout == "".join(map(METHOD_RESULTS.get, kernels))
