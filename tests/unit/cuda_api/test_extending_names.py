"""numba.cuda.extending has Numba's own names where ours do not differ."""

from __future__ import annotations

import numba.extending

import numba_ptxplus
from numba_gpucore.cuda_api.submodules import make_submodule


def test_as_numba_type_is_numbas() -> None:
    extending = make_submodule("extending", numba_ptxplus)
    assert extending.as_numba_type is numba.extending.as_numba_type
    assert extending.as_numba_type(int) == numba.int64


def test_grid_groups_have_a_type_to_overload_for() -> None:
    types = make_submodule("types", numba_ptxplus)
    assert isinstance(types.grid_group, types.GridGroup) and issubclass(types.GridGroup, types.Type)
