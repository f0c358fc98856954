"""`python -m PACKAGE run`: what `python script.py` shows a program, it sees too, and so do its child processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
Runner = Callable[..., subprocess.CompletedProcess[str]]
PACKAGES = ["numba_metal", "numba_ptxplus"]
CPU = {"NUMBA_METAL_DEVICE": "cpu", "NUMBA_PTXPLUS_DEVICE": "cpu"}

SHOW_SURROUNDINGS = """
import sys
print(__name__, __file__, __spec__ is None, sys.argv, sys.path[0], sys.modules["__main__"].__dict__ is globals())
"""


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "script.py"
        path.write_text(text)
        return path

    return write


def run_failing(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_script_sees_what_python_shows_it(run_python: Runner, script) -> None:
    path = script(SHOW_SURROUNDINGS)
    arguments = [path, "--help", "-m", "x"]
    assert run_python("-m", "numba_metal", "run", *arguments).stdout == run_python(*arguments).stdout


def test_module_sees_what_python_shows_it(run_python: Runner) -> None:
    command = ["-m", "timeit", "-n", "1", "-r", "1", "import sys; assert sys.argv[1:] == ['-n', '1', '-r', '1']", "0"]
    assert "loop" in run_python(*command[:6], "pass").stdout
    assert "loop" in run_python("-m", "numba_ptxplus", "run", *command[:6], "pass").stdout


def test_zip_files_run(run_python: Runner, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "program.pyz", "w") as archive:
        archive.writestr("__main__.py", "import helper; print(helper.VALUE, __name__)")
        archive.writestr("helper.py", "VALUE = 5")
    assert run_python("-m", "numba_metal", "run", tmp_path / "program.pyz").stdout == "5 __main__\n"


@pytest.mark.parametrize("package", PACKAGES)
def test_numba_cuda_is_the_package(package: str, run_python: Runner, script) -> None:
    """Nothing of numba is loaded until the program asks for something else of it."""
    path = script("import sys\nfrom numba import cuda\nprint(cuda.__name__, 'numba.core' in sys.modules)")
    assert run_python("-m", package, "run", path).stdout == f"{package} False\n"


def test_exceptions_show_the_program_only(script) -> None:
    path = script("def f():\n    raise ValueError('mine')\nf()\n")
    ran, plain = run_failing("-m", "numba_metal", "run", path), run_failing(path)
    assert (ran.returncode, ran.stderr) == (plain.returncode, plain.stderr)
    assert "ValueError: mine" in ran.stderr


def test_exit_status_is_the_programs(script) -> None:
    assert run_failing("-m", "numba_metal", "run", script("import sys; sys.exit(7)")).returncode == 7


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["no_such_file.py"], 2, "can't open file"),
        (["-m", "no_such_module"], 1, "No module named no_such_module"),
        (["-m"], 2, "what shall run?"),
        ([], 2, "what shall run?"),
        (["--wrong", "script.py"], 2, "there is no option --wrong"),
    ],
)
def test_wrong_usage_is_told(arguments: list[str], status: int, message: str) -> None:
    result = run_failing("-m", "numba_ptxplus", "run", *arguments)
    assert result.returncode == status
    assert message in result.stderr


def test_float64_option_sets_the_variable(run_python: Runner, script) -> None:
    path = script("import os, sys; print(os.environ['NUMBA_METAL_FLOAT64'], sys.argv[1:])")
    assert run_python("-m", "numba_metal", "run", "--float64=float32", path, "1").stdout == "float32 ['1']\n"
    assert run_failing("-m", "numba_ptxplus", "run", "--float64=float32", path).returncode == 2


CHILDREN = """
import multiprocessing, subprocess, sys

def name_of_cuda(_):
    from numba import cuda
    return cuda.__name__

if __name__ == "__main__":
    code = "from numba import cuda; import sys; print(cuda.__name__, 'numba.core' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    code = "import numba.core.types as types, numba.cuda; print(types.int32, numba.cuda.__name__)"
    subprocess.run([sys.executable, "-c", code], check=True)
    code = "import sys; print([m for m in sys.modules if m[:3] in ('num', 'llv')], 'bootstrap' in str(sys.path))"
    subprocess.run([sys.executable, "-c", code], check=True)
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(method, *pool.map(name_of_cuda, [0]), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_children_use_the_package_too(script) -> None:
    """From a folder that children do not have on their path; numba is loaded in those only that use it."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "numba_ptxplus", "run", str(script(CHILDREN))]
    result = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    lines = result.stdout.splitlines()
    modules = "['numba_gpucore', 'numba_gpucore.cuda_api', 'numba_gpucore.cuda_api.late_install'] False"
    assert lines[:3] == ["numba_ptxplus False", "int32 numba_ptxplus", modules]
    assert lines[3:] == [f"{method} numba_ptxplus" for method in ("fork", "spawn", "forkserver")]


OTHER_CUSTOMIZE = """
import importlib.abc, importlib.machinery, sys

class Redirector(importlib.abc.MetaPathFinder, importlib.abc.Loader):   # as numba-cuda's stands first in every process
    def find_spec(self, name, path=None, target=None):
        if name == "numba.cuda":
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def exec_module(self, module):
        module.jit = "theirs"

sys.meta_path.insert(0, Redirector())
print("customized")
"""


def test_another_redirector_does_not_win(script, tmp_path: Path) -> None:
    """A `sitecustomize` of the user's is executed all the same, in the program and in its children."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(OTHER_CUSTOMIZE)
    code = "from numba import cuda; print(cuda.__name__)"
    path = script(
        f"{code}\nimport subprocess, sys\nsys.stdout.flush()\nsubprocess.run([sys.executable, '-c', {code!r}])"
    )
    search_path = os.pathsep.join([str(tmp_path / "site"), str(ROOT)])
    result = run_failing("-m", "numba_metal", "run", path, PYTHONPATH=search_path)
    assert result.stdout.splitlines() == ["customized", "numba_metal"] * 2, result.stderr


@pytest.mark.parametrize(("package", "way"), [("numba_metal", "option"), ("numba_ptxplus", "conftest")])
def test_pytest_plugin(package: str, way: str, run_python: Runner, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        f"from numba import cuda\ndef test_name():\n    assert cuda.__name__ == {package!r}\n"
    )
    conftest = "from numba import cuda\nNAME = cuda.__name__\n"
    options = ["-p", f"{package}.pytest_plugin"]
    if way == "conftest":
        conftest, options = f"pytest_plugins = ['{package}.pytest_plugin']\n", []
    (tmp_path / "conftest.py").write_text(conftest)
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "--rootdir", tmp_path, tmp_path / "test_it.py"]
    assert "1 passed" in run_python(*command).stdout


NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
for cell in (
    "%load_ext numba_metal",
    "import numpy as np\\nfrom numba import cuda\\nprint(cuda.__name__)",
    "@cuda.jit\\ndef store(x, i):\\n    j = i + 1\\n    x[j] = 7\\n    print('stored')\\nx = np.zeros(3, np.float32)",
    "store[1, 1](x, 0)\\nx.tolist()",
    "store[1, 1](x, 5)",
    "%reload_ext numba_metal",
    "@cuda.jit\\ndef store(x, i):\\n    x[i] = 8\\nstore[1, 1](x, 0)\\nx.tolist()",
    "import subprocess, sys",
    "!{sys.executable} -c 'from numba import cuda; print(cuda.__name__)'",
):
    result = shell.run_cell(cell, store_history=True)
    print("->", result.result, type(result.error_in_exec).__name__)
"""


def test_jupyter_extension(run_python: Runner, tmp_path: Path) -> None:
    """Cells as a notebook's shell runs them: kernels defined in them, changed, failing at a line of theirs."""
    output = run_python("-c", NOTEBOOK, IPYTHONDIR=str(tmp_path), NUMBA_METAL_DEVICE="cpu").stdout
    output = re.sub(r"\x1b\[[0-9;]*m", "", output)
    ends = [line for line in output.splitlines() if line.startswith("-> ")]
    nothing = "-> None NoneType"
    assert ends == [
        nothing, nothing, nothing, "-> [0.0, 7.0, 0.0] NoneType", "-> None IndexError", nothing,
        "-> [8.0, 7.0, 0.0] NoneType", nothing, nothing,
    ]  # fmt: skip
    assert output.count("numba_metal\n") == 2
    assert output.count("stored\n") == 1
    error = output[output.index("IndexError") :]
    assert "----> 4     x[j] = 7" in error and "IndexError: index 6 is out of bounds for axis 0 with size 3" in error
