"""How far a command is. Before: warm.command. After: the terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TextIO

_WIDTH = 30


class ProgressBar:
    """A bar on the last line of a terminal's standard error, under what is printed meanwhile; elsewhere each line
    tells the count."""

    def __init__(self, n_steps: int, bar_file: TextIO | None = None):
        self._n_steps = n_steps
        self._n_done = 0
        self._file = sys.stderr if bar_file is None else bar_file
        self._is_drawn = self._file.isatty()

    def __enter__(self) -> ProgressBar:
        self._draw()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._erase()

    def advance(self) -> None:
        self._n_done += 1
        self._draw()

    def print(self, text: str, file: TextIO | None = None) -> None:
        """Print a line above the bar."""
        self._erase()
        count = "" if self._is_drawn else f"[{self._n_done}/{self._n_steps}] "
        print(f"{count}{text}", file=file or sys.stdout, flush=True)
        self._draw()

    def _draw(self) -> None:
        if self._is_drawn:
            n_filled = _WIDTH * self._n_done // self._n_steps
            bar = "█" * n_filled + "░" * (_WIDTH - n_filled)
            self._file.write(f"\r{bar} {self._n_done}/{self._n_steps}")
            self._file.flush()

    def _erase(self) -> None:
        if self._is_drawn:
            self._file.write("\r\x1b[K")  # ECMA-48: erase to the end of the line
            self._file.flush()
