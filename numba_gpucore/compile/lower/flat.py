"""Lowering of `array.flat[i]` with the wraparound and bounds check that Numba's own lacks."""

from __future__ import annotations

import operator

from numba_gpucore.compile.bounds import index_from_start
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import arrayobj, types

# More specific than Numba's own, which take any integer.
_INDICES = tuple(sorted({*types.signed_domain, *types.unsigned_domain}, key=str))


def _checked_index(context, builder, sig, args):
    """The index as intp, inside of the array where bounds checks are on."""
    flat_type, index_type = sig.args[:2]
    flat = arrayobj.make_array_flat_cls(flat_type)(context, builder, value=args[0])
    array = context.make_array(flat_type.array_type)(context, builder, value=flat.array)
    return index_from_start(context, builder, index_type, args[1], array.nitems, 0)


def _lower_getitem(context, builder, sig, args):
    index = _checked_index(context, builder, sig, args)
    return arrayobj.iternext_numpy_getitem(context, builder, sig, (args[0], index))


def _lower_setitem(context, builder, sig, args):
    index = _checked_index(context, builder, sig, args)
    item_type = sig.args[0].array_type.dtype
    value = context.cast(builder, args[2], sig.args[2], item_type)
    return arrayobj.iternext_numpy_getitem_any(context, builder, sig, (args[0], index, value))


for _index in _INDICES:
    lower(operator.getitem, types.NumpyFlatType, _index)(_lower_getitem)
    lower(operator.setitem, types.NumpyFlatType, _index, types.Any)(_lower_setitem)
