"""The layout of a generalized ufunc, "(m,n),(n)->(m)". Before: guvectorize. After: loops, sources.

Source: NumPy, "Generalized universal function API", signatures of names.
"""

from __future__ import annotations

from collections.abc import Sequence

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.base.records import dataclass

Axes = tuple[str, ...]
Shape = tuple[int, ...]

_GROUPS = r"(?:\([\w,]*\)(?:,\([\w,]*\))*,?)"
_LAYOUT = late_pattern(rf"({_GROUPS}?)->({_GROUPS})")
_GROUP = late_pattern(r"\(([\w,]*)\)")


@dataclass(frozen=True)
class CoreLayout:
    """Names of the core axes of each input and output. `str` gives the text that `parse` takes."""

    inputs: tuple[Axes, ...]
    outputs: tuple[Axes, ...]

    @classmethod
    def parse(cls, text: str) -> CoreLayout:
        """Raises ValueError for bad grammar, NameError for output axes that no input has."""
        match = _LAYOUT.fullmatch("".join(text.split()))
        if match is None:
            raise ValueError(f"a layout reads like '(m,n),(n)->(m)', not {text!r}")
        inputs, outputs = (tuple(map(_axes_of, _GROUP.findall(side))) for side in match.groups())
        for name in (name for axes in (*inputs, *outputs) for name in axes):
            if not name.isidentifier():
                raise ValueError(f"axis {name!r} in layout {text!r} is not a name")
        known = {name for axes in inputs for name in axes}
        undefined = sorted({name for axes in outputs for name in axes} - known)
        if undefined:
            raise NameError(f"undefined output symbols: {','.join(undefined)} in layout {text!r}")
        return cls(inputs, outputs)

    def __str__(self) -> str:
        sides = (",".join(f"({','.join(axes)})" for axes in side) for side in (self.inputs, self.outputs))
        return "->".join(sides)

    def split_shapes(self, shapes: Sequence[Shape]) -> tuple[list[Shape], list[Shape]]:
        """Loop shapes of the inputs, and core shapes of the outputs. Raises ValueError where shapes do not fit."""
        extents: dict[str, int] = {}
        loops = []
        for number, (shape, axes) in enumerate(zip(shapes, self.inputs, strict=True)):
            if len(shape) < len(axes):
                raise ValueError(
                    f"arg #{number + 1}: insufficient inner dimension: shape {shape} for ({','.join(axes)})"
                )
            first = len(shape) - len(axes)
            loops.append(shape[:first])
            for axis, (name, extent) in enumerate(zip(axes, shape[first:], strict=True), start=first):
                if extents.setdefault(name, extent) != extent:
                    raise ValueError(
                        f"arg #{number + 1}: shape[{axis}] mismatch argument: {name} is {extents[name]}, got {extent}"
                    )
        return loops, [tuple(extents[name] for name in axes) for axes in self.outputs]


def _axes_of(group: str) -> Axes:
    return tuple(name for name in group.split(",") if name)
