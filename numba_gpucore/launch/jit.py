"""The decorator. Before: the user's source. After: Kernel or DeviceFunction."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from numba_gpucore.base.errors import OptionError
from numba_gpucore.dtypes import Signature
from numba_gpucore.launch import advice
from numba_gpucore.launch.device_function import DeviceFunction
from numba_gpucore.launch.eager import kernel_arg_types
from numba_gpucore.launch.kernel import Kernel
from numba_gpucore.launch.linked_code import read_linked_code
from numba_gpucore.launch.platform import Platform

#: Keywords of numba.cuda.jit that change neither results nor limits here: hints, or NVIDIA's tool chain only.
_WITHOUT_EFFECT = frozenset({"forceinline", "lto", "shared_memory_carveout", "bind"})
#: Keywords of numba.cuda.jit that mean something we do not offer, unless they are empty.
_NOT_OFFERED = {"abi": "a foreign calling convention", "abi_info": "a foreign symbol"}


def jit(platform: Platform, func_or_sig: Any = None, **keywords: Any) -> Any:
    """`@jit`, `@jit()`, `@jit(signature)`, `@jit([signatures])`, `@jit(device=True)`, `jit(function)`.

    warm: signatures that `python -m numba_metal warm` and the build hook compile; any others can be called too.
    Returns a Kernel or DeviceFunction, or a decorator that makes one. Raises OptionError.
    """
    signatures, function = _split_first_argument(func_or_sig, keywords.pop("argtypes", None))
    extensions = tuple(keywords.pop("extensions", None) or ())
    to_warm = _check_warm_list(keywords.pop("warm", None))
    keywords["link"] = read_linked_code(keywords.get("link"))
    options = platform.target.options_class.from_keywords(_known_keywords(keywords))
    if options.debug and options.opt and platform.target.speaks_as_cuda:
        advice.warn_about_debug_and_opt()
    if options.debug and options.lineinfo and platform.target.speaks_as_cuda:
        advice.warn_about_debug_and_lineinfo()

    def decorate(decorated: Any) -> Kernel | DeviceFunction:
        # As in numba.cuda: of a kernel, or of what `numba.jit` made for CPUs, the function, with the new options.
        py_func = getattr(decorated, "py_func", decorated)
        if not isinstance(py_func, FunctionType):
            raise OptionError(f"jit takes a Python function, a signature or options, not {decorated!r}")
        if inspect.iscoroutinefunction(py_func):
            raise OptionError(f"'{py_func.__name__}' is an async function, which cannot be a kernel")
        if options.device:
            return DeviceFunction(py_func, platform, options, signatures)
        kernel = Kernel(py_func, platform, options, tuple(map(kernel_arg_types, signatures)), extensions, to_warm)
        kernel.compile_declared()
        return kernel

    return decorate if function is None else decorate(function)


def python_function_of(value: Any) -> FunctionType:
    """A Python function itself, or that from which a kernel, device function or dispatcher was made.

    Raises OptionError for anything else."""
    function = getattr(value, "py_func", value)
    if not isinstance(function, FunctionType):
        raise OptionError(f"a Python function is compiled, not {value!r}")
    return function


def _split_first_argument(func_or_sig: Any, argtypes: Any) -> tuple[tuple[Any, ...], Any]:
    if argtypes is not None:
        return (tuple(argtypes),), func_or_sig
    if func_or_sig is None:
        return (), None
    if isinstance(func_or_sig, list):
        return tuple(func_or_sig), None
    if is_signature(func_or_sig):
        return (func_or_sig,), None
    return (), func_or_sig


def _check_warm_list(signatures: Any) -> tuple[Any, ...]:
    if signatures is None:
        return ()
    if not isinstance(signatures, list) or not all(map(is_signature, signatures)):
        raise OptionError(f'warm must be a list of signatures, such as ["void(float32[::1])"], not {signatures!r}')
    return tuple(signatures)


def is_signature(value: Any) -> bool:
    """True for what can be a signature: text, a tuple of types, our Signature, Numba's (which has `args`)."""
    return isinstance(value, (str, tuple, Signature)) or (
        hasattr(value, "args") and hasattr(value, "return_type") and not callable(value)
    )


def _known_keywords(keywords: Mapping[str, Any]) -> dict[str, Any]:
    for name, meaning in _NOT_OFFERED.items():
        if keywords.get(name):
            raise OptionError(f"option {name!r}: {meaning} is not offered")
    ignored = _WITHOUT_EFFECT | _NOT_OFFERED.keys()
    return {name: value for name, value in keywords.items() if name not in ignored}
