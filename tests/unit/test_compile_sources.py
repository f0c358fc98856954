"""A compiled kernel names the user's modules whose overloads it uses: nothing else would notice that they changed."""

import sys

import numpy as np
import pytest

import numba_ptxplus as cuda
from numba_gpucore.base.source import digest_module_source

USER_MODULE = """
from numba.extending import intrinsic, overload

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
"""


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


@pytest.mark.parametrize("name, expected", [("one_more", 4), ("one_less", 2), ("same", 3)])
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


def test_kernel_without_overloads_names_nothing():
    @cuda.jit
    def kernel(x):
        x[0] = abs(x[0])

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
