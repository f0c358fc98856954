"""Run one module of numba-cuda's tests in this process and write what became of each test. Before: wheel. After: suite.

    python -m tests.peer.child PACKAGE MODULE RESULT.json

The tests import NVIDIA's copies of Numba's front end, which our stand-in answers with Numba's own modules, and a
`numba.cuda.testing` of their own, which stands on ours.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import types
import unittest
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from tests.peer.wheel import suite_folder

_ROOT = "numba.cuda.tests"
#: NVIDIA's front end below numba.cuda is imported as the same objects that Numba's own is.
_SAME_MODULES = ("core", "np", "typing", "typeconv", "datamodel", "cpython", "misc", "cgutils", "utils", "serialize")
_REASON_LENGTH = 300


class SuiteFinder:
    """Finds `numba.cuda.tests` in the wheel, and Numba's modules where numba-cuda has copies of them."""

    def __init__(self, tests: Path):
        self._tests = tests

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if name == _ROOT or name.startswith(_ROOT + "."):
            place = self._tests.joinpath(*name[len(_ROOT) + 1 :].split("."))
            if place.is_dir():
                init = place / "__init__.py"
                return importlib.util.spec_from_file_location(name, init, submodule_search_locations=[str(place)])
            return importlib.util.spec_from_file_location(name, place.with_suffix(".py"))
        parent, _, rest = name.removeprefix("numba.cuda.").partition(".")
        if name.startswith("numba.cuda.") and rest and parent in _SAME_MODULES and name not in sys.modules:
            folder = parent if parent in ("np", "cpython", "misc") else f"core.{parent}".replace("core.core", "core")
            try:
                module = importlib.import_module(f"numba.{folder}.{rest}")
            except ImportError:
                return None
            spec = ModuleSpec(name, self, is_package=hasattr(module, "__path__"))  # type: ignore[arg-type]
            spec.loader_state = module
            return spec
        return None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        module: types.ModuleType = spec.loader_state
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to execute: the module is Numba's."""


class Result(unittest.TextTestResult):
    """{name: [word, reason]} for each test."""

    def __init__(self, *arguments: Any, **keywords: Any):
        super().__init__(*arguments, **keywords)
        self.outcomes: dict[str, tuple[str, str]] = {}

    def _note(self, test: Any, word: str, reason: str = "") -> None:
        self.outcomes[test.id().split(f"{_ROOT}.")[-1]] = word, reason[:_REASON_LENGTH]

    def addSuccess(self, test: Any) -> None:
        self._note(test, "pass")

    def addExpectedFailure(self, test: Any, error: Any) -> None:
        self._note(test, "pass")

    def addSkip(self, test: Any, reason: str) -> None:
        self._note(test, "skip", reason)

    def addFailure(self, test: Any, error: Any) -> None:
        self._note(test, "fail", f"{error[0].__name__}: {error[1]}")

    def addError(self, test: Any, error: Any) -> None:
        self._note(test, "fail", f"{error[0].__name__}: {error[1]}")

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._note(test, "fail", "unexpected success")

    def addSubTest(self, test: Any, subtest: Any, error: Any) -> None:
        if error is not None:
            self._note(test, "fail", f"{error[0].__name__}: {error[1]}")


def install(package: str) -> None:
    """Make `numba.cuda` the package, with what only the tests import."""
    module = importlib.import_module(package)
    module.install_as_cuda()
    sys.meta_path.insert(0, SuiteFinder(suite_folder()))
    numba_types = importlib.import_module("numba.core.types")
    module.types.__path__ = []
    sys.modules["numba.cuda.types.ext_types"] = module.types
    for name in dir(numba_types):
        if not name.startswith("_") and name not in vars(module):
            setattr(module, name, getattr(numba_types, name))
    testing = importlib.import_module("numba.cuda.testing")
    support = importlib.import_module(f"{_ROOT}.support")

    class CUDATestCase(support.TestCase):
        FLOAT16_RTOL = 2.0**-10

        def assertFileCheckAsm(self, *arguments: Any, **keywords: Any) -> None:
            self.skipTest("compares NVIDIA's assembly text")

        assertFileCheckLLVM = assertFileCheckMatches = assertFileCheckAsm

    testing.CUDATestCase = testing.ContextResettingTestCase = CUDATestCase
    testing.skip_on_standalone_numba_cuda = lambda test: test
    testing.__dict__["__getattr__"] = _keep_unknown


def _keep_unknown(name: str) -> Any:
    """`skip_…` of numba.cuda.testing that we do not have: nothing is skipped for want of NVIDIA's tools."""
    if not name.startswith("skip_"):
        raise AttributeError(name)
    return lambda *arguments: arguments[0] if arguments and callable(arguments[0]) else (lambda test: test)


def run_module(name: str) -> dict[str, tuple[str, str]]:
    """The outcome of each test of `numba.cuda.tests.cudapy.<name>`."""
    try:
        module = importlib.import_module(f"{_ROOT}.cudapy.{name}")
    except BaseException as error:
        return {f"cudapy.{name}": ("fail", f"cannot be imported: {type(error).__name__}: {error}"[:_REASON_LENGTH])}
    with open("/dev/null", "w") as sink:
        runner = unittest.TextTestRunner(stream=sink, resultclass=Result)
        result = runner.run(unittest.defaultTestLoader.loadTestsFromModule(module))
    assert isinstance(result, Result)
    return result.outcomes


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    install(sys.argv[1])
    Path(sys.argv[3]).write_text(json.dumps(run_module(sys.argv[2])), encoding="utf-8")
