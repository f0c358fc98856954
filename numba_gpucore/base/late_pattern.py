"""Regular expressions that are compiled when they are first used. Before: nothing. After: passes that work on text.

Python takes 20 to 300 µs to compile one. The passes of a first launch have 90, of which an ordinary kernel meets half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from re import compile as late_pattern
else:
    import re

    class late_pattern:
        """Stands for `re.compile(pattern, flags)`: has the same methods, of which each is looked up once."""

        def __init__(self, pattern, flags=0):
            self._arguments = (pattern, flags)

        def __getattr__(self, name):
            value = getattr(re.compile(*self._arguments), name)
            setattr(self, name, value)
            return value


__all__ = ["late_pattern"]
