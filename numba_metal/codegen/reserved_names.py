"""Names that a variable of the printed kernel cannot have. Before: `helpers`. After: `variables`, `print_kernel`.

Python's programs may call a variable `kernel`, `half2` or `M_PI_F`. Words and macros would not compile; a variable with
the name of a type or function hides it from the kernel's own statements.
"""

from __future__ import annotations

from numba_gpucore.base.late_pattern import late_pattern
from numba_metal.codegen.helpers import has_helper

#: C++14 [lex.key] and C++20's, MSL's own words (MSL specification 1.4, 2, 4, 5), functions of MSL that statements call,
#: and names that the emitter uses itself.
_NAMES = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl const
    constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern false
    float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public register reinterpret_cast return short signed sizeof static static_assert static_cast struct switch
    template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
    while xor xor_eq concept requires co_await co_yield co_return char8_t
    device threadgroup thread constant kernel vertex fragment object mesh visible stitchable intersection ray_data
    object_data threadgroup_imageblock coherent half bfloat uchar ushort uint ulong size_t ptrdiff_t sampler texture
    matrix array metal uniform imageblock patch_control_point tensor as_type atomic packed simd std main assert fast
    precise min max fma fmin fmax fmod fabs floor ceil round rint trunc ldexp sqrt popcount clz ctz reverse_bits addsat
    subsat mulhi isnan isinf isfinite copysign mem_flags threadgroup_barrier simdgroup_barrier
    global local generic pipe read_only write_only read_write event_t
    args tid group group_size grid_size gid grid_threads lane mailbox launch dynamic_shared thread_index barrier_word
    state Args Launch wide
    """.split()
)
#: Types, functions and constants that come in families, and the flags of `resolve_exits`.
_FAMILIES = late_pattern(
    r"(?:bool|u?char|u?short|u?int|u?long|half|float|bfloat)[234]|packed_\w+|u?int(?:8|16|32|64|ptr)_t"
    r"|(?:half|float)[234]x[234]|(?:texture|depth)(?:1d|2d|3d|cube|_buffer)\w*"
    r"|(?:goto|continue)_\d+|atomic_(?:u?int|u?long|bool|float|thread_fence|\w+_explicit)|(?:memory_order|thread_scope)_\w+"
)
#: Macros of <metal_math> and <metal_limits>. Source: MSL specification 6.6 and 6.7, tables of constants.
_MACROS = late_pattern(
    r"M_\w+_[FH]|(?:FLT|HALF|BFLT|DBL)_[A-Z0-9_]+|(?:S?CHAR|UCHAR|U?SHRT|U?INT|U?LONG)_(?:BIT|MIN|MAX)"
    r"|HUGE_VAL[FH]?|MAXFLOAT|MAXHALF|INFINITY|NAN|NULL|FP_\w+"
)


def is_reserved(name: str) -> bool:
    """Never true for a name with an underscore at its end, which makes any other name usable."""
    if name.endswith("_"):
        return False
    if name in _NAMES or _FAMILIES.fullmatch(name) is not None or _MACROS.fullmatch(name) is not None:
        return True
    return "_" in name and has_helper(name)  # as all names of helpers have one
