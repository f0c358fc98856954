"""Typing of cooperative groups."""

from __future__ import annotations

from numba_gpucore import cooperative_groups
from numba_gpucore.compile.numba_api import datamodel, templates, types
from numba_gpucore.compile.typing.registry import declare_cases, registry


class GridGroupType(types.Type):
    """The type of `this_grid()`; its value carries nothing."""

    def __init__(self) -> None:
        super().__init__("GridGroup")


grid_group = GridGroupType()
datamodel.register_default(GridGroupType)(datamodel.models.OpaqueModel)
declare_cases(cooperative_groups.this_grid, templates.signature(grid_group))


@registry.register_attr
class GridGroupAttributes(templates.AttributeTemplate):
    key = GridGroupType

    @templates.bound_function("GridGroup.sync")
    def resolve_sync(self, group, args, kws):
        return templates.signature(types.none) if not args and not kws else None
