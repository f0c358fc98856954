"""Lowering of comparisons, min and max of int64 beside uint64, and of round(integer). Before: typing.mixed_integers.

A negative number is below every uint64; two that are not negative compare as unsigned.
"""

from __future__ import annotations

import itertools
import operator

from numba_gpucore.compile.lower.integers import WORDS
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import types
from numba_gpucore.compile.typing.mixed_integers import COMPARISONS, EXTREMES

_SIGNS = {
    operator.eq: "==",
    operator.ne: "!=",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
}


def compare(builder, sign: str, x, y, x_type, y_type):
    """`x sign y` of 64-bit values, each of its own type in WORDS."""
    if x_type.signed and y_type.signed:
        return builder.icmp_signed(sign, x, y)
    as_unsigned = builder.icmp_unsigned(sign, x, y)
    if x_type == y_type:
        return as_unsigned
    zero = x.type(0)
    is_negative = builder.icmp_signed("<", x if x_type.signed else y, zero)
    # with a negative number: what holds for -1 and 0, or for 0 and -1
    held = {True: ("<", "<=", "!="), False: (">", ">=", "!=")}[x_type.signed]
    return builder.select(is_negative, is_negative.type(sign in held), as_unsigned)


def _comparison(function):
    def lower_comparison(_context, builder, sig, args):
        return compare(builder, _SIGNS[function], *args, *sig.args)

    return lower_comparison


def _extreme(sign: str):
    def lower_extreme(_context, builder, sig, args):
        value, type_ = args[0], sig.args[0]
        for other, other_type in zip(args[1:], sig.args[1:], strict=True):
            wins = compare(builder, sign, other, value, other_type, type_)
            value = builder.select(wins, other, value)
            type_ = type_ if type_ == other_type else sig.return_type
        return value

    return lower_extreme


def lower_round(_context, _builder, _sig, args):
    return args[0]


for _function, (_x, _y) in itertools.product(COMPARISONS, (WORDS, WORDS[::-1])):
    lower(_function, _x, _y)(_comparison(_function))
for _function in EXTREMES:
    lower(_function, types.VarArg(types.Integer))(_extreme("<" if _function is min else ">"))
lower(round, types.Integer)(lower_round)
