"""Fingerprints: equal in every process, different whenever a kernel's result could be."""

import enum
import marshal
import math
import subprocess
import sys
import types
from collections import namedtuple

import ml_dtypes
import numba
import numpy as np
import pytest
from numba import extending, njit
from numba.extending import intrinsic

import numba_ptxplus
from numba_gpucore.base.argtypes import ArrayType, ScalarType
from numba_gpucore.launch import registered_overloads
from numba_gpucore.launch.fingerprint import take_fingerprint
from numba_gpucore.launch.registered_overloads import RegisteredOverloads
from numba_gpucore.launch.store import make_key


def define(source: str, name: str = "kernel", **namespace):
    """The function `name` that `source` defines; `namespace` becomes its globals."""
    exec(compile(source, "some_file.py", "exec"), namespace)
    return namespace[name]


def with_cell(value):
    def kernel(x):
        return x, value

    return kernel


def with_default(value):
    def kernel(x, y=value):
        return x, y

    return kernel


class Colour(enum.Enum):
    RED = 1


class Shade(enum.Enum):
    RED = 2


Point = namedtuple("Point", "x y")

#: Neither has NumPy's `descr`.
FLIPPED = np.dtype({"names": ["a", "b"], "formats": ["i4", "i4"], "offsets": [4, 0]})
OVERLAPPING = np.dtype({"names": ["a", "b"], "formats": ["i4", "i8"], "offsets": [4, 0]})

DIFFERENT_VALUES = [
    (1, 2),
    (1, 1.0),
    (1, True),
    (0.0, -0.0),
    (1 + 2j, 2 + 1j),
    ("a", "b"),
    (b"a", "a"),
    (b"a", bytearray(b"a")),
    ((1, 2), (2, 1)),
    ((1, (2, 3)), ((1, 2), 3)),
    (("ab", "c"), ("a", "bc")),
    ({"k": 1}, {"k": 2}),
    (frozenset({1, 2}), frozenset({1, 3})),
    (np.float32(1), np.float64(1)),
    (np.arange(4), np.arange(4)[::-1].copy()),
    (np.zeros((2, 3)), np.zeros((3, 2))),
    (np.zeros((2, 2), order="C"), np.zeros((2, 2), order="F").T.copy(order="F") + 1),
    (np.zeros(2, "i4"), np.zeros(2, "u4")),
    (np.dtype("f4"), np.dtype("f8")),
    (np.dtype([("a", "f4")]), np.dtype([("b", "f4")])),
    (np.dtype(("f4", 2)), np.dtype(("i4", 2))),
    (FLIPPED, OVERLAPPING),
    (np.zeros(2, FLIPPED), np.zeros(2, OVERLAPPING)),
    (np.zeros(2, FLIPPED)[0], np.zeros(2, OVERLAPPING)[0]),
    (np.dtype(ml_dtypes.float8_e5m2), np.dtype(ml_dtypes.float8_e4m3fn)),
    (np.sin, np.cos),
    (np.max, np.min),
    (np.linalg.norm, np.linalg.det),
    (math.sin, math.cos),
    (Colour.RED, Shade.RED),
    (Point(1, 2), (1, 2)),
    (slice(1, 2), slice(1, 3)),
    (None, Ellipsis),
    (lambda x: x + 1, lambda x: x + 2),
]


@pytest.mark.parametrize("left, right", DIFFERENT_VALUES, ids=lambda v: getattr(v, "__name__", str(v))[:30])
@pytest.mark.parametrize("make", [with_cell, with_default])
def test_values_that_matter_change_the_fingerprint(make, left, right):
    assert take_fingerprint(make(left)).digest != take_fingerprint(make(right)).digest
    assert take_fingerprint(make(left)) == take_fingerprint(make(left))


@pytest.mark.parametrize("method", ["__str__", "__repr__", "__format__"])
@pytest.mark.parametrize("source", ["def kernel(): print(Mode.ON)", "def kernel(): print(ON)"], ids=["class", "member"])
def test_what_own_methods_of_an_enum_write_is_part_of_it(method, source):
    """Kernels print it."""

    def define_with(text):
        def write(self, *_format):
            return text

        mode = enum.Enum("Mode", {"ON": 1, method: write})
        return define(source, Mode=mode, ON=mode.ON)

    digests = {take_fingerprint(define_with(text)).digest for text in ("one", "one", "two")}
    assert len(digests) == 2 and None not in digests


def test_global_array_is_part_of_it():
    source = "def kernel(i): return TABLE[i]"
    one, two = (define(source, TABLE=np.array([value])) for value in (1, 2))
    assert take_fingerprint(one).digest != take_fingerprint(two).digest


def test_global_that_the_bytecode_does_not_read_is_not_part_of_it():
    source = "def kernel(i): return i + 1"
    assert take_fingerprint(define(source, unused=1)) == take_fingerprint(define(source, unused=object()))


MODULE_READERS = {
    "in a cell": "def make(settings):\n def kernel(x): return settings.inner.gain * x\n return kernel\n"
    "kernel = make(settings)",
    "in a cell of a nested function": "def make(settings):\n"
    " def kernel(x): return [settings.inner.gain * y for y in x]\n return kernel\nkernel = make(settings)",
    "below a global": "def kernel(x): return settings.inner.gain * x",
    "in a comprehension": "def kernel(x): return [settings.inner.gain * y for y in x]",
    # Of more than 256 names each is told by two instructions.
    "among many names": "def kernel(x):\n"
    + "".join(f" x.name{i}\n" for i in range(300))
    + " x[0] = settings.inner.gain",
}


@pytest.mark.parametrize("source", MODULE_READERS.values(), ids=list(MODULE_READERS))
def test_module_attributes_are_followed_wherever_the_module_is(source):
    digests = set()
    for gain in (1.0, 2.0, 2.0):
        settings, inner = types.ModuleType("settings"), types.ModuleType("settings.inner")
        settings.inner, inner.gain = inner, gain
        digests.add(take_fingerprint(define(source, settings=settings)).digest)
    assert None not in digests and len(digests) == 2


@pytest.mark.parametrize(
    "source",
    [
        "def kernel(x):\n s = settings\n return s.gain * x",
        "def make(settings):\n def kernel(x):\n  s = settings\n  return s.gain * x\n return kernel\n"
        "kernel = make(settings)",
        "TABLE = (settings, 1)\ndef kernel(x): return TABLE",
    ],
)
def test_a_module_that_goes_elsewhere_is_unknown(source):
    """What is read of it there cannot be seen."""
    found = take_fingerprint(define(source, settings=types.ModuleType("settings")))
    assert found.digest is None and "is a module" in found.obstacle
    assert take_fingerprint(define(source, settings=math)).digest  # Python's own do not change


def test_callees_are_followed_to_any_depth():
    source = "def inner(x): return x + {}\ndef middle(x): return inner(x)\ndef kernel(x): return middle(x)"
    assert take_fingerprint(define(source.format(1))).digest != take_fingerprint(define(source.format(2))).digest


def test_callee_inside_a_nested_function_is_followed():
    source = "def helper(x): return x * {}\ndef kernel(x): return [helper(v) for v in x]"
    assert take_fingerprint(define(source.format(1))).digest != take_fingerprint(define(source.format(2))).digest


def _in_module(name: str, function):
    function.__module__ = name
    return function


def test_what_overloads_are_of_is_known_by_its_module():
    """`third` of one module and of another have different overloads, though their own bodies are the same."""
    stub = "def third(x): raise NotImplementedError"
    source = "def kernel(x): return third(x)"
    digests = {
        take_fingerprint(define(source, third=_in_module(module, define(stub, "third")))).digest
        for module in ("fast", "exact", "__main__", "__mp_main__")
    }
    assert None not in digests and len(digests) == 3


def test_intrinsics_are_known_by_their_module():
    """To Numba, their text is their name."""
    source = "def kernel(x): return add(x)"
    digests = {
        take_fingerprint(
            define(source, add=intrinsic(_in_module(module, define("def add(context, x): pass", "add"))))
        ).digest
        for module in ("fast", "exact")
    }
    assert None not in digests and len(digests) == 2


def test_functions_that_are_compiled_are_the_same_in_every_module():
    """Their content says all: a kernel is found again when it moves."""
    source = "def kernel(x): return helper(x)"
    helpers = (njit(_in_module(module, define("def helper(x): return x + 1", "helper"))) for module in ("one", "two"))
    assert len({take_fingerprint(define(source, helper=helper)).digest for helper in helpers}) == 1


@pytest.mark.parametrize(
    "options", [{"fastmath": {"nnan"}}, {"inline": lambda *_: False}, {"locals": {"x": numba.int32}}], ids=" ".join
)
def test_options_of_what_numba_decorates_count(options):
    def double(x):
        return x + x

    digests = {take_fingerprint(with_cell(njit(**chosen)(double))).digest for chosen in ({}, options, options)}
    assert len(digests) == 2 and None not in digests


def test_equal_tuples_need_not_be_one_object():
    kernel = define("SHAPE = (1, (2, 3))\ndef kernel(x, y=(1, (2, 3))): return (1, (2, 3)), SHAPE, y")
    here = take_fingerprint(kernel)
    kernel.__code__ = marshal.loads(marshal.dumps(kernel.__code__))
    assert take_fingerprint(kernel) == here


def test_recursion_ends():
    cycle = "def odd(n): return n and even(n - 1)\ndef even(n): return not n or odd(n - 1)\n"
    source = cycle + "def kernel(n): return odd(n)"
    assert take_fingerprint(define(source)).digest


def test_position_in_the_file_does_not_matter_but_relative_lines_do():
    moved = define("\n\n\ndef kernel(x):\n    return x")
    spread = define("def kernel(x):\n\n    return x")
    original = define("def kernel(x):\n    return x")
    assert take_fingerprint(original) == take_fingerprint(moved)
    assert take_fingerprint(original) != take_fingerprint(spread)


@pytest.mark.parametrize("lineinfo", [False, True])
def test_lines_in_machine_code_are_those_of_all_functions(lineinfo):
    digests = set()
    for n_lines in (0, 5):
        namespace = {}
        exec("\n" * n_lines + "def helper(x): return x + 1", namespace)
        exec("def kernel(x): x[0] = helper(x[0])", namespace)
        kernel = numba_ptxplus.jit(namespace["kernel"], lineinfo=lineinfo)
        request = kernel.request_for_arch("sm_90", (ArrayType(ScalarType("float32", 4), 1, "C"),))
        digests.add(make_key(*request, take_fingerprint(kernel.py_func), "source").digest)
    assert len(digests) == 1 + lineinfo


def test_unknown_object_names_itself():
    found = take_fingerprint(with_cell(object()))
    assert found.digest is None
    assert "'value' is a builtins.object" in found.obstacle


def test_foreign_ufunc_is_unknown():
    """np.frompyfunc makes a ufunc whose name says nothing about what it computes."""
    assert take_fingerprint(with_cell(np.frompyfunc(lambda x: x, 1, 1))).digest is None


PROGRAM = """
import math, types, numpy as np
from numba_gpucore.launch.fingerprint import take_fingerprint
WORDS = {"alpha", "beta", "gamma", "delta"}
TABLE = np.arange(6.0).reshape(2, 3)
def helper(x): return math.sin(x) + TABLE[0, 1]
def cost(*_): return True
#: What Numba's dispatchers look like.
decorated = types.SimpleNamespace(
    py_func=lambda x: x, targetoptions={"inline": cost, "fastmath": {"nnan", "nsz", "arcp"}}, locals={"x": np.int32}
)
def kernel(x): return helper(decorated(x)) if x in {"one", "two", "three"} else len(WORDS)
if WARM_UP:
    [hash(kernel.__code__), kernel.__code__.co_consts]
    for _ in range(500):
        helper(1.0)
print(take_fingerprint(kernel).digest)
"""


def test_equal_in_processes_with_different_hash_seeds_and_histories():
    digests = set()
    for seed, warm_up in (("1", "False"), ("2", "True"), ("3", "False")):
        program = PROGRAM.replace("WARM_UP", warm_up)
        child = subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        digests.add(child.stdout)
    assert len(digests) == 1 and len(digests.pop().strip()) == 40


def _uses_function(x):
    x[0] = _stub(x[0])


def _uses_method(x):
    x[0] = x.method_of_a_user()


def _uses_attribute(x):
    x[0] = x.attribute_of_a_user


def _mentions_numpy(x):
    x[0] = np.dsplit(x)


def _in_a_loop(x):
    x[0] = [y.attribute_in_a_loop for y in x]


def _stub(x):
    raise NotImplementedError


@pytest.mark.parametrize(
    ("kernel", "register"),
    [
        (_uses_function, extending.overload(_stub)),
        (_uses_method, extending.overload_method(numba.types.Array, "method_of_a_user")),
        (_uses_attribute, extending.overload_attribute(numba.types.Array, "attribute_of_a_user")),
        (_mentions_numpy, extending.overload(np.dsplit)),
        (_in_a_loop, extending.overload_attribute(numba.types.Array, "attribute_in_a_loop")),
        (with_cell(_stub), extending.overload(_stub)),
    ],
)
def test_overloads_of_what_a_kernel_mentions_count_with_their_order(kernel, register):
    """Numba asks those that were registered first first; the kernel's bytecode does not tell who has registered."""
    kept = RegisteredOverloads()
    digests = [take_fingerprint(kernel, kept).digest]
    for module in ("first", "second", "first"):
        register(_in_module(module, lambda x: None))
        digests.append(take_fingerprint(kernel, kept).digest)
        assert take_fingerprint(kernel).digest == digests[-1]
    assert len(set(digests)) == 4 and None not in digests


def test_registered_overloads_are_looked_through_once_for_each_change(monkeypatch):
    """There are a thousand, and a kernel may hold a set of a thousand values."""
    counted = []
    monkeypatch.setattr(registered_overloads, "_users_module_of", lambda template: counted.append(template) or "")
    kept = RegisteredOverloads()
    kernel = define("def kernel(x): return x in {1, 2, 3}")
    take_fingerprint(kernel, kept)
    n_first = len(counted)
    take_fingerprint(kernel, kept)
    assert 0 < n_first == len(counted)
    extending.overload_attribute(numba.types.Array, "one_more_attribute")(lambda x: None)
    take_fingerprint(kernel, kept)
    assert len(counted) == 2 * n_first + 1


def test_overloads_of_numba_and_of_what_a_kernel_does_not_mention_do_not_count():
    before = take_fingerprint(_mentions_numpy)
    extending.overload(_stub)(_in_module("other", lambda x: None))
    extending.overload(np.dsplit)(_in_module("numba.np.arraymath", lambda x: None))
    assert take_fingerprint(_mentions_numpy) == before
