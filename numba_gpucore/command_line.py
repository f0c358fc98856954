"""`python -m numba_metal …`. Before: the targets' `__main__`. After: cuda_api.run, or warm.command for the rest.

`run` starts a user's program, which must not wait for what the other commands need.
"""

from __future__ import annotations

import importlib
import sys

from numba_gpucore.cuda_api.run import run_command


def main(package_name: str) -> int:
    """Run the command line of a package; its exit status."""
    if sys.argv[1:2] == ["run"]:
        return run_command(package_name, sys.argv[2:])
    status: int = importlib.import_module("numba_gpucore.warm.command").main(package_name)
    return status
