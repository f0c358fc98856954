"""Lowering of cooperative groups."""

from __future__ import annotations

from numba_gpucore import cooperative_groups
from numba_gpucore.compile.llvm_calls import call_intrinsic
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.typing.cooperative_groups import GridGroupType


@lower(cooperative_groups.this_grid)
def lower_this_grid(context, _builder, _sig, _args):
    return context.get_dummy_value()


@lower("GridGroup.sync", GridGroupType)
def lower_grid_sync(context, builder, _sig, _args):
    call_intrinsic(builder, "gpu.barrier.grid")
    return context.get_dummy_value()
