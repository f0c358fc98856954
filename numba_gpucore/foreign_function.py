"""Functions of other compilers that kernels call. Before: launch.declare_device. After: compile.foreign."""

from __future__ import annotations

from typing import Any, NoReturn

from numba_gpucore.base.errors import KernelLanguageError
from numba_gpucore.base.linked_code import LinkedCode
from numba_gpucore.base.records import dataclass
from numba_gpucore.dtypes import Signature


@dataclass(frozen=True)
class ForeignFunction:
    """abi: "c", or "numba": `int32 name(R* result, args...)`. linked: code that defines it."""

    name: str
    sig: Signature
    abi: str
    linked: tuple[LinkedCode, ...]

    def __call__(self, *args: Any) -> NoReturn:
        raise KernelLanguageError(f"foreign function '{self.name}' can be called from kernels only")
