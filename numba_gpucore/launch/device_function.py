"""Functions for kernels to call. Before: jit(device=True). After: the compile half, when a kernel mentions one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from numba_gpucore.base.errors import KernelLanguageError, NotAKernelError
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.target import Target
from numba_gpucore.dtypes import Signature
from numba_gpucore.launch import miss
from numba_gpucore.launch.eager import parse_function_signature
from numba_gpucore.launch.platform import Platform


class DeviceFunction:
    """A Python function that kernels call; compiled for each caller, never on its own.

    `signatures` are those that the decorator was given, as it was given them.
    """

    def __init__(
        self, py_func: Callable[..., Any], platform: Platform, options: KernelOptions, signatures: tuple[Any, ...] = ()
    ):
        functools.update_wrapper(self, py_func)
        self.py_func = py_func
        self.platform = platform
        self.options = options
        self.signatures = signatures

    @functools.cached_property
    def declared(self) -> tuple[Signature, ...]:
        """The signatures as types: calls are converted to the one that fits best. Raises TypeError."""
        return tuple(map(parse_function_signature, self.signatures))

    @property
    def target(self) -> Target:
        return self.platform.target

    @property
    def _numba_type_(self) -> Any:
        return miss.numba_type_of(self)

    def __call__(self, *args: Any, **keywords: Any) -> NoReturn:
        raise KernelLanguageError(
            f"device function '{self.py_func.__name__}' can be called from kernels only; on the host call .py_func"
        )

    def __getitem__(self, _configuration: Any) -> NoReturn:
        raise NotAKernelError(
            f"Cannot compile a device function as a kernel: '{self.py_func.__name__}' was declared with device=True; "
            "leave that out to launch it"
        )

    def __repr__(self) -> str:
        return f"<device function {self.py_func.__qualname__} of {self.target.package}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        from numba_gpucore.launch.pickling import reduce_decorated  # noqa: PLC0415  0.1 ms

        return reduce_decorated(self, self.py_func, (self.py_func, self.platform, self.options, self.signatures))


class LibraryFunction:
    """A device function of ours, for kernels of every target; the host can call it too, on NumPy's numbers."""

    def __init__(self, py_func: Callable[..., Any]):
        functools.update_wrapper(self, py_func)
        self.py_func = py_func
        self.options = KernelOptions(device=True)

    def __call__(self, *args: Any) -> Any:
        with np.errstate(over="ignore"):  # integers wrap around, as on a device
            return self.py_func(*args)

    def __repr__(self) -> str:
        return f"<device function {self.py_func.__qualname__}>"

    def __reduce__(self) -> str:
        return self.py_func.__qualname__


def library_function(py_func: Callable[..., Any]) -> LibraryFunction:
    """Decorator for functions of `cuda_api` that kernels call."""
    return LibraryFunction(py_func)
