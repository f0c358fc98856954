"""`numba.cuda` is ours in child processes too. Before: install_as_cuda(). After: `bootstrap` in a child's start-up.

Python imports the module `sitecustomize` when it starts (docs.python.org, "site"). A child inherits the environment, so
a folder with such a module, first in PYTHONPATH, reaches children started by subprocess, multiprocessing or a shell.
Python's options -E, -I and -S keep it out.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping

#: Names the package that is numba.cuda in a process and its children.
PACKAGE_VARIABLE = "NUMBA_GPU_AS_CUDA"
_BOOTSTRAP = os.path.join(os.path.dirname(__file__), "bootstrap")


def install_in_children(package_name: str, environ: MutableMapping[str, str] = os.environ) -> None:
    """Make processes that are started with `environ` import the package as `numba.cuda`. Idempotent."""
    environ[PACKAGE_VARIABLE] = package_name
    others = [path for path in environ.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", _BOOTSTRAP)]
    environ["PYTHONPATH"] = os.pathsep.join([_BOOTSTRAP, *others])
