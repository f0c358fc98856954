"""What a child process of a program that runs on our numba.cuda does first. Before: `children`. After: `late_install`.

Python finds this module instead of another `sitecustomize` that the user or the system may have, so it executes that
one too, and takes its own folder off the path.
"""

import importlib.machinery
import importlib.util
import os
import sys


def _execute_next(folder: str) -> None:
    """Execute the `sitecustomize` that Python would have found without us, under its own name."""
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None or spec.origin == os.path.join(folder, "sitecustomize.py"):
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _start() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != folder]
    _execute_next(folder)
    package = os.environ.get("NUMBA_GPU_AS_CUDA")
    if not package:
        return
    if importlib.machinery.PathFinder.find_spec("numba_gpucore") is None:
        # The parent may have found us beside itself, as `python -m` does in the current folder.
        sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(folder))))
    from numba_gpucore.cuda_api.late_install import install_when_imported  # noqa: PLC0415  after the path is right

    install_when_imported(package)


_start()
