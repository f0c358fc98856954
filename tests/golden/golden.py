"""Emitted text kept under version control, so that a change of it is seen in review.

`REWRITE_GOLDENS=1 python -m pytest tests/golden` writes what is emitted now; read the difference before committing.
"""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def check_golden(name: str, text: str) -> None:
    """Fail unless `tests/golden/<name>` holds exactly `text`; under REWRITE_GOLDENS=1 write it."""
    path = FOLDER / name
    if os.environ.get("REWRITE_GOLDENS") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    assert path.is_file(), f"{path} is missing; REWRITE_GOLDENS=1 python -m pytest tests/golden writes it"
    assert text == path.read_text(encoding="utf-8"), f"{name} differs; REWRITE_GOLDENS=1 accepts the new text"
