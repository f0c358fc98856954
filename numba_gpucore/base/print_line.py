"""What a `print` in a kernel writes. Before: lowering makes it. After: the Artifact keeps it, launch.printing uses it.

Text stays on the host: device code only carries a line's index and the numbers.
"""

from __future__ import annotations

from numba_gpucore.base.digest import id_of_text
from numba_gpucore.base.records import dataclass
from numba_gpucore.base.site import Hole


@dataclass(frozen=True)
class PrintLine:
    """Text and holes one after another, separators and line end included."""

    parts: tuple[str | Hole, ...]

    @property
    def content_id(self) -> int:
        return id_of_text(repr(self.parts))

    @property
    def holes(self) -> tuple[Hole, ...]:
        return tuple(part for part in self.parts if isinstance(part, Hole))
