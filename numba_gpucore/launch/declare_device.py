"""Declares functions of other compilers. Before: the user's declare_device. After: foreign_function, in kernels."""

from __future__ import annotations

from typing import Any

from numba_gpucore.base.errors import NotOfferedError, OptionError
from numba_gpucore.foreign_function import ForeignFunction
from numba_gpucore.launch.eager import parse_function_signature
from numba_gpucore.launch.linked_code import read_linked_code

_ABIS = ("numba", "c")


def declare_device(
    name: str, sig: Any, link: Any = None, use_cooperative: bool = False, abi: str = "numba"
) -> ForeignFunction:
    """Declare a function of another compiler, for kernels on NVIDIA GPUs to call.

    sig: with its result, such as "float32(float32, int32)". link: a path or LinkableCode, or several: PTX is merged
    into the kernel's, CUDA C++ needs nvcc, other code nvidia-nvjitlink. abi: "c", or "numba" for
    `int32 name(R* result, args...)`. Raises TypeError, OptionError, OSError.
    """
    if not isinstance(name, str):
        raise OptionError(f"a function of another compiler is declared by its name, not by {name!r}")
    if abi not in _ABIS:
        raise UnsupportedAbiError(f"Unsupported ABI: {abi}. It must be 'c' or 'numba'")
    if use_cooperative:
        raise NotOfferedError("declare_device(use_cooperative=True) is not offered: call grid.sync() in the kernel")
    if isinstance(sig, tuple) or (isinstance(sig, str) and sig.lstrip().startswith("(")):
        raise OptionError(f"Return type must be provided for device declarations: 'int32{sig}', say, not {sig!r}")
    return ForeignFunction(name, parse_function_signature(sig), abi, read_linked_code(link))


class UnsupportedAbiError(OptionError, NotImplementedError):
    """numba.cuda raises NotImplementedError."""
