"""Symbols without what varies between processes. Source of the grammar: Itanium C++ ABI, "Mangling"."""

from __future__ import annotations

import pytest

from numba_ptxplus.codegen.symbols import strip_abi_tags


@pytest.mark.parametrize(
    "symbol, expected",
    [
        ("_ZN8__main__3addB2v2B5c0ktyEff", "_ZN8__main__3addEff"),
        ("_ZN1m1fB3v12E5ArrayIfLi1E1C7mutable7alignedE", "_ZN1m1fE5ArrayIfLi1E1C7mutable7alignedE"),
        ("_ZN4B12x2B3E", "_ZN4B12x2B3E"),
        ("plain", "plain"),
    ],
)
def test_tags_go_and_names_stay(symbol, expected):
    assert strip_abi_tags(symbol) == expected
