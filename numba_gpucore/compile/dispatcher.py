"""Device functions as Numba sees them. Before: a kernel mentions one. After: pass_pipeline, for each signature.

These dispatchers are never called from Python: they compile for a caller on the device, under the caller's flags.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any

from numba_gpucore.compile.descriptor import DeclaredTypes, DeviceDescriptor
from numba_gpucore.compile.flags import callee_flags
from numba_gpucore.compile.function_type import DeviceFunctionType
from numba_gpucore.compile.numba_api import (
    Dispatcher,
    FunctionCompiler,
    make_concrete_template,
    sigutils,
    targetconfig,
    templates,
)
from numba_gpucore.compile.pass_pipeline import DeviceCompiler
from numba_gpucore.compile.stored_overloads import find_implementation, implementation_key, keep_implementation
from numba_gpucore.compile.targets import register_targets
from numba_gpucore.compile.type_text import NotExpressible

#: jit options of Numba's overloads that say nothing about a device.
_MEANINGLESS_OPTIONS = frozenset(
    {"nopython", "nogil", "cache", "no_cpython_wrapper", "no_cfunc_wrapper", "parallel", "forceobj", "locals", "_nrt"}
)


class _DeviceFunctionCompiler(FunctionCompiler):
    def _customize_flags(self, flags):
        return callee_flags(flags)

    def _compile_cached(self, args, return_type):
        # Numba remembers a failure by the types alone. It may hold for the caller's flags only, and only until another
        # package is loaded that extends Numba; within one compilation the typing context remembers it too.
        return True, self._compile_core(args, return_type)


class DeviceDispatcher(Dispatcher):
    """Compiles one Python function for callers on the device, once for each signature and set of inherited flags.

    declared: the only signatures that there are, if any; arguments are converted by Numba's rules.
    """

    _fold_args = True
    declared: tuple[DeclaredTypes, ...] = ()

    def __init__(self, py_func, targetoptions: dict[str, Any] | None = None, locals=None, pipeline_class=None):
        options = {k: v for k, v in (targetoptions or {}).items() if k not in _MEANINGLESS_OPTIONS}
        super().__init__(py_func, targetoptions=options, locals=locals or {}, pipeline_class=DeviceCompiler)
        self._compiler = _DeviceFunctionCompiler(py_func, self.targetdescr, options, self.locals, DeviceCompiler)
        self._results: dict[tuple, Any] = {}

    @property
    def _numba_type_(self) -> DeviceFunctionType:
        return DeviceFunctionType(self)

    def _key(self, args: tuple) -> tuple:
        caller = targetconfig.ConfigStack.top_or_none()
        return args, caller.summary() if caller is not None else ""

    def compile(self, sig):
        args, return_type = sigutils.normalize_signature(sig)
        key = self._key(tuple(args))
        if key not in self._results:
            result = self._find_or_compile(tuple(args), return_type)
            result.target_context.insert_user_function(result.entry_point, result.fndesc, [result.library])
            self._results[key] = result
            self.overloads[tuple(args)] = result
        return self._results[key]

    def _find_or_compile(self, args: tuple, return_type: Any) -> Any:
        store, key = self.targetdescr.overload_store, None
        if store is not None and return_type is None:
            with suppress(NotExpressible):
                key = implementation_key(self, args, self._key(args)[1])
        if key is not None:
            stored = find_implementation(store, key, self.targetdescr.target_context)
            if stored is not None:
                self.targetdescr.kept_implementations[stored.entry_point] = key
                return stored
        with self._compiling_counter:
            result = self._compiler.compile(args, return_type)
        if key is not None and store.keeps and keep_implementation(store, key, result):
            self.targetdescr.kept_implementations[result.entry_point] = key
        return result

    def get_call_template(self, args, kws):
        pysig, args = self._compiler.fold_argument_types(args, kws)
        wanted = [templates.signature(result, *types_) for types_, result in self.declared] or [tuple(args)]
        signatures = [self.compile(signature).signature for signature in wanted]
        name = f"CallTemplate({self.py_func.__name__})"
        template = make_concrete_template(name, key=self.py_func.__name__, signatures=signatures)
        return template, pysig, args, {}

    def get_overload(self, sig):
        args, _return_type = sigutils.normalize_signature(sig)
        return self._results[self._key(tuple(args))].entry_point

    def get_compile_result(self, sig):
        return self.compile(sig)


def jit_decorator(target_name: str):
    """`jit(**options)` as Numba's `@overload` machinery calls it: a decorator that makes a device function."""
    dispatcher_class = descriptor_for(target_name).dispatcher_class

    def jit(*args, **options):
        if args and callable(args[0]):
            return dispatcher_class(args[0], targetoptions=options)
        return lambda py_func: dispatcher_class(py_func, targetoptions=options)

    return jit


@cache
def descriptor_for(target_name: str) -> DeviceDescriptor:
    """The compiler of the target with this name; one a process, like Numba's own registries."""
    register_targets()
    descriptor = DeviceDescriptor(target_name)
    # Numba wants the descriptor as an attribute of the dispatcher's class.
    name = f"{target_name.capitalize()}Dispatcher"
    descriptor.dispatcher_class = type(name, (DeviceDispatcher,), {"targetdescr": descriptor})
    return descriptor
