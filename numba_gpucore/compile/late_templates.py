"""What Numba's registries say about functions, made when a program mentions the function. Before: Numba's registries.
After: contexts mix this in.

Numba makes an object for each of some 2,000 registrations when a context is refreshed first: a tenth of what the
compiler does for a session's first kernel, which asks for thirty of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import reduce
from typing import Any

from numba_gpucore.compile.numba_api import errors, target_registry, templates, typing


class LateTemplates(typing.BaseContext):
    """Notes registrations by what they are about, and takes them over when that is asked for."""

    #: The compiler of a target that this context is part of.
    _descriptor: Any

    def init(self):
        super().init()
        self._noted_functions: defaultdict[Any, list[type]] = defaultdict(list)
        self._noted_attributes: defaultdict[Any, list[type]] = defaultdict(list)
        #: Each beside the value itself: Numba keeps it as long as that lives, and not as long as another that is equal.
        self._noted_globals: defaultdict[Any, list[tuple[Any, Any]]] = defaultdict(list)
        self._noted_sizes: dict[Any, tuple[int, ...]] = {}

    def install_registry(self, registry):
        loader = self._registries.get(registry)
        if loader is None:
            loader = self._registries[registry] = templates.RegistryLoader(registry)
        for template in loader.new_registrations("functions"):
            self._noted_functions[template.key].append(template)
        for template in loader.new_registrations("attributes"):
            self._noted_attributes[template.key].append(template)
        for value, type_ in loader.new_registrations("globals"):
            self._noted_globals[value].append((value, type_))
        self._noted_sizes[registry] = _sizes(registry)

    def has_news(self) -> bool:
        """Whether something was registered after the last look, as by a module that an overload imports."""
        return any(_sizes(registry) != sizes for registry, sizes in self._noted_sizes.items())

    # -- what Numba asks

    def explain_function_type(self, func):
        self._take_functions(func)
        return super().explain_function_type(func)

    def _resolve_builtin_function_type(self, func, args, kws):
        self._take_functions(func)
        return super()._resolve_builtin_function_type(func, args, kws)

    def _get_attribute_templates(self, typ):
        self._take_attributes((typ, *type(typ).__mro__))
        return super()._get_attribute_templates(typ)

    def _lookup_global(self, gv):
        self._take_global(gv)
        return super()._lookup_global(gv)

    def _insert_global(self, gv, gty):
        self._take_global(gv)
        super()._insert_global(gv, gty)

    # -- from the notes into the context

    def _take_functions(self, key: Any) -> None:
        if key in self._noted_functions:
            self._make_templates(self._noted_functions.pop(key), self.insert_function)

    def _take_attributes(self, keys: tuple[Any, ...]) -> None:
        noted = [template for key in keys for template in self._noted_attributes.pop(key, ())]
        if noted:
            # Templates of methods and attributes add to what lowers them, each of which asks for a refresh.
            with self._descriptor.target_context.refreshed_once():
                self._make_templates(noted, self.insert_attributes)

    def _make_templates(self, noted: list[type], insert: Callable[[Any], None]) -> None:
        for template in noted:
            if self._is_for_this_target(template):
                insert(template(self))

    def _is_for_this_target(self, template: type) -> bool:
        name = (getattr(template, "metadata", None) or {}).get("target")
        if name is None:
            return True
        try:
            return self._descriptor.target_context.target.inherits_from(target_registry[name])
        except errors.NonexistentTargetError:
            return False

    def _take_global(self, value: Any) -> None:
        try:
            noted = self._noted_globals.pop(value, None)
        except TypeError:  # what has no hash is never registered
            return
        if noted is None:
            return
        registered = noted[0][0]
        meanings = [type_ for _value, type_ in noted]
        known = super()._lookup_global(registered)
        if known is not None:
            meanings.insert(0, known)
            super()._remove_global(registered)
        self._insert_global(registered, reduce(_augment, meanings))


def _sizes(registry: Any) -> tuple[int, ...]:
    return len(registry.functions), len(registry.attributes), len(registry.globals)


def _augment(known: Any, other: Any) -> Any:
    """One type of two that are registered for one value. Raises TypeError as Numba does, if they are not functions."""
    both = known.augment(other)
    if both is None:
        raise TypeError(f"cannot augment {known} with {other}")
    return both
