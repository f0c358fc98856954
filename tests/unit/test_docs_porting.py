"""docs/porting.md says what the code does."""

from __future__ import annotations

import subprocess
import sys

from docs import generate_porting


def test_the_page_is_what_the_code_says() -> None:
    """In a process of its own, since other tests add names to the packages."""
    code = "from docs import generate_porting; print(generate_porting.page(), end='')"
    command = [sys.executable, "-X", "utf8", "-c", code]
    page = subprocess.run(
        command, cwd=generate_porting.ROOT, capture_output=True, check=True, text=True, encoding="utf-8"
    )
    assert generate_porting.PAGE.read_text(encoding="utf-8") == page.stdout, "run make docs-porting"


def test_a_name_that_nobody_has_is_not_passed_over() -> None:
    for name in ("no_such_name", "Kernel.no_such_name"):
        try:
            generate_porting.status_of(name)
        except ValueError as error:
            assert "is not listed as not offered" in str(error)
        else:
            raise AssertionError(name)
