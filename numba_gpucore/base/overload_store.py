"""Where lowered implementations of Numba's functions are kept between processes. Before: launch. After: compile."""

from __future__ import annotations

from typing import Protocol


class OverloadStore(Protocol):
    """Texts by key. A key need not hold versions of packages or of our own source: the store adds them."""

    #: Whether this process fills the store.
    keeps: bool

    def find(self, key: str) -> str | None:
        """The text that was kept under `key`, if it is there, whole and to be trusted."""

    def keep(self, key: str, text: str) -> None:
        """Keep a text, where this process fills the store and the disk takes it; else nothing happens."""
