"""JSON for the launch half. Before: records. After: keys and files of the cache.

The module is imported when it is first used: 1.2 of the 23 ms of our import are its own, and a program that only
decorates needs none.
"""

from __future__ import annotations

from typing import Any


def to_json(value: Any, sort_keys: bool = False) -> str:
    import json  # noqa: PLC0415 - see above

    return json.dumps(value, sort_keys=sort_keys)


def from_json(text: str | bytes) -> Any:
    """Raises ValueError, and RecursionError for lists in lists without end."""
    import json  # noqa: PLC0415 - see above

    return json.loads(text)
