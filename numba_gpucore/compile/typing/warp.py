"""Typing of what the lanes of a warp tell each other."""

from __future__ import annotations

from numba_gpucore import language
from numba_gpucore.compile.numba_api import errors, templates, types
from numba_gpucore.compile.typing.bfloat16 import BFloat16
from numba_gpucore.compile.typing.registry import declare_cases, declare_typer, require_integer, require_predicate


def _exchanged_type(mask: types.Type, value: types.Type) -> types.Type:
    """The type in which `value` travels. Raises TypingError where no 64 bits hold it."""
    require_integer(mask, "Mask type")
    value = types.unliteral(value)
    if not isinstance(value, (types.Integer, types.Boolean, types.Float, BFloat16)):
        raise errors.TypingError(f"lanes exchange integers, booleans and floats, not {value}")
    return value


def _shuffle_signature(mask: types.Type, value: types.Type, position: types.Type):
    require_integer(position, "Lane")
    value = _exchanged_type(mask, value)
    return templates.signature(value, types.unliteral(mask), value, types.unliteral(position))


@declare_typer(language.shfl_sync)
def type_shfl_sync(mask, value, src_lane):
    return _shuffle_signature(mask, value, src_lane)


@declare_typer(language.shfl_up_sync)
def type_shfl_up_sync(mask, value, delta):
    return _shuffle_signature(mask, value, delta)


@declare_typer(language.shfl_down_sync)
def type_shfl_down_sync(mask, value, delta):
    return _shuffle_signature(mask, value, delta)


@declare_typer(language.shfl_xor_sync)
def type_shfl_xor_sync(mask, value, lane_mask):
    return _shuffle_signature(mask, value, lane_mask)


def _vote_signature(result: types.Type, mask: types.Type, predicate: types.Type):
    require_integer(mask, "Mask type")
    require_predicate(predicate)
    return templates.signature(result, types.unliteral(mask), types.unliteral(predicate))


def type_vote(mask, predicate):
    return _vote_signature(types.boolean, mask, predicate)


for _function in (language.all_sync, language.any_sync, language.eq_sync):
    declare_typer(_function)(type_vote)


@declare_typer(language.ballot_sync)
def type_ballot_sync(mask, predicate):
    return _vote_signature(types.uint32, mask, predicate)


@declare_typer(language.match_any_sync)
def type_match_any_sync(mask, value):
    value = _exchanged_type(mask, value)
    return templates.signature(types.uint32, types.unliteral(mask), value)


@declare_typer(language.match_all_sync)
def type_match_all_sync(mask, value):
    value = _exchanged_type(mask, value)
    return templates.signature(types.Tuple((types.uint32, types.boolean)), types.unliteral(mask), value)


declare_cases(language.activemask, templates.signature(types.uint32))
declare_cases(language.lanemask_lt, templates.signature(types.uint32))
