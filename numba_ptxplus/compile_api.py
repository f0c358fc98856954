"""PTX for other tools, without a GPU. Before: a Python function and its types. After: files, nvcc, CUDA C++ programs.

Loaded when one of its functions is first asked for: it imports the compiler. Names and parameters are numba.cuda's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from numba_gpucore.base.argtypes import ArgType
from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.errors import OptionError
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.compile.driver import Lowered, load_codegen, lower_kernel
from numba_gpucore.compile.exported_function import lower_device_function
from numba_gpucore.compile.numba_api import types
from numba_gpucore.cuda_api.devices import DeviceNames
from numba_gpucore.dtypes import Signature
from numba_gpucore.launch.eager import kernel_arg_types, parse_function_signature
from numba_gpucore.launch.jit import python_function_of
from numba_ptxplus.architectures import arch_of
from numba_ptxplus.driver import BACKEND
from numba_ptxplus.driver.abi import FOREIGN_LAUNCH_ABI
from numba_ptxplus.target import PLATFORM, TARGET

DEFAULT_CC = (9, 0)
_ABIS = ("c", "numba")


class UnsupportedOutputError(OptionError, NotImplementedError):
    """An ABI or a kind of code that cannot be made; numba.cuda raises NotImplementedError."""


def compile_ptx(
    pyfunc: Callable[..., Any],
    sig: Any,
    device: bool = False,
    cc: tuple[int, ...] | str = DEFAULT_CC,
    fastmath: bool = False,
    debug: bool = False,
    lineinfo: bool = False,
    opt: bool | int = True,
    abi: str = "numba",
    abi_info: Mapping[str, Any] | None = None,
    launch_bounds: int | tuple[int, ...] | None = None,
    max_registers: int | None = None,
) -> tuple[str, Any]:
    """Compile a kernel, or with `device` a device function, to PTX for one architecture. No GPU is needed or opened.

    sig: as for `jit`, e.g. "void(float32[::1], int32)"; what a device function returns is cast to a declared return
    type. cc: compute capability, (9, 0), (9, 0, "a") or "90a". abi, abi_info: how other code calls a device function;
    "c" takes the symbol's name from `abi_info["abi_name"]`, else from the Python function. A thread that throws only
    ends: other programs, which launch the kernel, have no mailbox for it.

    Returns the PTX and the Numba type that the function returns. Raises OptionError, UnsupportedOutputError, Numba's
    typing errors, UnsupportedKernelError.
    """
    keywords = {
        "device": device,
        "fastmath": fastmath,
        "debug": debug,
        "lineinfo": lineinfo,
        "opt": opt,
        "boundscheck": debug,
        "launch_bounds": launch_bounds,
        "max_registers": max_registers,
    }
    signature = parse_function_signature(sig) if device else Signature(kernel_arg_types(sig))
    request = make_request(pyfunc, signature.args, cc, KernelOptions.from_keywords(keywords))
    lowered = _lower(request, signature, abi, abi_info or {})
    return emit(lowered, request), lowered.result.signature.return_type if device else types.void


def compile(
    pyfunc: Callable[..., Any],
    sig: Any,
    device: bool = True,
    abi: str = "c",
    output: str = "ptx",
    **options: Any,
) -> tuple[str, Any]:
    """`compile_ptx` with numba.cuda.compile's defaults: a device function with C's convention.

    output: only "ptx". NVIDIA's LTO-IR can be made by NVIDIA's own compilers only.
    """
    if output != "ptx":
        raise UnsupportedOutputError(
            f"Unsupported output type: {output}. It must be 'ptx': LTO-IR needs NVIDIA's compiler; nvcc -dlto takes PTX"
        )
    return compile_ptx(pyfunc, sig, device=device, abi=abi, **options)


def compile_all(pyfunc: Callable[..., Any], sig: Any, **options: Any) -> tuple[list[str], Any]:
    """As `compile`, but gives a list of all codes that have to be linked: here always one, since all is linked in."""
    code, return_type = compile(pyfunc, sig, **options)
    return [code], return_type


def compile_ptx_for_current_device(pyfunc: Callable[..., Any], sig: Any, **options: Any) -> tuple[str, Any]:
    """`compile_ptx` for the compute capability of the device in use."""
    return compile_ptx(pyfunc, sig, cc=_current_capability(), **options)


def compile_for_current_device(pyfunc: Callable[..., Any], sig: Any, **options: Any) -> tuple[str, Any]:
    """`compile` for the compute capability of the device in use."""
    return compile(pyfunc, sig, cc=_current_capability(), **options)


def _current_capability() -> tuple[int, int]:
    return DeviceNames(PLATFORM).current_device().compute_capability


def make_request(
    pyfunc: Callable[..., Any], arg_types: tuple[ArgType, ...], cc: tuple[int, ...] | str, options: KernelOptions
) -> CompileRequest:
    function = python_function_of(pyfunc)
    return CompileRequest(
        function, TARGET, BACKEND.kind, BACKEND.codegen, FOREIGN_LAUNCH_ABI, arch_of(cc), arg_types, options
    )


def _lower(request: CompileRequest, signature: Signature, abi: str, abi_info: Mapping[str, Any]) -> Lowered:
    if abi not in _ABIS:
        raise UnsupportedOutputError(f"Unsupported ABI: {abi}. It must be 'c' or 'numba'")
    if request.options.device:
        return lower_device_function(request, abi, abi_info.get("abi_name"), signature.result)
    if abi == "c":
        raise UnsupportedOutputError("The C ABI is not supported for kernels: use abi='numba', or device=True")
    return lower_kernel(request)


def emit(lowered: Lowered, request: CompileRequest) -> str:
    codegen = load_codegen(request)
    return codegen.emit(codegen.legalize(lowered.module, lowered.job), lowered.job)
