"""MSL of integers of 65 to 128 bits, as pairs of ulong. Before: `wide_integers` names them. After: `helpers`."""

from __future__ import annotations

_BITWISE = {"and": "&", "or": "|", "xor": "^"}
_STRUCT = "struct wide {\n    ulong low;\n    ulong high;\n};\n"


def _function(head: str, body: str) -> str:
    return f"static inline wide {head}\n{{\n    wide r;\n{body}    return r;\n}}\n"


WIDE_HELPERS: dict[str, str] = {
    "wide_of": _STRUCT + "\n" + _function("wide_of(ulong low, ulong high)", "    r.low = low;\n    r.high = high;\n"),
    "wide_add": _function(
        "wide_add(wide a, wide b)",
        "    r = wide_of(a.low + b.low, a.high + b.high);\n    r.high += ulong(r.low < a.low);\n",
    ),
    "wide_sub": _function(
        "wide_sub(wide a, wide b)", "    r = wide_of(a.low - b.low, a.high - b.high - ulong(a.low < b.low));\n"
    ),
    "wide_mul": _function(
        "wide_mul(wide a, wide b)",
        "    r = wide_of(a.low * b.low, mulhi(a.low, b.low) + a.low * b.high + a.high * b.low);\n",
    ),
    **{
        f"wide_{name}": _function(
            f"wide_{name}(wide a, wide b)", f"    r = wide_of(a.low {sign} b.low, a.high {sign} b.high);\n"
        )
        for name, sign in _BITWISE.items()
    },
    "wide_shl": _function(
        "wide_shl(wide a, uint n)",
        "    if (n == 0u)\n        r = a;\n"
        "    else if (n < 64u)\n        r = wide_of(a.low << n, (a.high << n) | (a.low >> (64u - n)));\n"
        "    else\n        r = wide_of(0UL, a.low << (n - 64u));\n",
    ),
    "wide_lshr": _function(
        "wide_lshr(wide a, uint n)",
        "    if (n == 0u)\n        r = a;\n"
        "    else if (n < 64u)\n        r = wide_of((a.low >> n) | (a.high << (64u - n)), a.high >> n);\n"
        "    else\n        r = wide_of(a.high >> (n - 64u), 0UL);\n",
    ),
}
