"""MSL helper functions that a kernel gets when its body calls them. Before: the body is printed. After: `print_kernel`.

`helper_text(name)` gives the definition and the names of the helpers that it calls. Names say what and for which type.
Functions of mathematics are in `math_helpers`, atomic loops in `atomic_helpers`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from numba_metal.codegen.atomic_helpers import ATOMIC_HELPERS
from numba_metal.codegen.math_helpers import MATH_HELPERS
from numba_metal.codegen.print_helpers import PRINT_HELPERS
from numba_metal.codegen.wide_helpers import WIDE_HELPERS

_UNSIGNED = {"int": "uint", "long": "ulong", "uint": "uint", "ulong": "ulong"}
_BITS = {"uchar": 8, "ushort": 16, "uint": 32, "ulong": 64, "char": 8, "short": 16, "int": 32, "long": 64}
_MIN = {"char": "-128", "short": "-32768", "int": "(-2147483647 - 1)", "long": "(-9223372036854775807L - 1)"}
_MAX = {
    "char": "127", "short": "32767", "int": "2147483647", "long": "9223372036854775807L",
    "uchar": "255", "ushort": "65535", "uint": "4294967295u", "ulong": "18446744073709551615UL",
}  # fmt: skip


def _divide(kind: str, type_: str) -> str:
    """Division by zero gives 0; MIN / -1 wraps to MIN, as it does in NumPy."""
    operator = {"divide": "/", "remainder": "%"}[kind]
    if type_ in _MIN:
        u = _UNSIGNED[type_]
        wrapped = f"{type_}({u}(0) - {u}(a))" if kind == "divide" else "0"
        special = f"b == 0 ? 0 : b == -1 ? {wrapped} : "
    else:
        special = "b == 0 ? 0 : "
    return f"static inline {type_} {kind}_{type_}({type_} a, {type_} b)\n{{\n    return {special}a {operator} b;\n}}\n"


def _float_to_int(type_: str) -> str:
    """Saturates, and gives 0 for NaN, as CUDA and LLVM's fptosi.sat do."""
    bits = _BITS[type_]
    if type_ in _MIN:
        low, high = f"-0x1p{bits - 1}f", f"0x1p{bits - 1}f"
        body = f"x >= {high} ? {_MAX[type_]} : x >= {low} ? {type_}(x) : x < {low} ? {_MIN[type_]} : 0"
    else:
        body = f"x >= 0x1p{bits}f ? {_MAX[type_]} : x > -1.0f ? {type_}(x) : 0"
    return f"static inline {type_} float_to_{type_}(float x)\n{{\n    return {body};\n}}\n"


def _absolute(type_: str) -> str:
    u = _UNSIGNED[type_]
    return (
        f"static inline {type_} absolute_{type_}({type_} x)\n{{\n    return x < 0 ? {type_}({u}(0) - {u}(x)) : x;\n}}\n"
    )


def _swap_bytes(type_: str) -> str:
    bits = _BITS[type_]
    parts = [f"((x >> {8 * i}) & {type_}(0xff)) << {bits - 8 - 8 * i}" for i in range(bits // 8)]
    body = " | ".join(f"({part})" for part in parts)
    return f"static inline {type_} swap_bytes_{type_}({type_} x)\n{{\n    return {type_}({body});\n}}\n"


def _funnel(direction: str, type_: str) -> str:
    bits = _BITS[type_]
    near, far = ("high", "low") if direction == "left" else ("low", "high")
    one, other = ("<<", ">>") if direction == "left" else (">>", "<<")
    return (
        f"static inline {type_} funnel_{direction}_{type_}({type_} high, {type_} low, {type_} amount)\n{{\n"
        f"    {type_} count = amount & {bits - 1};\n"
        f"    return count == 0 ? {near} : {type_}(({near} {one} count) | ({far} {other} ({bits} - count)));\n}}\n"
    )


def _wraps(operation: str, type_: str) -> str:
    u = _UNSIGNED[type_]
    tests = {
        ("add", True): f"{type_} sum = {type_}({u}(a) + {u}(b));\n    return ((a ^ sum) & (b ^ sum)) < 0;",
        ("sub", True): f"{type_} rest = {type_}({u}(a) - {u}(b));\n    return ((a ^ b) & (a ^ rest)) < 0;",
        ("mul", True): f"return mulhi(a, b) != ({type_}({u}(a) * {u}(b)) >> {_BITS[type_] - 1});",
        ("add", False): f"return {type_}(a + b) < a;",
        ("sub", False): "return a < b;",
        ("mul", False): "return mulhi(a, b) != 0;",
    }
    return (
        f"static inline bool wraps_{operation}_{type_}({type_} a, {type_} b)\n{{\n"
        f"    {tests[operation, type_ in _MIN]}\n}}\n"
    )


_DOUBLE_BITS = """\
// The pattern of the double that equals x: numbers of exceptions travel so.
static inline ulong double_bits(float x)
{
    uint bits = as_type<uint>(x);
    ulong sign = ulong(bits >> 31) << 63;
    uint exponent = (bits >> 23) & 0xff;
    ulong fraction = bits & 0x7fffff;
    if (exponent == 0xff)
        return sign | 0x7ff0000000000000UL | (fraction << 29);
    if (exponent == 0) {
        if (fraction == 0)
            return sign;
        uint shift = clz(uint(fraction)) - 8;
        return sign | (ulong(897 - shift) << 52) | (((fraction << shift) & 0x7fffff) << 29);
    }
    return sign | (ulong(exponent + 896) << 52) | (fraction << 29);
}
"""

#: The words of `numba_gpucore.base.mailbox`, by number. The first thrower takes the lock and leaves the details.
_THROW_SITE = """\
static void throw_site(device atomic_uint* mailbox, ulong program, uint3 block, uint3 where, uint site,
                       ulong n0, ulong n1, ulong n2, ulong n3)
{
    atomic_fetch_add_explicit(&mailbox[0], 1u, memory_order_relaxed);
    if (atomic_exchange_explicit(&mailbox[1], 1u, memory_order_relaxed) != 0u)
        return;
    device uint* words = (device uint*)mailbox;
    device ulong* longs = (device ulong*)mailbox;
    words[2] = site;
    words[3] = 1u;
    words[4] = block.x;
    words[5] = block.y;
    words[6] = block.z;
    words[7] = where.x;
    words[8] = where.y;
    words[9] = where.z;
    longs[5] = program;
    longs[6] = n0;
    longs[7] = n1;
    longs[8] = n2;
    longs[9] = n3;
}
"""

#: Of each float type: the unsigned type of its bits, then how many are fraction and exponent.
_FLOAT_LAYOUTS = {"half": ("ushort", 10, 5), "bfloat": ("ushort", 7, 8), "float": ("uint", 23, 8)}


def _class_of(type_: str) -> str:
    bits_type, fraction_bits, exponent_bits = _FLOAT_LAYOUTS[type_]
    fraction_mask, exponent_mask = (1 << fraction_bits) - 1, (1 << exponent_bits) - 1
    return f"""\
// The bit of llvm.is.fpclass that x belongs to.
static inline uint class_of_{type_}({type_} x)
{{
    uint bits = as_type<{bits_type}>(x);
    uint exponent = (bits >> {fraction_bits}) & 0x{exponent_mask:x}, fraction = bits & 0x{fraction_mask:x};
    bool negative = (bits >> {fraction_bits + exponent_bits}) != 0;
    if (exponent == 0x{exponent_mask:x} && fraction != 0)
        return (fraction >> {fraction_bits - 1}) != 0 ? 0x002u : 0x001u;
    if (exponent == 0x{exponent_mask:x})
        return negative ? 0x004u : 0x200u;
    if (exponent != 0)
        return negative ? 0x008u : 0x100u;
    if (fraction != 0)
        return negative ? 0x010u : 0x080u;
    return negative ? 0x020u : 0x040u;
}}
"""


_BALLOT = """\
static inline uint active_ballot(bool test)
{
    return uint(ulong(simd_vote::vote_t(simd_ballot(test))));
}
"""

_VOTE_EQUAL = """\
static inline bool vote_equal(bool test, uint mask)
{
    uint yes = active_ballot(test) & mask;
    uint no = active_ballot(!test) & mask;
    return yes == 0u || no == 0u;
}
"""


def _voting_barrier(kind: str) -> str:
    """The word is reset by one thread between two barriers, so that rounds cannot mix."""
    counted = {"count": "test", "and": "!test", "or": "test"}[kind]
    result = {"count": "votes", "and": "uint(votes == 0u)", "or": "uint(votes != 0u)"}[kind]
    return f"""\
static inline uint barrier_{kind}(threadgroup atomic_uint* word, uint index, bool test)
{{
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (index == 0u)
        atomic_store_explicit(word, 0u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if ({counted})
        atomic_fetch_add_explicit(word, 1u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint votes = atomic_load_explicit(word, memory_order_relaxed);
    return {result};
}}
"""


def _shuffle(mode: str, type_: str) -> str:
    """MSL leaves the value undefined when the source lane is outside the SIMD group; CUDA gives the own value then."""
    source = {"idx": "lane & 31", "up": "int(own) - lane", "down": "int(own) + lane", "xor": "int(own) ^ lane"}[mode]
    name = f"shuffle_{mode}_{type_}"
    if type_ == "uint":
        moved = "simd_shuffle(value, ushort(inside ? source : int(own)))"
        body = f"    return {moved};\n"
    else:
        body = (
            "    ushort from = ushort(inside ? source : int(own));\n"
            "    uint low = simd_shuffle(uint(value), from), high = simd_shuffle(uint(value >> 32), from);\n"
            "    return (ulong(high) << 32) | low;\n"
        )
    return (
        f"static inline {type_} {name}({type_} value, int lane, uint own)\n{{\n"
        f"    int source = {source};\n    bool inside = source >= 0 && source < 32;\n{body}}}\n"
    )


def _match(kind: str, type_: str) -> str:
    """Lanes of `mask` that hold the same value; for "all": those lanes if they all do, else 0. 64-bit values go as two
    halves, since SIMD functions take 32 bits (MSL specification 6.9.2). What is broadcast from a lane that is not there
    means nothing: the last SIMD-group of a block may have fewer threads."""
    broadcast = "simd_broadcast(value, ushort(other)) == value"
    if type_ == "ulong":
        broadcast = (
            "((ulong(simd_broadcast(uint(value >> 32), ushort(other))) << 32) |"
            " simd_broadcast(uint(value), ushort(other))) == value"
        )
    result = "same" if kind == "any" else "(active_ballot(same != lanes) & lanes) == 0u ? lanes : 0u"
    return f"""\
static inline uint match_{kind}_{type_}({type_} value, uint mask)
{{
    uint lanes = active_ballot(true) & mask;
    uint same = 0u;
    for (uint other = 0u; other < 32u; other += 1u)
        if ({broadcast})
            same |= 1u << other;
    same &= lanes;
    return {result};
}}
"""


def _load_bytes(type_: str, space: str) -> str:
    """Little-endian, from any address."""
    parts = " | ".join(f"({type_}(bytes[{i}]) << {8 * i})" for i in range(_BITS[type_] // 8))
    head = f"static inline {type_} load_{type_}_{space}({space} const uchar* bytes)"
    return f"{head}\n{{\n    return {type_}({parts});\n}}\n"


def _store_bytes(type_: str, space: str) -> str:
    lines = "".join(f"    bytes[{i}] = uchar(value >> {8 * i});\n" for i in range(_BITS[type_] // 8))
    return f"static inline void store_{type_}_{space}({space} uchar* bytes, {type_} value)\n{{\n{lines}}}\n"


def _move(type_: str, space: str) -> str:
    """Words between places that may overlap: from the end where the target lies behind."""
    head = f"static inline void move_{type_}_{space}({space} {type_}* to, {space} const {type_}* from, ulong count)"
    return f"""\
{head}
{{
    bool is_behind = to > from;
    for (ulong k = 0UL; k < count; k += 1UL) {{
        ulong place = is_behind ? count - 1UL - k : k;
        to[place] = from[place];
    }}
}}
"""


_FIXED = {
    "double_bits": _DOUBLE_BITS,
    "throw_site": _THROW_SITE,
    **PRINT_HELPERS,
    "active_ballot": _BALLOT,
    "vote_equal": _VOTE_EQUAL,
}

#: Patterns of names and what writes the definition from their groups.
_FAMILIES: tuple[tuple[str, Callable[..., str]], ...] = (
    (r"(divide|remainder)_(u?int|u?long)", _divide),
    (r"float_to_(\w+)", _float_to_int),
    (r"class_of_(\w+)", _class_of),
    (r"absolute_(\w+)", _absolute),
    (r"swap_bytes_(\w+)", _swap_bytes),
    (r"funnel_(left|right)_(\w+)", _funnel),
    (r"wraps_(add|sub|mul)_(\w+)", _wraps),
    (r"barrier_(count|and|or)", _voting_barrier),
    (r"shuffle_(idx|up|down|xor)_(uint|ulong)", _shuffle),
    (r"match_(any|all)_(uint|ulong)", _match),
    (r"load_([a-z]+)_(device|threadgroup|thread|constant)", _load_bytes),
    (r"store_([a-z]+)_(device|threadgroup|thread)", _store_bytes),
    (r"move_([a-z]+)_(device|threadgroup|thread)", _move),
    *ATOMIC_HELPERS,
)


def helper_text(name: str) -> str:
    """The definition of a helper function. Raises KeyError for a name that no table has."""
    fixed = _FIXED.get(name) or MATH_HELPERS.get(name) or WIDE_HELPERS.get(name)
    if fixed is not None:
        return fixed
    for pattern, write in _FAMILIES:
        if match := re.fullmatch(pattern, name):
            return write(*match.groups())
    raise KeyError(name)


def has_helper(name: str) -> bool:
    try:
        helper_text(name)
    except KeyError:
        return False
    return True


def ordered_helpers(names: Iterable[str]) -> list[str]:
    """Definitions of `names` and of all that they call, callees first, in a fixed order."""
    texts: dict[str, str] = {}

    def add(name: str) -> None:
        if name in texts:
            return
        text = helper_text(name)
        for callee in dict.fromkeys(re.findall(r"\b([a-z]\w*)\(", text)):
            if callee != name and has_helper(callee):
                add(callee)
        texts[name] = text

    for name in sorted(names):
        add(name)
    return list(texts.values())
