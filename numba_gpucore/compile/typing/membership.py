"""Typing of `item in tuple` for tuples of several types, which Numba has for those of one type only."""

from __future__ import annotations

import operator

from numba_gpucore.compile.numba_api import AbstractTemplate, templates, types
from numba_gpucore.compile.typing.registry import registry


@registry.register_global(operator.contains)
class TupleContains(AbstractTemplate):
    def generic(self, args, kws):
        container, item = args
        if isinstance(container, (types.Tuple, types.NamedTuple)):
            return templates.signature(types.boolean, container, types.unliteral(item))
        return None
