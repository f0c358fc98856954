"""Calls of array functions whose implementations are kept, typed without what defines those functions. Before:
stored_overloads. After: contexts mix this in.

Importing Numba's array functions and asking their templates is a tenth of what a session's first kernel costs that
sums an array. All that it needs of them is which implementation a call means, and how that takes its arguments. Both
are kept beside the implementation; a call of which nothing is kept loads the functions after all.
"""

from __future__ import annotations

import inspect
import json
import sys
from contextlib import suppress
from typing import Any

import numpy as np

from numba_gpucore.compile.late_features import LATE_FEATURES
from numba_gpucore.compile.numba_api import AbstractTemplate, errors, targetconfig, types, typing
from numba_gpucore.compile.remembered_calls import RememberingFunction
from numba_gpucore.compile.stored_overloads import find_implementation
from numba_gpucore.compile.type_text import NotExpressible, encode_type

#: What defines the functions whose calls are kept (late_features).
_FEATURE = "array functions"


def _name_of_function(value: Any) -> str | None:
    """A name under which a function of NumPy's is the same in every process."""
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not isinstance(module, str) or not isinstance(name, str) or isinstance(value, np.ufunc):
        return None
    is_reached = module.partition(".")[0] == "numpy" and getattr(sys.modules.get(module), name, None) is value
    return f"{module}.{name}" if is_reached else None


def _name_of_method(owner: types.Type, attribute: str) -> str | None:
    return f"Array.{attribute}" if type(owner) is types.Array else None


class _StoredTemplate(AbstractTemplate):
    """Asks the store what a call means, then the function that is loaded for want of an answer.

    name: of the function. implementations: what lowering asks for, by the types of the arguments.
    """

    name: str
    implementations: dict[tuple, Any]
    this: types.Type | None = None

    def generic(self, args, kws):
        signature, implementation = self.find(args, kws)
        if signature is None:
            loaded = self.load()
            signature = loaded.get_call_type(self.context, args, kws)
            implementation = loaded.get_impl_key(signature.as_function())
        self.implementations[signature.as_function().args] = implementation
        return signature

    def find(self, args, kws):
        """What the store has of a call: its signature and what it is lowered with, or Nones."""
        if self.this is None:
            return self.context.find_stored_call(self.name, tuple(args), kws)
        signature, implementation = self.context.find_stored_call(self.name, (self.this, *args), kws)
        return signature and signature.as_method(), implementation

    def load(self):
        """The type that the function has from its own templates. Raises TypingError if there are none."""
        for features in ((), (_FEATURE,), LATE_FEATURES):
            self.context.load_late(features)
            loaded = self.find_loaded()
            if loaded is not None:
                return loaded
        raise errors.TypingError(f"Numba has no {self.name}")

    def find_loaded(self):
        # From the class: NumPy's functions would be bound to an instance, as methods are.
        return self.context.find_loaded_function(type(self).key)

    def get_impl_key(self, sig):
        return self.implementations[sig.as_function().args]


class _StoredMethodTemplate(_StoredTemplate):
    def find_loaded(self):
        return self.context.find_loaded_attribute(self.this, self.key[1])


class StoredMethod(types.BoundFunction):
    """A method of arrays of which calls are kept."""

    def get_impl_key(self, sig):
        return self.template.implementations[sig.as_function().args]


class StoredCalls(typing.BaseContext):
    """Mixed into a typing context, behind what loads late features."""

    #: The compiler of a target that this context is part of.
    _descriptor: Any

    def init(self):
        super().init()
        #: Functions and methods by name, None where no calls are kept; and calls that were found.
        self._stored_types: dict[str, type[_StoredTemplate] | None] = {}
        self._stored_calls: dict[tuple, tuple[Any, Any]] = {}
        self._kept_calls: set[str] = set()

    def find_loaded_function(self, value):
        return super()._get_global_type(value)

    def find_loaded_attribute(self, typ, attr):
        return super().resolve_getattr(typ, attr)

    def _get_global_type(self, gv):
        found = self.find_loaded_function(gv)
        template = None if found is not None else self._stored_template(_name_of_function(gv), _StoredTemplate, gv)
        return found if template is None else RememberingFunction(template)

    def resolve_getattr(self, typ, attr):
        found = self.find_loaded_attribute(typ, attr)
        name = None if found is not None else _name_of_method(typ, attr)
        template = self._stored_template(name, _StoredMethodTemplate, (type(typ), attr))
        return found if template is None else StoredMethod(template, typ)

    def unify_pairs(self, first, second):
        # Numba looks attributes of modules up again and again, and may have loaded the function meanwhile.
        for stored, other in ((first, second), (second, first)):
            if _template_of(stored) is not None and isinstance(other, types.Function):
                if other.typing_key == stored.typing_key:
                    return stored
        return super().unify_pairs(first, second)

    def _stored_template(self, name: str | None, base: type[_StoredTemplate], key: Any) -> type[_StoredTemplate] | None:
        store = self._descriptor.overload_store
        if store is None or name is None:
            return None
        if name not in self._stored_types:
            attributes = {"key": key, "name": name, "implementations": {}}
            is_kept = store.find(self._call_key(name)) is not None
            self._stored_types[name] = type(f"Stored_{name}", (base,), attributes) if is_kept else None
        return self._stored_types[name]

    def find_stored_call(self, name: str, args: tuple, kws: dict) -> tuple[Any, Any]:
        """The signature of a call that is kept and the key under which its implementation can be lowered, or Nones."""
        store, question = self._descriptor.overload_store, (name, args, _caller_flags())
        if kws or store is None:
            return None, None
        if question in self._stored_calls:
            return self._stored_calls[question]
        with suppress(NotExpressible):
            text = store.find(self._call_key(*question))
            found = None if text is None else self._insert_stored_call(store, json.loads(text))
            if found is not None:
                self._stored_calls[question] = found
                return found
        return None, None

    def _insert_stored_call(self, store, data: dict[str, Any]) -> tuple[Any, Any] | None:
        target_context = self._descriptor.target_context
        result = find_implementation(store, data["implementation"], target_context)
        if result is None:
            return None
        target_context.insert_user_function(result.entry_point, result.fndesc, [result.library])
        parameters = [_parameter(*parameter) for parameter in data["parameters"]]
        return result.signature.replace(pysig=inspect.Signature(parameters)), result.entry_point

    def _call_key(self, name: str, args: tuple = (), flags: str | None = None) -> str:
        """The key of what a call means, and without flags that of whether calls of the function are kept."""
        target = self._descriptor._target_name
        return json.dumps(
            {"call of": name, "arguments": list(map(encode_type, args)), "flags": flags, "target": target}
        )

    def resolve_function_type(self, func, args, kws):
        template = _template_of(func)
        if template is None or template(self).find(args, kws)[0] is not None:
            asked = func
        else:
            # Asked itself, the function explains errors better than a template that asks it.
            asked = template(self).load()
        found = super().resolve_function_type(asked, args, kws)
        if found is None:
            return None
        if asked is not func:
            implementations = func._impl_keys if isinstance(func, types.Function) else template.implementations
            implementations[found.as_function().args] = asked.get_impl_key(found.as_function())
        store = self._descriptor.overload_store
        if store is not None and store.keeps and not kws:
            with suppress(NotExpressible):
                self._keep_call(store, asked, tuple(args), found)
        return found

    # -- keeping

    def _keep_call(self, store, func, args: tuple, signature) -> None:
        """Keep what a call means, if its implementation is kept. Raises NotExpressible."""
        parameters = list(signature.pysig.parameters.values()) if signature.pysig is not None else []
        function = signature.as_function()
        if isinstance(func, types.Function):
            name, implementation = _name_of_function(func.typing_key), func.get_impl_key(function)
        elif isinstance(func, types.BoundFunction) and hasattr(func.template, "_overload_func"):
            name, args = _name_of_method(func.this, func.typing_key[1]), (func.this, *args)
            implementation = self.resolve_value_type(func.template._overload_func).get_impl_key(function)
            parameters.insert(0, inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD))
        else:
            return
        kept = self._descriptor.kept_implementations.get(implementation) if isinstance(implementation, tuple) else None
        # Of a literal, the value may have decided.
        is_plain = len(parameters) == len(function.args) and all(types.unliteral(type_) == type_ for type_ in args)
        if name is None or kept is None or not is_plain:
            return
        call = self._call_key(name, args, _caller_flags())
        text = json.dumps({"implementation": kept, "parameters": list(map(_describe_parameter, parameters))})
        if call not in self._kept_calls:
            self._kept_calls.add(call)
            store.keep(self._call_key(name), "")
            store.keep(call, text)


def _caller_flags() -> str:
    flags = targetconfig.ConfigStack.top_or_none()
    return flags.summary() if flags is not None else ""


def _template_of(func: Any) -> type[_StoredTemplate] | None:
    """The template of a stored function or method; None for others."""
    template = func.templates[0] if isinstance(func, types.Function) else getattr(func, "template", None)
    return template if isinstance(template, type) and issubclass(template, _StoredTemplate) else None


def _describe_parameter(parameter: inspect.Parameter) -> tuple[str, list]:
    """Name, and default value if there is one. Raises NotExpressible."""
    if parameter.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
        raise NotExpressible(f"parameter {parameter}")
    default = parameter.default
    if default is inspect.Parameter.empty:
        return parameter.name, []
    if type(default) not in (bool, int, float, str, type(None)):
        raise NotExpressible(f"parameter {parameter}")
    return parameter.name, [default]


def _parameter(name: str, default: list) -> inspect.Parameter:
    value = default[0] if default else inspect.Parameter.empty
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value)
