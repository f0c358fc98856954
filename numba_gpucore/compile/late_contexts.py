"""Contexts that load parts of the language when a program needs them. Before: late_features. After: contexts.

Nothing is refused before all is loaded: neither a value, nor an attribute, nor a call. What is likely to help comes
first. So a program means the same, and an error reads the same, as if all had been there from the start.
"""

from __future__ import annotations

import operator

from numba_gpucore.base.collector import collector_held
from numba_gpucore.compile.late_features import (
    LATE_FEATURES,
    features_of_attribute,
    features_of_call,
    features_of_value,
    load_features,
    loaded_features,
)
from numba_gpucore.compile.numba_api import errors, types
from numba_gpucore.compile.texts import NO_STRINGS
from numba_gpucore.compile.weak_numbers import WeakNumber

#: Types of what templates resolve calls of. Other types are those of device functions, which contain such calls, and
#: Numba tries recursive ones in vain as a matter of course, as it does operations that it names by strings.
_FUNCTIONS = (types.Function, types.BoundFunction)

#: Numba has no text of them: it would be "<object type:float32>".
_WITHOUT_TEXT = (types.Float, types.Complex, types.BaseTuple, types.Array, types.EnumMember, WeakNumber)


class LateTyping:
    """Mixin of a typing context, before all that changes what calls and attributes resolve to."""

    #: What the context has installed.
    _features: frozenset[str] = frozenset()

    def load_additional_registries(self):
        super().load_additional_registries()
        self._features = loaded_features()

    def load_late(self, names=LATE_FEATURES):
        """Make these features, and whatever was registered meanwhile, known; False if all has been."""
        if self._features.issuperset(names) and not self.has_news():
            return False
        load_features(names)
        with collector_held():
            self._descriptor.target_context.refresh()
        self.callstack._fail_cache.clear()  # Numba's memory of calls that it could not resolve
        return True

    def _chances(self, features_of, *questions):
        """True for each time that it is worth looking again: likely features are loaded one by one, then all others."""
        for names in ((), *((name,) for name in features_of(*questions))):
            if self.load_late(names):
                yield True
        if self.load_late():
            yield True

    def find_global(self, value):
        """The type under which a function, class or module is registered, if it is."""
        found = self._get_global_type(value)
        for names in ((), *((name,) for name in features_of_value(value))):
            if found is None and self.load_late(names):
                found = self._get_global_type(value)
        return found

    def resolve_getattr(self, typ, attr):
        found = super().resolve_getattr(typ, attr)
        if attr == "__call__":  # Numba asks every function
            return found
        chances = self._chances(features_of_attribute, typ)
        while found is None and next(chances, False):
            found = super().resolve_getattr(typ, attr)
        return found

    def resolve_function_type(self, func, args, kws):
        if getattr(func, "typing_key", None) in (str, repr) and args and isinstance(args[0], _WITHOUT_TEXT):
            raise errors.TypingError(NO_STRINGS)
        if isinstance(func, (types.Type, str)) and not isinstance(func, _FUNCTIONS):
            return super().resolve_function_type(func, args, kws)
        chances = self._chances(features_of_call, func, args)
        while True:
            try:
                found = self._resolve_present(func, args, kws)
            except errors.TypingError:
                if not next(chances, False):
                    raise
            else:
                if found is not None or not next(chances, False):
                    return found

    def _resolve_present(self, func, args, kws):
        """Resolve a call with all templates that are there now: `func` may have been looked up before some of them."""
        current = self._lookup_global(func.typing_key) if isinstance(func, types.Function) else func
        if current is func or not _extends(current, func):
            return super().resolve_function_type(func, args, kws)
        found = super().resolve_function_type(current, args, kws)
        if found is not None:
            # Lowering will ask the type that the program's variable has.
            func._impl_keys[found.args] = current.get_impl_key(found)
        return found

    def unify_pairs(self, first, second):
        # A variable may hold a function that is looked up again after templates came to it.
        if isinstance(first, types.Function) and isinstance(second, types.Function):
            if _extends(first, second):
                return first
            if _extends(second, first):
                return second
        return super().unify_pairs(first, second)


class LateLowering:
    """Mixin of a target context. Other things that lowering lacks make the compiler begin again (`run_passes`)."""

    def get_function(self, fn, sig, _firstcall=True):
        overload = getattr(fn.template, "_overload_func", None) if isinstance(fn, types.BoundFunction) else None
        if overload is not None:
            # Numba lowers a method by what was registered last, which need not be the overload that gave it its type.
            function = self.typing_context.resolve_value_type(overload)
            found = function.get_call_type(self.typing_context, sig.as_function().args, {})
            return super().get_function(function, found)
        try:
            return super().get_function(fn, sig, _firstcall)
        except NotImplementedError:
            # Numba has `item in tuple` and `bool(tuple)` among what it has for lists.
            key = fn.typing_key if isinstance(fn, types.Function) else fn
            if key in (operator.contains, bool) and self.typing_context.load_late(("lists",)):
                return super().get_function(fn, sig, _firstcall)
            if not isinstance(fn, types.Function) or fn.get_call_type(self.typing_context, sig.args, {}) is None:
                raise
        # An intrinsic found the call while it was typed, which Numba does once for a target. Meanwhile another target
        # has typed the same call, and Numba keeps with a function what implements it for the last one only.
        return super().get_function(fn, sig, _firstcall)


def _extends(current: types.Type | None, earlier: types.Function) -> bool:
    return isinstance(current, types.Function) and current.templates[: len(earlier.templates)] == earlier.templates
