"""The door to the compile half, which imports numba. Before: a kernel, or a question that only the compiler can answer.

The one module of the launch half whose functions import `numba_gpucore.compile`, when they are called.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Literal

from numba_gpucore.base.argtypes import ArgType
from numba_gpucore.base.artifact import Artifact, CompileRequest
from numba_gpucore.base.collector import collector_held
from numba_gpucore.base.errors import UnsupportedKernelError
from numba_gpucore.base.overload_store import OverloadStore

Stage = Literal["types", "llvm", "asm", "machine"]


@contextmanager
def _compiler() -> Iterator[Any]:
    """`numba_gpucore.compile.driver`, which Ctrl-C does not interrupt."""
    from numba_gpucore.base.interrupts import interrupts_held  # noqa: PLC0415 - known kernels need no signal handlers

    with interrupts_held():
        with nullcontext() if "numba_gpucore.compile.driver" in sys.modules else collector_held():
            from numba_gpucore.compile import driver  # noqa: PLC0415 - the door

        yield driver


def compile_kernel(
    request: CompileRequest, dump_folder: str | None = None, overload_store: OverloadStore | None = None
) -> Artifact:
    """Compile one kernel. Raises Numba's typing errors, UnsupportedKernelError, ToolchainError.

    dump_folder: gets the text of every stage. overload_store: where lowered implementations of Numba's functions are.
    """
    with _compiler() as driver:
        try:
            artifact: Artifact = driver.compile_kernel(request, dump_folder, overload_store)
        except UnsupportedKernelError as error:
            # The message names the user's lines; a dozen of the compiler's would stand before it.
            raise error.with_traceback(None) from None
    return artifact


def lower_kernel(request: CompileRequest, overload_store: OverloadStore) -> None:
    """Type and lower a kernel, for what that puts into the store. Raises as `compile_kernel`."""
    with _compiler() as driver:
        driver.lower_kernel_into(overload_store, request)


def parse_signature(signature: Any) -> tuple[ArgType, ...]:
    """The argument types of what Numba takes as a signature. Raises TypeError, also for a result other than void."""
    with _compiler() as driver:
        types: tuple[ArgType, ...] = driver.parse_signature(signature)
    return types


def parse_function_signature(signature: Any) -> tuple[tuple[ArgType, ...], ArgType | None]:
    """The argument types and the result type of what Numba takes as a signature; None where it is void or unsaid."""
    from numba_gpucore.compile import signatures  # noqa: PLC0415 - the door

    return signatures.parse_function_signature(signature)


def result_type_of(request: CompileRequest) -> ArgType:
    """What a device function returns. Raises Numba's typing errors."""
    with _compiler():
        from numba_gpucore.compile import signatures  # noqa: PLC0415 - the door

        result: ArgType = signatures.result_type_of(request)
    return result


def variable_types(request: CompileRequest) -> dict[str, ArgType]:
    """Types that inference gives a kernel's variables, by name; those that no argument can have are left out."""
    with _compiler() as driver:
        found: dict[str, ArgType] = driver.variable_types(request)
    return found


def inspect(request: CompileRequest, stage: Stage) -> str:
    """The text of one stage of a compilation: Numba's typed IR, LLVM device IR, what the back-end emits, or
    the machine code of that."""
    with _compiler() as driver:
        text: str = driver.inspect_stage(request, stage)
    return text


def pickle_function(function: Any) -> bytes:
    """A pickle of a Python function by value, with what it mentions. `pickle.loads` reads it where Numba is."""
    from numba import cloudpickle  # noqa: PLC0415 - the door

    pickled: bytes = cloudpickle.dumps(function)
    return pickled


def numba_type_of(function: Any) -> Any:
    """The Numba type of a Kernel or DeviceFunction that another program mentions."""
    with _compiler() as driver:
        return driver.numba_type_of(function)


def numba_type_of_argument(type_: ArgType) -> Any:
    """The Numba type that stands for an argument type."""
    from numba_gpucore.compile import numba_types  # noqa: PLC0415 - the door

    return numba_types.to_numba(type_)


def numba_type_of_value(value: Any) -> Any:
    """`numba.typeof(value)`: for argument handlers, which speak in Numba's types."""
    from numba import typeof  # noqa: PLC0415 - the door

    return typeof(value)
