"""Modules behind an overload's: what they hold is part of what the overload means."""

import ast
import importlib
import sys

import numpy as np
import pytest

import numba_ptxplus as cuda
from numba_gpucore.base.artifact import SourceCheck
from numba_gpucore.base.source import digest_module_source, is_unchanged
from numba_gpucore.base.versions import version_of
from numba_gpucore.compile.module_imports import modules_behind

FILES = {
    "behind_top.py": "import behind_package.deep.inner, numpy, os.path, numba\nfrom behind_package import near, NUMBER",
    "behind_package/__init__.py": "NUMBER = 1",
    "behind_package/near.py": "from .deep import *\nfrom . import late\ndef f():\n    from . import in_function",
    "behind_package/late.py": "try:\n    import behind_missing\nexcept ImportError:\n    pass",
    "behind_package/in_function.py": "import behind_cycle",
    "behind_package/not_imported.py": "",
    "behind_package/deep/__init__.py": "",
    "behind_package/deep/inner.py": "from .. import near\nimport behind_namespace.part",
    "behind_namespace/part.py": "import behind_cycle",
    "behind_cycle.py": "import behind_top",
}
OWN = {
    *("behind_package", "behind_package.near", "behind_package.late", "behind_package.in_function"),
    *("behind_package.deep", "behind_package.deep.inner"),
    *("behind_namespace", "behind_namespace.part", "behind_cycle"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where modules can be imported from; they are forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith(("behind_", "user_gain"))]:
        del sys.modules[name]


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_own_modules_are_followed_and_others_are_not(folder):
    """Python's, Numba's and what was never imported are left out; a cycle ends."""
    write(folder, FILES)
    importlib.import_module("behind_top")
    importlib.import_module("behind_package.in_function")
    assert modules_behind(["behind_top"]) == (OWN, frozenset())
    assert modules_behind(["behind_no_module"]) == modules_behind(["zlib"]) == (frozenset(), frozenset())


def test_a_module_is_read_once_while_it_stays_as_it_is(folder, monkeypatch):
    write(folder, {"behind_reader.py": "import behind_part", "behind_part.py": "", "behind_other_part.py": ""})
    for name in ("behind_reader", "behind_other_part"):
        importlib.import_module(name)
    assert modules_behind(["behind_reader"]) == ({"behind_part"}, frozenset())
    with monkeypatch.context() as context:
        context.setattr(ast, "parse", None)
        assert modules_behind(["behind_reader"]) == ({"behind_part"}, frozenset())
    write(folder, {"behind_reader.py": "import behind_other_part"})
    assert modules_behind(["behind_reader"]) == ({"behind_other_part"}, frozenset())


def test_installed_packages_are_named_and_only_their_own_modules_follow_them(folder, monkeypatch):
    installed = folder / "site-packages"
    write(
        installed,
        {
            "behind_tool/__init__.py": "import behind_tool.part",
            "behind_tool/part.py": "import behind_user",
            "behind_tool-2.0.dist-info/METADATA": "",
        },
    )
    write(folder, {"behind_user.py": "from behind_tool import part"})
    monkeypatch.syspath_prepend(installed)
    importlib.import_module("behind_user")
    assert modules_behind(["behind_user"]) == (frozenset(), {"behind_tool"})
    assert modules_behind(["behind_tool"]) == ({"behind_tool.part", "behind_user"}, {"behind_tool"})


def test_a_package_whose_distribution_has_another_name_is_known_by_its_init(folder, monkeypatch):
    """Else another version of PyYAML, the distribution of `yaml`, would not be noticed."""
    installed = folder / "site-packages"
    write(
        installed,
        {
            "behind_renamed/__init__.py": "__version__ = '1.0'",
            "behind_renamed/part.py": "from behind_renamed import other",
            "behind_renamed/other.py": "",
            "PyBehindRenamed-1.0.dist-info/METADATA": "",
        },
    )
    write(folder, {"behind_renaming.py": "from behind_renamed.part import other"})
    monkeypatch.syspath_prepend(installed)
    importlib.import_module("behind_renaming")
    assert modules_behind(["behind_renaming"]) == ({"behind_renamed"}, frozenset())


OVERLOADS = """
import ml_dtypes
import numba
from numba.extending import overload
from user_gain_constants import GAIN

def amplify(x): ...

@overload(amplify)
def _amplify(x):
    return lambda x: x * GAIN
"""


def test_a_kernel_names_what_its_overloads_import(folder):
    write(folder, {"user_gain.py": OVERLOADS, "user_gain_constants.py": "GAIN = 3\n"})
    amplify = importlib.import_module("user_gain").amplify

    @cuda.jit
    def kernel(x):
        x[0] = amplify(x[0])

    x = np.array([2.0])
    kernel[1, 1](x)
    assert x[0] == 6
    (overload,) = kernel.overloads.values()
    constants = SourceCheck("user_gain_constants", digest_module_source("user_gain_constants"), needs_loading=False)
    assert overload.artifact.sources == (
        SourceCheck("ml_dtypes", version_of("ml_dtypes"), needs_loading=False, is_version=True),
        SourceCheck("user_gain", digest_module_source("user_gain")),
        constants,
    )
    assert all(map(is_unchanged, overload.artifact.sources))
    write(folder, {"user_gain_constants.py": "GAIN = 4\n"})
    assert [source for source in overload.artifact.sources if not is_unchanged(source)] == [constants]


def test_another_version_of_a_package_is_a_change(monkeypatch):
    assert is_unchanged(SourceCheck("ml_dtypes", version_of("ml_dtypes"), is_version=True))
    assert not is_unchanged(SourceCheck("ml_dtypes", "0.0.1", is_version=True))
