"""Typing of uint64 beside signed integers, of round(integer). Before: Numba's builtins. After: lower.mixed_integers.

No type of Numba's holds both uint64 and int64. Its operators compute in int64, but its comparisons, min, max and divmod
in float64 (float32 on targets without), which has too few digits to tell neighbours apart; so has round of integers.
Python compares whole numbers exactly, and that is what the types here are for: the smaller of an int64 and a uint64 is
an int64, the larger one a uint64.
"""

from __future__ import annotations

import operator

from numba_gpucore.compile.numba_api import AbstractTemplate, templates, types
from numba_gpucore.compile.targets import FOR_OUR_TARGETS
from numba_gpucore.compile.typing.registry import registry

COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
EXTREMES = {min: types.int64, max: types.uint64}


def word_of(type_: types.Integer) -> types.Integer:
    """int64 for what it holds, else uint64."""
    return types.int64 if type_.signed or type_.bitwidth < 64 else types.uint64


def are_mixed(args) -> bool:
    """True for integers among which are both a uint64 and a signed one."""
    if not all(isinstance(type_, types.Integer) for type_ in args):
        return False
    return types.uint64 in map(word_of, args) and any(type_.signed for type_ in args)


def _declare(function, make_signature, applies=are_mixed) -> None:
    def generic(_template, args, kws):
        return make_signature(args) if not kws and applies(args) else None

    attributes = {"key": function, "generic": generic, "metadata": FOR_OUR_TARGETS}
    registry.register_global(function)(type(f"integers_{function.__name__}", (AbstractTemplate,), attributes))


def _extreme_signature(result):
    return lambda args: templates.signature(result, *map(word_of, args))


for _comparison in COMPARISONS:
    _declare(_comparison, lambda args: templates.signature(types.boolean, *map(word_of, args)))
for _function, _result in EXTREMES.items():
    _declare(_function, _extreme_signature(_result))
_declare(divmod, lambda _args: templates.signature(types.UniTuple(types.int64, 2), types.int64, types.int64))
_declare(
    round,
    lambda args: templates.signature(types.unliteral(args[0]), types.unliteral(args[0])),
    lambda args: len(args) == 1 and isinstance(args[0], types.Integer),
)
