"""Functions of mathematics that MSL lacks, in float32. Before: `calls` names them. After: `helpers`."""

from __future__ import annotations

MATH_HELPERS: dict[str, str] = {}
