"""Signatures that users declare, in any form. Before: jit, Kernel.compile. After: the kernel's table."""

from __future__ import annotations

from typing import Any

from numba_gpucore.base.argtypes import ArgType
from numba_gpucore.base.errors import OptionError
from numba_gpucore.dtypes import Signature, is_numba_type, signature_of
from numba_gpucore.launch import miss


def parse_signature(signature: Any) -> Signature:
    """Any form of signature as types; Numba is asked for those that only it understands. Raises TypeError."""
    return _parse_ours(signature) or Signature(miss.parse_signature(signature))


def parse_function_signature(signature: Any) -> Signature:
    """The same for a function that may return something, whose result is None where the signature does not say."""
    return _parse_ours(signature) or Signature(*miss.parse_function_signature(signature))


def _parse_ours(signature: Any) -> Signature | None:
    """What a signature says without Numba; None where only Numba understands it."""
    if isinstance(signature, str):
        from numba_gpucore.launch.signature_text import parse_signature_text  # noqa: PLC0415  0.2 ms

        return parse_signature_text(signature)
    parsed = signature_of(signature)
    return parsed and Signature(tuple(map(_resolve, parsed.args)), parsed.result)


def _resolve(type_: Any) -> ArgType:
    return miss.parse_signature((type_,))[0] if is_numba_type(type_) else type_


def kernel_arg_types(signature: Any) -> tuple[ArgType, ...]:
    """The argument types of a kernel's signature. Raises TypeError where the result is not void."""
    parsed = parse_signature(signature)
    if parsed.result is not None:
        raise OptionError(
            f"a kernel must have void return type, not {parsed.result}, in signature {str(signature)!r}; "
            "store results in an array argument"
        )
    return parsed.args
