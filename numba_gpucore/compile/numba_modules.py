"""Numba's own implementation modules that most kernels use. Before: nothing. After: numba_api, contexts.

Two of them take a name or two each from modules that few kernels use: `arrayobj` from `charseq`, which brings all that
Numba knows of texts, and from its sorts; `inline_closurecall` from `listobj`. Here they find something in place of
these names that imports the module when it is called: 15 ms less to import, and a third less to register, in a
session's first launch (Numba 0.68). `late_features` loads the modules where a program needs them.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from numba.core import types
from numba.core.compiler_lock import global_compiler_lock

_TEXTS, _LISTS = "numba.cpython.charseq", "numba.cpython.listobj"


def _when_called(module: str, name: str) -> Any:
    def call(*args: Any, **keywords: Any) -> Any:
        return getattr(import_module(module), name)(*args, **keywords)

    return call


def _import_without(left_out: dict[str, dict[str, Any]], importer: str) -> ModuleType:
    """Import the module `importer`, for which modules that are left out have the names given here only, unless they
    are there anyway."""
    # Threads that compile with Numba meanwhile wait for this lock, and never see a stand-in.
    with global_compiler_lock:
        missing = [] if importer in sys.modules else [module for module in left_out if module not in sys.modules]
        for module in missing:
            sys.modules[module] = stand_in = ModuleType(module)
            vars(stand_in).update(left_out[module])
        try:
            return import_module(importer)
        except ImportError:  # a version of Numba in which it takes more
            pass
        finally:
            for module in missing:
                del sys.modules[module]
        return import_module(importer)


arrayobj: Any = _import_without(
    {
        _TEXTS: {
            "_make_constant_bytes": _when_called(_TEXTS, "_make_constant_bytes"),
            "bytes_type": types.Bytes(types.uint8, 1, "C", readonly=True),
        },
        **{
            f"numba.misc.{sort}": {f"make_jit_{sort}": _when_called(f"numba.misc.{sort}", f"make_jit_{sort}")}
            for sort in ("quicksort", "mergesort")
        },
    },
    "numba.np.arrayobj",
)
_import_without(
    {_LISTS: {"ListIterInstance": _when_called(_LISTS, "ListIterInstance")}}, "numba.core.inline_closurecall"
)

from numba.core import optional  # noqa: E402, F401 (these fill Numba's registries; arrayobj comes before them)
from numba.cpython import builtins, enumimpl, iterators, numbers, rangeobj, slicing, tupleobj  # noqa: E402, F401
from numba.misc import literal  # noqa: E402, F401
from numba.np.unsafe import ndarray  # noqa: E402, F401
