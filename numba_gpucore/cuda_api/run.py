"""`python -m numba_metal run script.py`: a numba.cuda program, unmodified, on our package. Before: the command line.

The program sees what `python script.py` shows it: sys.argv, sys.path, `__main__`, its own traceback. So do its child
processes (`children`).
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import io
import os
import runpy
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from numba_gpucore.base.options import FLOAT64_CHOICES

#: Options of `run`: for which package, which values, and the environment variable that says the same.
_OPTIONS = {"--float64": ("numba_metal", FLOAT64_CHOICES, "NUMBA_METAL_FLOAT64")}


def run_command(package_name: str, arguments: Sequence[str]) -> int:
    """Run `[options] script.py [args]`, `[options] -m module [args]`; the exit status. Raises SystemExit on wrong usage
    and where the program does."""
    own, program = _split(arguments)
    if own in (["-h"], ["--help"]):
        print(_usage_of(package_name))
        return 0
    for option in own:
        _apply(option, package_name)
    if not program or program == ["-m"]:
        _refuse("what shall run? Give a script, or -m and a module", package_name)
    importlib.import_module(package_name).install_as_cuda()
    if program[0] == "-m":
        return _run_reporting(lambda: _run_module(program[1], program[2:]))
    return _run_reporting(lambda: _run_path(program[0], program[1:]))


def _usage_of(package_name: str) -> str:
    known = [f" [{name}={'|'.join(values)}]" for name, (owner, values, _) in _OPTIONS.items() if owner == package_name]
    return (
        f"usage: python -m {package_name} run{''.join(known)} (script.py | -m module) [arguments of the program]\n\n"
        f"Run a program with {package_name} as numba.cuda, in its child processes too."
    )


def _apply(option: str, package_name: str) -> None:
    name, _, value = option.partition("=")
    owner, values, variable = _OPTIONS.get(name, ("", (), ""))
    if owner != package_name:
        _refuse(f"there is no option {name}", package_name)
    if value not in values:
        _refuse(f"{name} is one of {', '.join(f'{name}={one}' for one in values)}, not {option}", package_name)
    os.environ[variable] = value


def _refuse(message: str, package_name: str) -> NoReturn:
    print(f"{_usage_of(package_name)}\n\npython -m {package_name} run: {message}", file=sys.stderr)
    raise SystemExit(2)


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our options (written `--name=value`), and the program with its arguments."""
    for position, argument in enumerate(arguments):
        if argument == "-m" or not argument.startswith("-"):
            return list(arguments[:position]), list(arguments[position:])
    return list(arguments), []


def _run_reporting(program: Callable[[], None]) -> int:
    """Run it; show an exception as Python does for its main program, without our frames at the start."""
    try:
        program()
    except Exception as error:
        trace = error.__traceback__
        while trace is not None and _is_ours(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 1
    return 0


def _is_ours(filename: str) -> bool:
    return filename == __file__ or filename.startswith("<frozen ")


def _run_path(path: str, arguments: list[str]) -> None:
    """What `python path` does, for a file, or for a folder or zip file that holds a `__main__.py`."""
    sys.argv[:] = [path, *arguments]
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        runpy.run_path(path, run_name="__main__")
        return
    if not os.path.isfile(path):
        print(f"{sys.executable}: can't open file {os.path.abspath(path)!r}: no such file", file=sys.stderr)
        raise SystemExit(2)
    _set_first_path(os.path.dirname(os.path.abspath(path)))
    module = ModuleType("__main__")
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    module.__dict__.update(__file__=path, __loader__=loader, __builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = module  # stays there: threads and exit handlers of the program look for it
    with io.open_code(os.path.abspath(path)) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    exec(code, module.__dict__)


def _set_first_path(folder: str) -> None:
    # Isolated interpreters put no folder of the program first (sys.flags.safe_path is new in Python 3.11).
    if getattr(sys.flags, "safe_path", sys.flags.isolated):
        return
    sys.path[0] = folder
    if importlib.machinery.PathFinder.find_spec("numba_gpucore") is None:
        # We were found in the folder that stood there; processes that multiprocessing spawns get this path.
        sys.path.append(str(Path(__file__).parents[2]))


def _run_module(name: str, arguments: list[str]) -> None:
    """What `python -m name` does."""
    sys.argv[:] = [name, *arguments]  # runpy puts the module's file in the first place
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        found = None
    if found is None:
        print(f"{sys.executable}: No module named {name}", file=sys.stderr)
        raise SystemExit(1)
    runpy.run_module(name, run_name="__main__", alter_sys=True)
