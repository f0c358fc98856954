"""Numba's typing and target contexts for our targets. Before: descriptor. After: Numba's passes ask them everything.

One pair for each target. They install Numba's registries, which importing `numba_modules` filled, and ours.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.extending import typeof_impl

from numba_gpucore.compile.bounds import install_boundscheck_hook
from numba_gpucore.compile.call_conv import ContextCallConv
from numba_gpucore.compile.captured_arrays import is_captured_array, make_captured_array, type_captured_array
from numba_gpucore.compile.code_library import DATA_LAYOUT, DeviceCodegen
from numba_gpucore.compile.data_models import DATA_MODELS
from numba_gpucore.compile.flags import set_device_flags
from numba_gpucore.compile.format_specs import install_format_hook
from numba_gpucore.compile.function_type import FUNCTION_LOWERING
from numba_gpucore.compile.half_typing import HALF_TYPING, HalfTyping
from numba_gpucore.compile.late_contexts import LateLowering, LateTyping
from numba_gpucore.compile.late_features import lowering_registries, typing_registries
from numba_gpucore.compile.late_templates import LateTemplates
from numba_gpucore.compile.lower import LOWERING_REGISTRIES, REPLACEMENTS
from numba_gpucore.compile.lower.allocation import NoContainers, NoHeap
from numba_gpucore.compile.lower.array_expressions import lower_array_expression
from numba_gpucore.compile.numba_api import (
    BaseContext,
    Flags,
    cgutils,
    debuginfo,
    enumdecl,
    global_compiler_lock,
    imputils,
    itanium_mangler,
    mathdecl,
    numpy_support,
    targetconfig,
    types,
    typing,
)
from numba_gpucore.compile.pass_pipeline import DeviceCompiler
from numba_gpucore.compile.remembered_calls import RememberedCalls
from numba_gpucore.compile.stored_calls import StoredCalls
from numba_gpucore.compile.type_sizes import size_and_alignment
from numba_gpucore.compile.typing import TYPING_REGISTRIES
from numba_gpucore.compile.typing.bfloat16 import BFloat16, type_ml_dtypes_value
from numba_gpucore.compile.typing.mixed_integers import are_mixed, word_of
from numba_gpucore.compile.unaligned_fields import FieldTyping
from numba_gpucore.compile.variable_lives import install_lives_on_demand
from numba_gpucore.compile.weak_literals import WeakLiteralTyping
from numba_gpucore.compile.weak_numbers import WEAK_LOWERING, WEAK_TYPING

if TYPE_CHECKING:
    from numba_gpucore.compile.descriptor import DeviceDescriptor

#: Classes whose subclasses Numba knows by rules of their own, as it does those of its types.
_CLASSES_WITH_RULES = (BaseException, tuple, np.generic)


def _has_rule(cls: type) -> bool:
    """Whether Numba knows the values of a class by a rule of their own.

    As `typeof_impl.dispatch` answers, which asks every abstract base class among hundreds (1 ms for a first kernel).
    """
    return any(base in typeof_impl.registry for base in cls.__mro__[:-1])


class DeviceTypingContext(
    LateTyping,
    StoredCalls,
    RememberedCalls,
    LateTemplates,
    HalfTyping,
    WeakLiteralTyping,
    FieldTyping,
    typing.BaseContext,
):
    """Types programs; every function object that a kernel mentions becomes a device function of this target."""

    def __init__(self, descriptor: DeviceDescriptor):
        self._descriptor = descriptor
        super().__init__()

    def load_additional_registries(self):
        super().load_additional_registries()
        for registry in (enumdecl.registry, mathdecl.registry, *typing_registries()):
            self.install_registry(registry)
        for registry in (WEAK_TYPING, HALF_TYPING, *TYPING_REGISTRIES):
            self.install_registry(registry)

    def resolve_value_type(self, val):
        if is_captured_array(val):
            return type_captured_array(val, self._descriptor._target_name)
        found = self._known_as_itself(val) or type_ml_dtypes_value(val)
        if found is not None:
            return found
        try:
            return super().resolve_value_type(self._descriptor.as_device_function(val))
        except ValueError:
            if not self.load_late():
                raise
        return self.resolve_value_type(val)

    def _known_as_itself(self, val):
        """The type of a module, function or class that is registered as such; None for other values.

        Numba would ask first whether it is a function of cffi's or a class of numba.typed's, which imports them (35 ms
        with Numba 0.68 and cffi 2).
        """
        if isinstance(val, type):
            is_plain = not issubclass(val, _CLASSES_WITH_RULES) and not isinstance(val, type(types.Type))
        else:
            is_plain = not _has_rule(type(val)) and not hasattr(val, "_numba_type_")
        return self.find_global(val) if is_plain else None


class DeviceTargetContext(LateLowering, NoContainers, BaseContext):
    """Lowers programs to device IR."""

    strict_alignment = False
    implement_powi_as_math_call = True

    def __init__(self, typing_context: DeviceTypingContext, target_name: str):
        super().__init__(typing_context, target_name)
        self.data_model_manager = DATA_MODELS
        self._is_refreshing = False

    def refresh(self):
        """Install what registries have that is new."""
        if not self._is_refreshing:
            with self.refreshed_once():
                super().refresh()

    @contextmanager
    def refreshed_once(self):
        """One refresh at the end for all that is made inside.

        Each template of a method or attribute asks for a refresh of its own while it is installed, and adds a lowering
        to the context's first registry (Numba, `_get_target_registry`), as those of intrinsics do: one more look
        afterwards does for all.
        """
        self._is_refreshing = True
        try:
            yield
            for registry in (*[*self._registries][:1], imputils.builtin_registry, REPLACEMENTS):
                self.install_registry(registry)
        finally:
            self._is_refreshing = False

    @property
    def DIBuilder(self):
        return debuginfo.DIBuilder

    def init(self):
        self._internal_codegen = DeviceCodegen(self.target_name)
        self.special_ops["arrayexpr"] = lower_array_expression
        install_boundscheck_hook(DeviceTargetContext)
        install_format_hook()
        install_lives_on_demand()

    def load_additional_registries(self):
        for registry in (*lowering_registries(), WEAK_LOWERING, FUNCTION_LOWERING, *LOWERING_REGISTRIES):
            self.install_registry(registry)

    def create_module(self, name):
        return self._internal_codegen._create_empty_module(name)

    def codegen(self):
        return self._internal_codegen

    def get_abi_sizeof(self, ty):
        known = size_and_alignment(ty)
        return super().get_abi_sizeof(ty) if known is None else known[0]

    def get_abi_alignment(self, ty):
        known = size_and_alignment(ty)
        return super().get_abi_alignment(ty) if known is None else known[1]

    @cached_property
    def target_data(self):
        return llvm.create_target_data(DATA_LAYOUT)

    @cached_property
    def nrt(self):
        return NoHeap(self, False)

    @cached_property
    def call_conv(self):
        return ContextCallConv(self)

    def mangler(self, name, argtypes, *, abi_tags=(), uid=None):
        return itanium_mangler.mangle(name, argtypes, abi_tags=abi_tags, uid=uid)

    def get_ufunc_info(self, ufunc_key):
        from numba_gpucore.compile.lower.ufuncs import ufunc_info  # noqa: PLC0415 - part of a late feature

        return ufunc_info(ufunc_key)

    def _compile_subroutine_no_cache(self, builder, impl, sig, locals=None, flags=None):
        # Numba's own takes its CPU pipeline with fresh flags: no error model, bounds checks or fast math of the caller.
        caller = self._flags_of_caller()
        flags = flags or (caller.copy() if caller is not None else Flags())
        set_device_flags(flags)
        library = self.codegen().create_library(impl.__name__)
        with global_compiler_lock:
            pipeline = DeviceCompiler(
                self.typing_context, self, library, sig.args, sig.return_type, flags, locals or {}
            )
            result = pipeline.compile_extra(impl)
        self.active_code_library.add_linking_library(result.library)
        return result

    def compile_subroutine(self, builder, impl, sig, locals=None, flags=None, caching=True):
        # Numba's cache key knows the error model's class only; ours must also know the flags inherited above.
        caller = flags or self._flags_of_caller()
        key = (impl.__code__, sig, caller.summary() if caller is not None else None)
        if not caching or impl.__closure__:
            return super().compile_subroutine(builder, impl, sig, locals=locals, flags=flags, caching=False)
        if key not in self.cached_internal_func:
            self.cached_internal_func[key] = self._compile_subroutine_no_cache(
                builder, impl, sig, locals=locals, flags=flags
            )
        result = self.cached_internal_func[key]
        self.active_code_library.add_linking_library(result.library)
        return result

    def _flags_of_caller(self):
        flags = targetconfig.ConfigStack.top_or_none()
        if flags is None or flags.error_model == "numpy" or self.error_model.raise_on_fp_zero_division:
            return flags
        # Numba lowers ufuncs under NumPy's error model, whatever the function's is (numba/np/npyimpl.py).
        flags = flags.copy()
        flags.error_model = "numpy"
        return flags

    def get_constant_generic(self, builder, ty, val):
        # Once Numba has compiled for the CPU, its registry holds a rule for dispatchers that asks for the address of
        # the Python object (numba/experimental/function_type.py). Here a function that a kernel mentions has no value.
        if isinstance(ty, types.Dispatcher):
            return self.get_dummy_value()
        return super().get_constant_generic(builder, ty, val)

    def generic_compare(self, builder, key, argtypes, args):
        # For tuples. Numba's own converts both sides to one type, which int64 and uint64 have not.
        if not are_mixed(argtypes):
            return super().generic_compare(builder, key, argtypes, args)
        words = tuple(map(word_of, argtypes))
        values = [self.cast(builder, *cast) for cast in zip(args, argtypes, words, strict=True)]
        return self.get_function(key, typing.signature(types.boolean, *words))(builder, values)

    def call_unresolved(self, builder, name, sig, args):
        """A call that closes a cycle of recursion: the callee is still being compiled, linking will find it by name."""
        callee_type = self.call_conv.get_function_type(sig.return_type, sig.args)
        callee = cgutils.get_or_insert_function(builder.module, callee_type, name)
        self.active_code_library.add_late_callee(name)
        status, result = self.call_conv.call_function(builder, callee, sig.return_type, sig.args, args)
        with cgutils.if_unlikely(builder, status.is_error):
            self.call_conv.return_status_propagate(builder, status)
        return imputils.fix_returning_optional(self, builder, sig, status, result)

    def make_constant_array(self, builder, typ, ary):
        """An array that a kernel mentions as a global or closure variable: NumPy arrays are constant bytes in the
        module, device arrays stay where they are."""
        if is_captured_array(ary):
            return make_captured_array(self, builder, typ, ary)
        # With float64="float32" its type is narrower than the array.
        if not isinstance(typ.dtype, BFloat16):
            ary = ary.astype(numpy_support.as_dtype(typ.dtype), copy=False)
        # What lies between the items of a view is not part of the module, so the strides are those of a copy.
        ary = ary if ary.flags.forc else ary.copy()
        data = ir.Constant(ir.ArrayType(ir.IntType(8), ary.nbytes), bytearray(ary.tobytes(order="A")))
        variable = cgutils.global_constant(builder.module, "const.array", data)
        item_nbytes = self.get_abi_sizeof(self.get_data_type(typ.dtype))
        variable.align = min(16, 1 << max(item_nbytes - 1, 0).bit_length())
        array = self.make_array(typ)(self, builder)
        self.populate_array(
            array,
            data=builder.bitcast(variable, array.data.type),
            shape=[self.get_constant(types.intp, extent) for extent in ary.shape],
            strides=[self.get_constant(types.intp, stride) for stride in ary.strides],
            itemsize=self.get_constant(types.intp, ary.itemsize),
            parent=None,
            meminfo=None,
        )
        return array._getvalue()

    def insert_const_string(self, mod, string):
        """The address of a NUL-terminated UTF-8 string, as i8*; equal strings of a module are stored once."""
        name = "const.string." + itanium_mangler.mangle_identifier(string)
        variable = mod.globals.get(name)
        if variable is None:
            variable = cgutils.global_constant(mod, name, cgutils.make_bytearray(string.encode("utf-8") + b"\x00"))
        return variable.bitcast(cgutils.voidptr_t)
