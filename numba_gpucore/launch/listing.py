"""Texts of programs, in colour on a terminal. Before: overloads. After: users.

Pygments is imported when a text is shown in colour, never else. Source of the convention: no-color.org.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO


class Listing(str):
    """The text of a program: a str, which an interactive session shows as it is, on a terminal in colour.

    language: Pygments' name of it: "llvm", "ptx", "cpp", "python", or "text" for what it does not know.
    """

    language: str

    def __new__(cls, text: str, language: str) -> Listing:
        listing = super().__new__(cls, text)
        listing.language = language
        return listing

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.language

    def __repr__(self) -> str:
        """The text itself in an interactive session, else as a str."""
        return self.coloured(sys.stdout) if hasattr(sys, "ps1") else super().__repr__()

    def show(self, file: TextIO | None = None) -> None:
        """Print it."""
        print(self.coloured(file or sys.stdout), file=file)

    def coloured(self, file: TextIO, always: bool = False) -> str:
        """With escape sequences if `file` is a terminal, NO_COLOR is not set and Pygments is there.

        always: whatever the file is; then raises ModuleNotFoundError without Pygments.
        """
        if not (always or _takes_colours(file)):
            return str(self)
        try:
            import pygments  # noqa: PLC0415 - optional, and slow to import
            from pygments.formatters import TerminalFormatter  # noqa: PLC0415
            from pygments.lexers import get_lexer_by_name  # noqa: PLC0415
        except ModuleNotFoundError:
            if always:
                raise ModuleNotFoundError("colours need Pygments: pip install pygments", name="pygments") from None
            return str(self)
        text: str = pygments.highlight(self, get_lexer_by_name(self.language, stripnl=False), TerminalFormatter())
        return text if self.endswith("\n") else text.removesuffix("\n")


def _takes_colours(file: TextIO) -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and file.isatty()
