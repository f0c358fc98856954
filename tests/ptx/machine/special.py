"""Values of the special registers. Before: wave.py's geometry. After: frames.py. PTX ISA, "Special Registers"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .errors import LaneFault
from .types import PtxType

if TYPE_CHECKING:
    from .wave import Wave

WARP_SIZE = 32
AXES = ("x", "y", "z")


def _coordinate(numbers: np.ndarray, shape: tuple[int, int, int], axis: str) -> np.ndarray:
    x, y, _z = shape
    return {"x": numbers % x, "y": numbers // x % y, "z": numbers // (x * y)}[axis]


def _value(wave: Wave, name: str) -> np.ndarray | int:
    """The register's value: an array over lanes, or one number for all."""
    geometry = wave.geometry
    lane_id = wave.thread_of_lane % WARP_SIZE
    stem, _, axis = name.removeprefix("%").partition(".")
    if stem in ("tid", "ctaid", "ntid", "nctaid") and axis in AXES:
        position = AXES.index(axis)
        if stem == "ntid":
            return geometry.block[position]
        if stem == "nctaid":
            return geometry.grid[position]
        if stem == "tid":
            return _coordinate(wave.thread_of_lane, geometry.block, axis)
        return _coordinate(geometry.first_block + wave.block_of_lane, geometry.grid, axis)
    bit = np.int64(1) << lane_id
    values: dict[str, np.ndarray | int] = {
        "%laneid": lane_id,
        "%warpid": wave.thread_of_lane // WARP_SIZE,
        "%nwarpid": geometry.padded_nthreads // WARP_SIZE,
        "%smid": 0,
        "%nsmid": 1,
        "%gridid": 0,
        "%lanemask_eq": bit,
        "%lanemask_lt": bit - 1,
        "%lanemask_le": 2 * bit - 1,
        "%lanemask_gt": 0xFFFFFFFF & ~(2 * bit - 1),
        "%lanemask_ge": 0xFFFFFFFF & ~(bit - 1),
        "%dynamic_smem_size": wave.parts.dynamic_shared_nbytes,
        "%total_smem_size": wave.parts.shared_flags.size,
        # of a cooperative launch (CUDA Toolkit, cooperative_groups/details/helpers.h)
        "%envreg1": wave.parts.grid_workspace & 0xFFFFFFFF,
        "%envreg2": wave.parts.grid_workspace >> 32,
        "WARP_SZ": WARP_SIZE,
    }
    if name not in values:
        raise LaneFault(f"special register {name} is not known")
    return values[name]


def special_array(wave: Wave, name: str, type_: PtxType) -> np.ndarray:
    """The register as an operand of `type_`, shape (lanes,). Clocks count instructions and go on by themselves."""
    if name in ("%clock", "%clock64", "%globaltimer", "%globaltimer_lo"):
        return np.broadcast_to(wave.clock.view(type_.dtype)[:1], (wave.nlanes,))
    return np.broadcast_to(np.asarray(_value(wave, name)).astype(type_.dtype), (wave.nlanes,))
