"""Modules that extend Numba and take part in a function: overloads, intrinsics, types. Before: typing. After:
Artifact.sources.

Numba finds these by type, so nothing in the kernel's bytecode leads to them and its fingerprint cannot know that they
changed.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Container, Iterator
from functools import cache
from typing import Any

from numba_gpucore.base.artifact import SourceCheck
from numba_gpucore.base.source import digest_module_source
from numba_gpucore.base.versions import KNOWN_PACKAGES, version_of
from numba_gpucore.compile.call_chains import is_library_file
from numba_gpucore.compile.module_imports import modules_behind
from numba_gpucore.compile.numba_api import ir, types, typing

#: Where a template keeps the user's function, by kind of template.
_DEFINITION_ATTRIBUTES = ("_overload_func", "_definition_func")
#: Where Python takes those classes of templates to be from that Numba's decorators make.
_MODULES_OF_MADE_CLASSES = ("abc", "numba.core.typing.templates")
#: Where expressions of Numba's IR keep the functions that they stand for, by their names.
_OPERATOR_FIELDS = {"binop": ("fn",), "inplace_binop": ("fn", "immutable_fn"), "unary": ("fn",)}
#: What other expressions and statements stand for.
_OPERATORS = {
    "getitem": operator.getitem,
    "static_getitem": operator.getitem,
    ir.SetItem: operator.setitem,
    ir.StaticSetItem: operator.setitem,
    ir.DelItem: operator.delitem,
}


def modules_taking_part(func_ir: Any, typemap: dict[str, types.Type], context: typing.BaseContext) -> frozenset[str]:
    """Names of the user's modules that say what a typed function means: with the overloads, intrinsics and typing
    templates of what it calls, of its operators and of the attributes that it reads, and with classes of types."""
    types_ = set(typemap.values())
    operators, attributes = _operators_and_attributes(func_ir, typemap)
    called = types_ | {context._lookup_global(function) for function in operators}
    templates = {template for type_ in called for template in _templates_called(type_)}
    templates |= {
        template
        for owner, name in attributes
        for template in context._get_attribute_templates(owner)
        if getattr(template, "_attr", name) == name
    }
    return frozenset(filter(_is_users, map(_class_module, types_))).union(*map(_defining_modules, templates))


def _operators_and_attributes(
    func_ir: Any, typemap: dict[str, types.Type]
) -> tuple[set[Any], set[tuple[types.Type, str]]]:
    """Functions that operators stand for, and what attributes of what types are read or set."""
    operators, attributes = set[Any](), set[tuple[types.Type, str]]()
    for block in func_ir.blocks.values():
        for statement in block.body:
            what = statement.value if type(statement) is ir.Assign else statement
            op = what.op if type(what) is ir.Expr else type(what)
            if op == "getattr":
                attributes.add((typemap[what.value.name], what.attr))
            elif op is ir.SetAttr:
                attributes.add((typemap[what.target.name], what.attr))
            elif op in _OPERATOR_FIELDS:
                operators.update(getattr(what, name) for name in _OPERATOR_FIELDS[op])
            elif op in _OPERATORS:
                operators.add(_OPERATORS[op])
    return operators, attributes


def _templates_called(type_: types.Type | None) -> Iterator[Any]:
    if isinstance(type_, types.Function):
        yield from type_.templates
    elif isinstance(type_, types.BoundFunction):
        yield type_.template


@cache
def _defining_modules(template: Any) -> frozenset[str]:
    """The user's modules that define a template."""
    return frozenset(filter(_is_users, _modules_of(template)))


def _modules_of(template: Any) -> Iterator[str]:
    if template.__module__ not in _MODULES_OF_MADE_CLASSES:
        yield template.__module__
        return
    for name in _DEFINITION_ATTRIBUTES:
        definition = getattr(template, name, None)
        if definition is not None:
            yield _module_with_source(definition)
            return
    # What `infer_global` decorates, and what `type_callable` does.
    yield from (base.__module__ for base in getattr(template, "__mro__", ()))
    for cell in getattr(getattr(template, "generic", None), "__closure__", None) or ():
        yield _module_with_source(cell.cell_contents)


def _module_with_source(function: Any) -> str:
    """The module of a function; a name that has no source where no module's file tells of it.

    So it is with what was entered at a prompt beside a script, and what `exec` makes in a namespace without a name.
    """
    filename = getattr(getattr(function, "__code__", None), "co_filename", "")
    module: str = getattr(function, "__module__", None) or ""
    if not module:
        return "" if is_library_file(filename) else filename
    return f"{module} {filename}" if module == "__main__" and filename.startswith("<") else module


def _class_module(type_: types.Type) -> str:
    return type(type_).__module__


def _is_users(module: str) -> bool:
    return module != "" and module.partition(".")[0] not in KNOWN_PACKAGES


def check_sources(modules: Collection[str], loaded_before: Container[str]) -> tuple[SourceCheck, ...]:
    """What a later hit must find unchanged, sorted by module. loaded_before: what was there before compiling."""
    own = [SourceCheck(name, digest_module_source(name), needs_loading=name in loaded_before) for name in modules]
    behind, packages = modules_behind(modules)
    # What has no file, such as a namespace package, has nothing to read.
    read = [SourceCheck(name, digest, needs_loading=False) for name in behind if (digest := digest_module_source(name))]
    versions = [SourceCheck(name, version_of(name), needs_loading=False, is_version=True) for name in packages]
    return tuple(sorted((*own, *read, *versions), key=lambda source: source.module))
