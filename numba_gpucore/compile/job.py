"""What one compilation is about, from linking to assembling. Before: CompileRequest. After: every Codegen reads it."""

from __future__ import annotations

from collections.abc import Callable

from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.linked_code import LinkedCode
from numba_gpucore.base.params import ParamSlot
from numba_gpucore.base.print_line import PrintLine
from numba_gpucore.base.records import dataclass, field
from numba_gpucore.base.site import Site
from numba_gpucore.compile.intrinsics import SharedArray


@dataclass(frozen=True)
class Job:
    """`entry` names the device IR function `void (ptr ctx, <one parameter for each slot>)`; pointers are generic.

    `intrinsics`: names of the neutral intrinsics that the module still declares, `gpu.libdevice.*` and
    `gpu.foreign.*` among them; `sites` in the order of their indices (the definition of `gpu.site.<id>` returns the
    index); `shared_arrays` in the order of first use; `linked_code`: what defines the functions behind
    `gpu.foreign.*`; `find_place`: from an intrinsic to the user's file and line that need it first.
    """

    request: CompileRequest
    entry: str
    slots: tuple[ParamSlot, ...]
    intrinsics: frozenset[str]
    shared_arrays: tuple[SharedArray, ...]
    sites: tuple[Site, ...]
    print_lines: tuple[PrintLine, ...] = ()
    has_recursion: bool = False
    linked_code: tuple[LinkedCode, ...] = ()
    find_place: Callable[[str], tuple[str, int]] | None = field(default=None, compare=False, repr=False)

    def place_of(self, intrinsic: str) -> tuple[str, int]:
        """The user's file and line that need an intrinsic; the function's first line where that is not known."""
        if self.find_place is not None:
            return self.find_place(intrinsic)
        code = self.request.py_func.__code__
        return code.co_filename, code.co_firstlineno
