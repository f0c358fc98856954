"""NVIDIA's linker, which also assembles: for machines without ptxas and for code that is not PTX. Before: emit.

Source: NVIDIA, "nvJitLink"; reached by cuda-bindings, which finds the library of the package nvidia-nvjitlink.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from numba_gpucore.base.errors import ToolchainError
from numba_gpucore.base.linked_code import LinkedCode
from numba_gpucore.base.options import KernelOptions
from numba_ptxplus.toolchain import NVJITLINK_PACKAGE, find_nvjitlink

_INPUT_TYPES = {
    "ptx": "PTX", "cubin": "CUBIN", "fatbin": "FATBIN", "object": "OBJECT", "archive": "LIBRARY", "ltoir": "LTOIR",
}  # fmt: skip


def import_nvjitlink() -> ModuleType | None:
    """`cuda.bindings.nvjitlink`, None where it or the library is missing."""
    if find_nvjitlink() is None:
        return None
    try:
        from cuda.bindings import nvjitlink  # noqa: PLC0415  an optional vendor package
    except ImportError:
        return None
    module: ModuleType = nvjitlink
    return module


def link_ptx(ptx: str, codes: Sequence[LinkedCode], arch: str, options: KernelOptions) -> bytes:
    """The cubin for `arch` of a kernel's PTX and `codes`. Raises ToolchainError with the linker's log."""
    nvjitlink = import_nvjitlink()
    if nvjitlink is None:
        names = ", ".join(code.name for code in codes)
        raise ToolchainError(f"linking {names} needs nvJitLink: pip install {NVJITLINK_PACKAGE} cuda-bindings")
    flags = [f"-arch={arch}"]
    if options.debug:
        flags.append("-g")
    elif options.lineinfo:
        flags.append("-lineinfo")
    if options.opt == 0 and not options.debug:
        flags.append("-O0")
    if any(code.kind == "ltoir" for code in codes):
        flags.append("-lto")
    handle = nvjitlink.create(len(flags), flags)
    try:
        for code in (LinkedCode("kernel", "ptx", ptx.encode() + b"\0"), *codes):
            kind = getattr(nvjitlink.InputType, _INPUT_TYPES[code.kind])
            nvjitlink.add_data(handle, kind, code.data, len(code.data), code.name)
        nvjitlink.complete(handle)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
        return bytes(cubin)
    except nvjitlink.nvJitLinkError as error:
        raise ToolchainError(f"nvJitLink refused the program: {error}\n{_error_log(nvjitlink, handle)}") from error
    finally:
        nvjitlink.destroy(handle)


def _error_log(nvjitlink: Any, handle: int) -> str:
    log = bytearray(nvjitlink.get_error_log_size(handle))
    nvjitlink.get_error_log(handle, log)
    return log.split(b"\0", 1)[0].decode(errors="replace").strip()
