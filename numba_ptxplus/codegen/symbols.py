"""Symbols that mean the same in every process. Before: Numba's mangled names. After: legalize renames functions."""

from __future__ import annotations


def strip_abi_tags(symbol: str) -> str:
    """A mangled name without the tags in which Numba counts compilations and encodes flags.

    Functions that stay functions (recursion, debug) show their names in PTX, which must not depend on what was compiled
    before. Source: Itanium C++ ABI, "Mangling": `B <length> <tag>`; names are `<length> <name>`.
    """
    kept, place = [], 0
    while place < len(symbol):
        is_tag = symbol[place] == "B" and symbol[place + 1 : place + 2].isdigit()
        start = place + is_tag
        end = start
        while end < len(symbol) and symbol[end].isdigit():
            end += 1
        if end == start:
            kept.append(symbol[place])
            place += 1
            continue
        stop = end + int(symbol[start:end])
        if not is_tag:
            kept.append(symbol[place:stop])
        place = stop
    return "".join(kept)
