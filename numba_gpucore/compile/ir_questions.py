"""Questions to a function in Numba's IR. Before: bytecode. After: passes, and the checks of typed functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numba_gpucore.compile.numba_api import ir, types


def assignments_of(func_ir: Any) -> Iterator[ir.Assign]:
    """All assignments, block by block."""
    for block in func_ir.blocks.values():
        yield from block.find_insts(ir.Assign)


def called_type(value: Any, typemap: dict[str, types.Type]) -> types.Type | None:
    """The type of the function that an expression calls; None for what is no call."""
    return typemap[value.func.name] if isinstance(value, ir.Expr) and value.op == "call" else None
