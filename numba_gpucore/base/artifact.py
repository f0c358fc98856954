"""A compiled kernel, free of anything that belongs to one process. Before: compile. After: cache, Device.load."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba_gpucore.base.argtypes import ArgType
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.print_line import PrintLine
from numba_gpucore.base.records import dataclass, field
from numba_gpucore.base.site import Site
from numba_gpucore.base.target import Target


@dataclass(frozen=True)
class CompileRequest:
    """All that decides what is compiled. The launch half makes it, the compile half answers with an Artifact.

    `backend`, `codegen` and `launch_abi` are those of the base.backend.Backend. `arch` is the back-end's own name for a
    device architecture ("sm_90", "apple-msl3.2", "x86-64-v3-linux"); `options` have been resolved for the device:
    `boundscheck` is no longer None.
    """

    py_func: Callable[..., Any]
    target: Target
    backend: str
    codegen: str
    launch_abi: int
    arch: str
    arg_types: tuple[ArgType, ...]
    options: KernelOptions


@dataclass(frozen=True)
class SourceCheck:
    """A module whose `@overload`s, intrinsics or types took part in typing, or from which such a module imports: a
    kernel's bytecode does not lead to them.

    source_digest: of the module's file; empty if it has none, so that nobody can tell whether it changed. is_version:
    `module` is an installed package, and `source_digest` its version.
    needs_loading: where Numba is loaded, the module must be too, as its overloads are not there otherwise; not so where
    the compiler itself has loaded it, as it does with packages that extend Numba by an entry point.
    """

    module: str
    source_digest: str
    needs_loading: bool = True
    is_version: bool = False


@dataclass(frozen=True)
class Artifact:
    """Machine code (or text that a driver compiles) for one kernel, one signature, one architecture.

    entry: symbol to look up in `code`. shared_nbytes: static shared memory of a block. backend_facts: what the
    back-end's loader must know beyond that, as (name, value) pairs sorted by name. sources: must be unchanged for the
    Artifact to be right. held: device arrays whose addresses stand in the code; such an Artifact is of one process.
    """

    kernel_name: str
    entry: str
    backend: str
    arch: str
    launch_abi: int
    arg_types: tuple[ArgType, ...]
    code: bytes
    shared_nbytes: int
    sites: tuple[Site, ...]
    backend_facts: tuple[tuple[str, int], ...] = ()
    sources: tuple[SourceCheck, ...] = ()
    print_lines: tuple[PrintLine, ...] = ()
    held: tuple[Any, ...] = field(default=(), compare=False, repr=False)

    def fact(self, name: str) -> int:
        """The value of one of `backend_facts`. Raises KeyError."""
        return dict(self.backend_facts)[name]
