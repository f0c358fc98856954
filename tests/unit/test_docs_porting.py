"""docs/porting.md says what the code does."""

from __future__ import annotations

from docs import generate_porting


def test_the_page_is_what_the_code_says() -> None:
    assert generate_porting.PAGE.read_text(encoding="utf-8") == generate_porting.page(), "run make docs-porting"


def test_a_name_that_nobody_has_is_not_passed_over() -> None:
    for name in ("no_such_name", "Kernel.no_such_name"):
        try:
            generate_porting.status_of(name)
        except ValueError as error:
            assert "is not listed as not offered" in str(error)
        else:
            raise AssertionError(name)
