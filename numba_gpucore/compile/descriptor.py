"""One compiler for each target: contexts and device functions. Before: driver, dispatcher. After: Numba's passes."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Any

from numba_gpucore.base.collector import collector_held
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.overload_store import OverloadStore
from numba_gpucore.compile.contexts import DeviceTargetContext, DeviceTypingContext
from numba_gpucore.compile.numba_api import Dispatcher, TargetDescriptor, TargetOptions, types
from numba_gpucore.compile.numba_types import to_numba

#: Argument types of a declared signature, and its result; None where that is inferred.
DeclaredTypes = tuple[tuple[types.Type, ...], "types.Type | None"]


class DeviceTargetOptions(TargetOptions):
    """What Numba's own overloads and users' `jit_options` may set; the rest is inherited from the calling kernel."""

    inline = TargetOptions.Mapping("inline")
    forceinline = TargetOptions.Mapping("forceinline")
    fastmath = TargetOptions.Mapping("fastmath")
    error_model = TargetOptions.Mapping("error_model")
    boundscheck = TargetOptions.Mapping("boundscheck")


class DeviceDescriptor(TargetDescriptor):
    """Contexts of one target, made on first use, and the dispatchers of its device functions."""

    options = DeviceTargetOptions

    dispatcher_class: type[Dispatcher]
    #: Where implementations of Numba's functions are kept between processes, if anywhere.
    overload_store: OverloadStore | None = None

    #: The store's keys of implementations that it has, by what calls of them are lowered with.
    kept_implementations: dict[tuple, str]

    def __init__(self, target_name: str):
        super().__init__(target_name)
        self._is_loaded = False
        self.kept_implementations = {}
        self._dispatchers: weakref.WeakKeyDictionary[Callable, dict[tuple, Dispatcher]] = weakref.WeakKeyDictionary()

    @cached_property
    def _typing_context(self) -> DeviceTypingContext:
        return DeviceTypingContext(self)

    @cached_property
    def _target_context(self) -> DeviceTargetContext:
        return DeviceTargetContext(self._typing_context, self._target_name)

    @property
    def typing_context(self) -> DeviceTypingContext:
        return self._typing_context

    @property
    def target_context(self) -> DeviceTargetContext:
        context = self._target_context
        if not self._is_loaded:
            # Templates ask for this context while they are installed; it does not begin anew then.
            with collector_held():
                context.refresh()
            self._is_loaded = True
        return context

    def as_device_function(self, value: Any) -> Any:
        """Our dispatcher for `value` if it is a function that Numba or we decorated, else `value` itself."""
        if isinstance(value, Dispatcher):
            if getattr(value, "targetdescr", None) is self:
                return value
            return self.dispatcher_for(value.py_func, _inherited_options(value.targetoptions), locals=value.locals)
        options = getattr(value, "options", None)
        if isinstance(options, KernelOptions):
            device_options = {"inline": options.inline, "fastmath": options.fastmath}
            declared = tuple(
                (tuple(map(to_numba, signature.args)), None if signature.result is None else to_numba(signature.result))
                for signature in getattr(value, "declared", ())
            )
            return self.dispatcher_for(value.py_func, device_options, declared)
        return value

    def dispatcher_for(
        self,
        py_func: Callable,
        options: dict[str, Any],
        declared: tuple[DeclaredTypes, ...] = (),
        locals: dict[str, types.Type] | None = None,
    ) -> Dispatcher:
        """The one dispatcher of this target for a Python function, options, declared signatures, and types of local
        variables."""
        by_options = self._dispatchers.setdefault(py_func, {})
        key = (declared, *sorted((name, repr(value)) for name, value in (*options.items(), *(locals or {}).items())))
        if key not in by_options:
            by_options[key] = self.dispatcher_class(py_func, targetoptions=options, locals=locals)
            by_options[key].declared = declared
        return by_options[key]


def _inherited_options(cpu_options: dict[str, Any]) -> dict[str, Any]:
    """What of a CPU dispatcher's options means the same on a device."""
    kept = {name: cpu_options[name] for name in ("inline", "fastmath", "error_model") if name in cpu_options}
    return {name: value for name, value in kept.items() if value}
