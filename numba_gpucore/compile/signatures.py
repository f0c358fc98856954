"""Signatures of functions that return something, and results of functions without one. Before: launch.miss. After:
ufuncs."""

from __future__ import annotations

from typing import Any

from numba_gpucore.base.argtypes import ArgType
from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.compile.numba_api import global_compiler_lock, types
from numba_gpucore.compile.numba_types import from_numba, read_signature
from numba_gpucore.compile.run_passes import lower_function


def parse_function_signature(signature: Any) -> tuple[tuple[ArgType, ...], ArgType | None]:
    """Argument types and result type of what Numba takes as a signature; None where it is void or not said."""
    args, return_type = read_signature(signature)
    is_void = return_type in (None, types.none, types.void)
    return tuple(map(from_numba, args)), None if is_void else from_numba(return_type)


@global_compiler_lock
def result_type_of(request: CompileRequest) -> ArgType:
    """What a device function returns. Raises what `explain_error` makes of Numba's errors."""
    return from_numba(types.unliteral(lower_function(request).signature.return_type))
