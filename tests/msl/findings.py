"""What the lint finds, and what it learns about kernels. Before: nothing. After: lint_*.py, library.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Finding(NamedTuple):
    """A rule that the source breaks, in a line counted from 1."""

    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"msl:{self.line}: [{self.rule}] {self.text}"


@dataclass(frozen=True)
class KernelParam:
    """attribute: "buffer", "threadgroup", "thread_position_in_grid", ... index: of [[buffer(n)]]. space: device,
    constant or threadgroup for pointers and references. type: clang's spelling without the parameter's own space."""

    name: str
    type: str
    attribute: str
    index: int | None
    space: str | None
    is_reference: bool


@dataclass(frozen=True)
class KernelSignature:
    name: str
    line: int
    params: tuple[KernelParam, ...]
