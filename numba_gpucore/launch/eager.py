"""Signatures that users declare, in any form. Before: jit, Kernel.compile. After: the kernel's table."""

from __future__ import annotations

from typing import Any

from numba_gpucore.base.argtypes import ArgType
from numba_gpucore.base.errors import OptionError
from numba_gpucore.dtypes import Signature, names_type, signature_of
from numba_gpucore.launch import miss
from numba_gpucore.launch.signature_text import parse_signature_text


def is_type(value: Any) -> bool:
    """True for what names a type in a signature: ours, and Numba's (told by its module, so that it is not loaded)."""
    return names_type(value) or type(value).__module__.startswith(("numba.core.types", "numba.np.types"))


def parse_signature(signature: Any) -> Signature:
    """Any form of signature as types; Numba is asked for those that only it understands. Raises TypeError."""
    parsed = parse_signature_text(signature) if isinstance(signature, str) else signature_of(signature)
    return parsed or Signature(miss.parse_signature(signature))


def kernel_arg_types(signature: Any) -> tuple[ArgType, ...]:
    """The argument types of a kernel's signature. Raises TypeError where the result is not void."""
    parsed = parse_signature(signature)
    if parsed.result is not None:
        raise OptionError(
            f"a kernel must have void return type, not {parsed.result}, in signature {str(signature)!r}; "
            "store results in an array argument"
        )
    return parsed.args
