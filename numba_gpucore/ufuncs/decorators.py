"""vectorize, guvectorize and reduce as users write them. Before: the user's source. After: UFunc, GUFunc, Reduce.

Arguments are those of numba.vectorize and numba.guvectorize; the builders are what Numba's own decorators call for
`target="metal"`, "ptxplus", and "cuda" where we stand in for numba.cuda.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any

from numba_gpucore.base.errors import OptionError
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.dtypes import Signature
from numba_gpucore.launch.eager import parse_function_signature
from numba_gpucore.launch.platform import Platform
from numba_gpucore.ufuncs.core_layout import CoreLayout
from numba_gpucore.ufuncs.guvectorize import GUFunc
from numba_gpucore.ufuncs.reduction import Reduce
from numba_gpucore.ufuncs.vectorize import UFunc

#: Options of kernels that make sense for a ufunc.
_OPTIONS = {one.name for one in fields(KernelOptions)} - {"device", "inline", "launch_bounds", "max_registers"}


class UFuncBuilder:
    """Collects the signatures of one function; Numba's protocol for a target of `numba.vectorize`."""

    def __init__(
        self,
        platform: Platform,
        py_func: Callable[..., Any],
        identity: Any = None,
        cache: bool | None = None,
        targetoptions: dict[str, Any] | None = None,
    ):
        self._arguments = (py_func, platform, _ufunc_options(platform, cache, targetoptions or {}))
        self._identity = identity
        self._signatures: list[Signature] = []

    def add(self, sig: Any) -> None:
        self._signatures.append(parse_function_signature(sig))

    def disable_compile(self) -> None:
        """Nothing to do: a ufunc with signatures takes no others."""

    def build_ufunc(self) -> UFunc:
        return UFunc(*self._arguments, self._signatures, self._identity)


class GUFuncBuilder:
    """Collects the signatures of one function; Numba's protocol for a target of `numba.guvectorize`."""

    def __init__(
        self,
        platform: Platform,
        py_func: Callable[..., Any],
        signature: str,
        identity: Any = None,
        cache: bool | None = None,
        targetoptions: dict[str, Any] | None = None,
        writable_args: Sequence[Any] = (),
    ):
        if writable_args:
            raise OptionError("writable_args are not supported: give outputs in the layout instead")
        options = dict(targetoptions or {})
        self._is_dynamic = options.pop("is_dynamic", False)
        self._arguments = (py_func, platform, _gufunc_options(cache, options), CoreLayout.parse(signature))
        self._identity = identity
        self._signatures: list[Signature] = []

    def add(self, sig: Any) -> None:
        self._signatures.append(parse_function_signature(sig))

    def disable_compile(self) -> None:
        """Nothing to do: a gufunc with signatures takes no others."""

    def build_ufunc(self) -> GUFunc:
        if not self._signatures and not self._is_dynamic:
            raise OptionError(
                "guvectorize needs at least one signature, such as 'void(float32[:], float32[:])'; without a list of "
                "them, as in @guvectorize('(n)->(n)'), types decide when it is called"
            )
        return GUFunc(*self._arguments, self._signatures, self._identity)


def vectorize(platform: Platform, ftylist_or_function: Any = (), target: str = "", **keywords: Any) -> Any:
    """`@vectorize`, `@vectorize("float32(float32)")`, `@vectorize([signatures], identity=0)`: a UFunc.

    Signatures are compiled now; without one, each combination of argument types is when it is first used. Raises
    KeyError for unknown options, as numba.cuda.
    """
    _require_target(platform, target)
    if inspect.isfunction(ftylist_or_function):
        return UFuncBuilder(platform, ftylist_or_function, **_split_keywords(keywords)).build_ufunc()
    if not isinstance(ftylist_or_function, Iterable):
        raise OptionError(f"vectorize takes a function, a signature or a list of them, not {ftylist_or_function!r}")
    signatures = [ftylist_or_function] if isinstance(ftylist_or_function, str) else list(ftylist_or_function)

    def decorate(py_func: Callable[..., Any]) -> UFunc:
        builder = UFuncBuilder(platform, py_func, **_split_keywords(keywords))
        for signature in signatures:
            builder.add(signature)
        return builder.build_ufunc()

    return decorate


def guvectorize(platform: Platform, *ftylist_and_layout: Any, target: str = "", **keywords: Any) -> Any:
    """`@guvectorize([signatures], "(m,n),(n)->(m)")`, `@guvectorize("(m,n),(n)->(m)")`: a GUFunc.

    Signatures are compiled now; without a list of them, each combination of types of inputs and outputs is when it is
    first used. Raises OptionError, a TypeError, for unknown options and for signatures that return something;
    ValueError and NameError for bad layouts.
    """
    _require_target(platform, target)
    if len(ftylist_and_layout) not in (1, 2):
        raise OptionError(
            f"guvectorize takes a layout, or signatures and a layout, not {len(ftylist_and_layout)} arguments"
        )
    *ftylist, signature = ftylist_and_layout
    if not isinstance(signature, str):
        raise OptionError(f"the layout of a gufunc is a text such as '(m,n),(n)->(m)', not {signature!r}")
    signatures = [one for types in ftylist for one in ([types] if isinstance(types, str) else types)]
    keywords.setdefault("is_dynamic", not ftylist)
    writable_args = keywords.pop("writable_args", ())

    def decorate(py_func: Callable[..., Any]) -> GUFunc:
        builder = GUFuncBuilder(platform, py_func, signature, writable_args=writable_args, **_split_keywords(keywords))
        for one in signatures:
            builder.add(one)
        return builder.build_ufunc()

    return decorate


def reduce(platform: Platform, functor: Callable[..., Any]) -> Reduce:
    """`@reduce` on a function of two numbers: an object that reduces 1-D arrays."""
    return Reduce(platform, functor)


def _require_target(platform: Platform, target: str) -> None:
    if target not in ("", "cuda", platform.target.name):
        raise OptionError(
            f"{platform.target.package} makes ufuncs for target {platform.target.name!r}, not {target!r}; "
            f"numba.vectorize has the others"
        )


def _split_keywords(keywords: dict[str, Any]) -> dict[str, Any]:
    own: dict[str, Any] = {name: keywords[name] for name in ("identity", "cache") if name in keywords}
    return {**own, "targetoptions": {name: value for name, value in keywords.items() if name not in own}}


def _ufunc_options(platform: Platform, cache: bool | None, options: dict[str, Any]) -> KernelOptions:
    options = dict(options)
    if options.pop("nopython", None) is not None:
        warnings.warn("nopython kwarg for cuda target is redundant", RuntimeWarning, stacklevel=4)
    unknown = sorted(set(options) - _OPTIONS)
    if unknown:
        raise KeyError(
            f"Unrecognized options. {platform.target.package} does not support {', '.join(map(repr, unknown))}; "
            f"it does {', '.join(sorted(_OPTIONS))}"
        )
    return KernelOptions.from_keywords({"cache": cache or None, **options})


def _gufunc_options(cache: bool | None, options: dict[str, Any]) -> KernelOptions:
    if not options.pop("nopython", True):
        raise OptionError("nopython flag must be True")
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        raise OptionError(f"The following target options are not supported: {', '.join(map(repr, unknown))}")
    return KernelOptions.from_keywords({"cache": cache or None, **options})
