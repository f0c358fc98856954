"""Compare-and-swap loops for atomics that MSL lacks. Before: `atomics` names them. After: `helpers`.

MSL has only weak compare-and-swap, which may fail for no reason and so stands in a loop. Values of 8 and 16 bits are
changed inside the aligned 32-bit word that holds them. Source: MSL specification 6.15.4.
"""

from __future__ import annotations

from collections.abc import Callable

_NBYTES = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "half": 2, "int": 4, "uint": 4, "float": 4}
_RESULTS = {
    "add": "{t}({w}(old) + {w}(value))", "sub": "{t}({w}(old) - {w}(value))", "and": "{t}(old & value)",
    "or": "{t}(old | value)", "xor": "{t}(old ^ value)", "max": "max(old, value)", "umax": "max(old, value)",
    "min": "min(old, value)", "umin": "min(old, value)", "xchg": "value", "fadd": "old + value", "fsub": "old - value",
    # fmin and fmax give the other operand where one is NaN, as LLVM's atomicrmw fmin and fmax do.
    "fmax": "{precise}fmax(old, value)", "fmin": "{precise}fmin(old, value)",
    "uinc_wrap": "{t}(old >= value ? 0 : old + 1)",
    "udec_wrap": "{t}(old == 0 || old > value ? value : {t}(old - 1))",
}  # fmt: skip


def _atomic_loop(operation: str, type_: str, space: str) -> str:
    name = f"atomic_{operation}_{type_}_{space}"
    result = _RESULTS[operation].format(t=type_, w="uint", precise="precise::" if type_ == "float" else "")
    head = f"static inline {type_} {name}({space} {type_}* place, {type_} value)\n{{\n"
    if _NBYTES[type_] == 4:
        return head + (
            f"    {space} atomic_uint* word = ({space} atomic_uint*)place;\n"
            "    uint seen = atomic_load_explicit(word, memory_order_relaxed);\n"
            "    while (true) {\n"
            f"        {type_} old = as_type<{type_}>(seen);\n"
            f"        uint wanted = as_type<uint>({result});\n"
            "        if (atomic_compare_exchange_weak_explicit(word, &seen, wanted, memory_order_relaxed,"
            " memory_order_relaxed))\n"
            "            return old;\n"
            "    }\n}\n"
        )
    bits = 8 * _NBYTES[type_]
    unsigned = "uchar" if bits == 8 else "ushort"
    old = f"as_type<{type_}>({unsigned}(seen >> shift))"
    wanted = f"as_type<{unsigned}>({type_}({result}))"
    return head + (
        f"    uint misalignment = uint((ulong)place & 3UL);\n"
        f"    {space} atomic_uint* word = ({space} atomic_uint*)(({space} uchar*)place - misalignment);\n"
        f"    uint shift = 8u * misalignment, mask = {hex((1 << bits) - 1)}u << shift;\n"
        "    uint seen = atomic_load_explicit(word, memory_order_relaxed);\n"
        "    while (true) {\n"
        f"        {type_} old = {old};\n"
        f"        uint wanted = (seen & ~mask) | (uint({wanted}) << shift);\n"
        "        if (atomic_compare_exchange_weak_explicit(word, &seen, wanted, memory_order_relaxed,"
        " memory_order_relaxed))\n"
        "            return old;\n"
        "    }\n}\n"
    )


def _compare_and_swap(type_: str, space: str) -> str:
    """Returns what memory held; it was replaced if that equals `expected`."""
    name = f"compare_and_swap_{type_}_{space}"
    head = f"static inline {type_} {name}({space} {type_}* place, {type_} expected, {type_} wanted)\n{{\n"
    bits = 8 * _NBYTES[type_]
    if bits == 32:
        return head + (
            f"    {space} atomic_uint* word = ({space} atomic_uint*)place;\n"
            "    uint seen = expected;\n"
            "    while (seen == expected)\n"
            "        if (atomic_compare_exchange_weak_explicit(word, &seen, wanted, memory_order_relaxed,"
            " memory_order_relaxed))\n"
            "            break;\n"
            "    return seen;\n}\n"
        )
    return head + (
        f"    uint misalignment = uint((ulong)place & 3UL);\n"
        f"    {space} atomic_uint* word = ({space} atomic_uint*)(({space} uchar*)place - misalignment);\n"
        f"    uint shift = 8u * misalignment, mask = {hex((1 << bits) - 1)}u << shift;\n"
        "    uint seen = atomic_load_explicit(word, memory_order_relaxed);\n"
        f"    while ({type_}(seen >> shift) == expected) {{\n"
        "        uint replaced = (seen & ~mask) | (uint(wanted) << shift);\n"
        "        if (atomic_compare_exchange_weak_explicit(word, &seen, replaced, memory_order_relaxed,"
        " memory_order_relaxed))\n"
        "            break;\n"
        "    }\n"
        f"    return {type_}(seen >> shift);\n}}\n"
    )


def _narrow_load(type_: str, space: str) -> str:
    return (
        f"static inline {type_} atomic_load_{type_}_{space}({space} {type_}* place)\n{{\n"
        "    uint misalignment = uint((ulong)place & 3UL);\n"
        f"    {space} atomic_uint* word = ({space} atomic_uint*)(({space} uchar*)place - misalignment);\n"
        f"    return {type_}(atomic_load_explicit(word, memory_order_relaxed) >> (8u * misalignment));\n}}\n"
    )


#: Patterns of helper names and what writes the definition from their groups.
ATOMIC_HELPERS: tuple[tuple[str, Callable[..., str]], ...] = (
    (r"atomic_load_(uchar|ushort)_(device|threadgroup)", _narrow_load),
    (r"atomic_([a-z]+(?:_wrap)?)_([a-z]+)_(device|threadgroup)", _atomic_loop),
    (r"compare_and_swap_([a-z]+)_(device|threadgroup)", _compare_and_swap),
)
