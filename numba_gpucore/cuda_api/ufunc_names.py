"""vectorize, guvectorize and reduce, loaded when one is first used. Before: names. After: ufuncs.decorators."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from numba_gpucore.launch.platform import Platform


class UFuncNames:
    """The public functions that make ufuncs, for one target."""

    def __init__(self, platform: Platform):
        self._platform = platform

    def _call(self, name: str, *arguments: Any, **keywords: Any) -> Any:
        decorators = importlib.import_module("numba_gpucore.ufuncs.decorators")
        return getattr(decorators, name)(self._platform, *arguments, **keywords)

    def vectorize(self, ftylist_or_function: Any = (), **keywords: Any) -> Any:
        """A function of numbers as one of arrays: `@vectorize`, `@vectorize(["float32(float32)"], identity=0)`.

        Call the result with arrays, device arrays and numbers; `out=` and `stream=` as in numba.cuda.
        """
        return self._call("vectorize", ftylist_or_function, **keywords)

    def guvectorize(self, *ftylist_and_signature: Any, **keywords: Any) -> Any:
        """A function of parts of arrays as one of arrays: `@guvectorize(["void(f4[:], f4[:])"], "(n)->()")`.

        Without the list of signatures, as `@guvectorize("(n)->()")`, each call gives inputs and outputs, whose types
        decide what is compiled.
        """
        return self._call("guvectorize", *ftylist_and_signature, **keywords)

    def reduce(self, functor: Callable[..., Any]) -> Any:
        """A function of two numbers as one that reduces 1-D arrays: `reduce(f)(array, size, res, init, stream)`."""
        return self._call("reduce", functor)
