"""The registry that all kernel language typing goes into, and ways to fill it. Before: language. After: contexts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba_gpucore.compile.numba_api import TypingRegistry, errors, templates, types

registry = TypingRegistry()


def declare_cases(function: Callable[..., Any], *cases: Any) -> None:
    """`function` takes what one of the signatures `cases` names, after Numba's usual conversions."""
    attributes = {"key": function, "cases": list(cases)}
    registry.register_global(function, types.Function(_make_template(function, templates.ConcreteTemplate, attributes)))


def declare_typer(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: `typer(*argument types)`, with the parameters of `function`, gives the signature or None.

    Literal types are offered first, so that a typer can ask for them; omitted optional parameters are absent.
    """

    def decorate(typer: Callable[..., Any]) -> Callable[..., Any]:
        attributes = {"key": function, "prefer_literal": True, "generic": lambda template: typer}
        template = _make_template(function, templates.CallableTemplate, attributes)
        registry.register_global(function, types.Function(template))
        return typer

    return decorate


def _make_template(function: Callable[..., Any], base: type, attributes: dict[str, Any]) -> type:
    template = type(function.__qualname__, (base,), attributes)
    return registry.register(template)


def require_integer(type_: types.Type, what: str) -> None:
    """Raise TypingError unless `type_` is an integer type."""
    if not isinstance(type_, types.Integer):
        raise errors.TypingError(f"{what} must be an integer, not {type_}")


def require_predicate(type_: types.Type) -> None:
    """Raise TypingError unless `type_` is an integer type or bool."""
    if not isinstance(type_, (types.Integer, types.Boolean)):
        raise errors.TypingError(f"Predicate must be an integer or boolean, not {type_}")
