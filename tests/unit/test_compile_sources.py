"""A compiled kernel names the user's modules whose overloads it uses: nothing else would notice that they changed."""

import sys

import numpy as np
import pytest

import numba_ptxplus as cuda
from numba_gpucore.base.source import digest_module_source

USER_MODULE = """
import operator
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, overload, overload_attribute, overload_method, type_callable

def one_more(x): ...
def one_less(x): ...

@overload(one_more, target="gpucore")
def _one_more(x):
    return lambda x: x + 1

@overload(one_less)
def _one_less(x):
    return lambda x: x - 1

@intrinsic
def same(typingctx, x):
    return x(x), lambda context, builder, signature, args: args[0]

@overload_attribute(types.Array, "gain_of_user")
def _gain(array):
    return lambda array: 7

@overload_method(types.Array, "plus_of_user")
def _plus(array, x):
    return lambda array, x: x + 8

@overload(operator.matmul)
def _matmul(a, b):
    if isinstance(a, types.Complex):
        return lambda a, b: a + b

@overload(operator.ilshift)
@overload(operator.lshift)
def _lshift(a, b):
    if isinstance(a, types.Complex):
        return lambda a, b: a - b

class Nine: ...

@type_callable(Nine)
def _nine(context):
    return lambda x: types.float64

@lower_builtin(Nine, types.Float)
def _lower_nine(context, builder, signature, args):
    return context.get_constant(types.float64, 9)

def ten(x): ...

@infer_global(ten)
class Ten(AbstractTemplate):
    def generic(self, args, kws):
        return types.float64(*args)

@lower_builtin(ten, types.Float)
def _lower_ten(context, builder, signature, args):
    return context.get_constant(types.float64, 10)
"""


@cuda.jit
def reads_attribute(x):
    x[0] = x.gain_of_user


@cuda.jit
def calls_method(x):
    x[0] = x.plus_of_user(x[0])


@cuda.jit
def uses_operator(x):
    x[0] = x[0] @ x[0]


@cuda.jit
def uses_operator_in_place(x):
    value = x[0] + 1
    value <<= x[0]
    x[0] = value


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (reads_attribute, 7),
        (calls_method, 3 + 8),
        (uses_operator, 3 + 3),
        (uses_operator_in_place, 3 + 1 - 3),
    ],
)
def test_what_is_not_called_by_name_is_named(user, kernel, expected):
    """Types of variables tell functions only: an attribute, a method or an operator has to be looked for."""
    # Operators of complex numbers, since those of floats are refused in other tests of this process.
    data = np.array([3 + 0j])
    kernel[1, 1](data)
    assert data[0] == expected
    assert [source.module for source in sources_of(kernel)] == ["user_overloads"]


@pytest.fixture(scope="module")
def user(tmp_path_factory):
    folder = tmp_path_factory.mktemp("overloads")
    (folder / "user_overloads.py").write_text(USER_MODULE)
    sys.path.insert(0, str(folder))
    import user_overloads  # noqa: PLC0415 - made by this fixture

    yield user_overloads
    sys.path.remove(str(folder))


def sources_of(kernel):
    (overload,) = kernel.overloads.values()
    return overload.artifact.sources


@pytest.mark.parametrize("name, expected", [("one_more", 4), ("one_less", 2), ("same", 3), ("Nine", 9), ("ten", 10)])
def test_overload_called_from_a_device_function_is_named(user, name, expected):
    function = getattr(user, name)

    @cuda.jit(device=True)
    def middle(x):
        return function(x)

    @cuda.jit
    def kernel(x):
        x[0] = middle(x[0])

    data = np.array([3.0])
    kernel[1, 1](data)
    assert data[0] == expected
    (source,) = sources_of(kernel)
    assert (source.module, source.source_digest) == ("user_overloads", digest_module_source("user_overloads"))
    assert source.source_digest


def test_kernel_without_overloads_names_nothing(user):
    @cuda.jit
    def kernel(x):
        value = abs(x[0]) + x.size
        value += x[0] * 2
        x[0] = -value

    kernel[1, 1](np.array([3.0]))
    assert sources_of(kernel) == ()


#: The function is of one module, its overload of whichever of two is loaded.
CHOICE = """
import sys
import numpy as np
import numba_ptxplus as cuda
from scaling import scaled
__import__(sys.argv[1])

@cuda.jit(cache=True)
def kernel(x):
    x[0] = scaled(x[0])

x = np.array([1.0])
kernel[1, 1](x)
print(x[0], len(kernel.stats.hits))
"""


GAIN = """
import operator
from numba.extending import overload, overload_attribute, types

@overload_attribute(types.Array, "gain")
def _gain(array):
    return lambda array: {0}

@overload(operator.getitem)
def _getitem(number, i):
    if isinstance(number, types.Float):
        return lambda number, i: number * {0}
"""


def test_another_overload_makes_another_kernel(tmp_path, run_python):
    """One of a module that is loaded first, one whose module has changed; the kernel's bytecode is the same."""
    for gain in (2, 3):
        (tmp_path / f"by_{gain}.py").write_text(GAIN.format(gain))
    variables = {"NUMBA_PTXPLUS_DEVICE": "cpu", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(expression, *modules):
        (tmp_path / "program.py").write_text(ORDER.replace("EXPRESSION", expression))
        return run_python(tmp_path / "program.py", *modules, **variables).stdout.split()

    assert run("x.gain", "by_2") == ["2.0", "0"]
    assert run("x.gain", "by_3", "by_2") == ["3.0", "0"]
    assert run("x[0][1]", "by_2") == ["2.0", "0"]
    (tmp_path / "by_2.py").write_text(GAIN.format(4))
    assert run("x[0][1]", "by_2") == ["4.0", "0"]


FOR_GPUS = """
import operator
from numba.extending import overload, types

@overload(operator.mul, target="gpu")
def _mul(a, b):
    if isinstance(a, types.Float):
        return lambda a, b: 5.0
"""


def test_overloads_that_come_before_numbas_own_count(tmp_path, run_python):
    """No name in the kernel leads to them."""
    (tmp_path / "for_gpus.py").write_text(FOR_GPUS)
    (tmp_path / "program.py").write_text(ORDER.replace("EXPRESSION", "x[0] * 2"))
    variables = {"NUMBA_PTXPLUS_DEVICE": "cpu", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for modules, expected in (((), "2.0 0"), (("for_gpus",), "5.0 0"), ((), "2.0 1"), (("for_gpus",), "5.0 1")):
        assert run_python(tmp_path / "program.py", *modules, **variables).stdout == f"{expected}\n"


#: A kernel that uses what two modules overload, whichever of them are loaded, in whichever order.
ORDER = """
import sys
import numpy as np
import numba_ptxplus as cuda
for name in sys.argv[1:]:
    __import__(name)

@cuda.jit(cache=True)
def kernel(x):
    x[0] = EXPRESSION

x = np.array([1.0])
kernel[1, 1](x)
print(x[0], len(kernel.stats.hits))
"""


def test_a_kernel_is_of_the_overloads_that_are_loaded(tmp_path, run_python):
    (tmp_path / "scaling.py").write_text("def scaled(x): ...\n")
    for gain in (2, 3):
        (tmp_path / f"by_{gain}.py").write_text(
            "from numba.extending import overload\nfrom scaling import scaled\n"
            f"@overload(scaled)\ndef _scaled(x):\n    return lambda x: x * {gain}\n"
        )
    (tmp_path / "program.py").write_text(CHOICE)
    variables = {"NUMBA_PTXPLUS_DEVICE": "cpu", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for module, expected in (("by_2", "2.0 0"), ("by_2", "2.0 1"), ("by_3", "3.0 0")):
        assert run_python(tmp_path / "program.py", module, **variables).stdout == f"{expected}\n"


AT_A_PROMPT = """
import numpy as np
import numba_ptxplus as cuda
from numba.extending import overload

def scaled(x): ...

text = "@overload(scaled)\\ndef _scaled(x):\\n    return lambda x: x * 2"
exec(compile(text, "<stdin>", "exec"), NAMESPACE)

@cuda.jit(cache=True)
def kernel(x):
    x[0] = scaled(x[0])

x = np.array([1.0])
kernel[1, 1](x)
print(x[0], [reason for _signature, reason in kernel.stats.unkept])
"""


@pytest.mark.parametrize(
    "namespace, name",
    [
        ("globals()", "__main__ <stdin>"),
        ("{'overload': overload, 'scaled': scaled}", "<stdin>"),
        ("{'overload': overload, 'scaled': scaled, '__name__': 'nowhere'}", "nowhere"),
    ],
)
def test_what_no_file_tells_of_is_of_one_process(tmp_path, run_python, namespace, name):
    """As with `python -i script.py`: the script's file does not tell of it."""
    (tmp_path / "program.py").write_text(AT_A_PROMPT.replace("NAMESPACE", namespace))
    child = run_python(tmp_path / "program.py", NUMBA_PTXPLUS_DEVICE="cpu", NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert child.stdout == f"2.0 ['it uses overloads of {name}, whose source cannot be found']\n"
