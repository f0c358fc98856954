"""The neutral intrinsics: everything that lowering asks of a device. Before: nothing. After: lower/, every Codegen.

A neutral intrinsic is a call to a function of the name given here. Those with `takes_context` have the hidden context
pointer as first parameter. A back-end legalises a module by linking definitions of them (`alwaysinline`), so calls are
never rewritten; each back-end has a test that it defines all of them.

Placeholders carry their facts in their names, since each is different:

* `gpu.shared.<nbytes>.<align>.<name>`: `ptr (ptr ctx)`, address of a static shared array;
* `gpu.site.<id>`: `i32 ()`, index of an exception site in the Artifact's table (`<id>`: content id, 16 hex digits);
* `gpu.line.<id>`: `i32 ()`, index of a printed line likewise; linking defines these, so no back-end sees them;
* `gpu.libdevice.<name>`: `T (ptr ctx, ...)`, one of `numba_gpucore.libdevice`; several results are a struct;
* `gpu.foreign.<name>`: `T (ptr ctx, ...)`, a function of another compiler that `declare_device` names;
* `gpu.assert.<id>`: `void ()`, reached where a `static_assert` fails; gone before a back-end sees the module.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from numba_gpucore.base.params import round_up
from numba_gpucore.base.records import dataclass

IRType = Literal["void", "i1", "i8", "i16", "i32", "i64", "half", "<2 x half>", "float", "double", "ptr"]


@dataclass(frozen=True)
class Intrinsic:
    """`value_range` is half-open and holds for integer results. `suspends`: other threads must get to run before it
    returns. `convergent` calls must not be made dependent on more control flow."""

    name: str
    result: IRType
    params: tuple[IRType, ...] = ()
    value_range: tuple[int, int] | None = None
    takes_context: bool = True
    convergent: bool = False
    suspends: bool = False
    is_pure: bool = False

    def declaration(self) -> str:
        """LLVM assembly that declares it."""
        params = (("ptr",) if self.takes_context else ()) + self.params
        result: str = self.result
        if self.value_range:
            low, high = self.value_range
            result = f"range({self.result} {low}, {high}) {self.result}"
        marks = ["nounwind"]
        marks += ["convergent"] if self.convergent else []
        marks += ["willreturn", "memory(none)"] if self.is_pure else []
        return f"declare {result} @{self.name}({', '.join(params)}) {' '.join(marks)}"


MAX_BLOCK = 1024
MAX_GRID = 2**31 - 1
#: Local memory of a thread on GPUs (CUDA C++ Programming Guide, table of compute capabilities).
MAX_LOCAL_NBYTES = 512 * 1024
_AXES = ("x", "y", "z")


def _coordinates() -> list[Intrinsic]:
    shapes: list[tuple[str, IRType, tuple[int, int]]] = [
        ("thread_id", "i32", (0, MAX_BLOCK)),
        ("block_id", "i32", (0, MAX_GRID)),
        ("block_dim", "i32", (1, MAX_BLOCK + 1)),
        ("grid_dim", "i32", (1, MAX_GRID + 1)),
        ("global_id", "i64", (0, MAX_BLOCK * MAX_GRID)),
        ("global_size", "i64", (1, MAX_BLOCK * MAX_GRID + 1)),
    ]
    table = [
        Intrinsic(f"gpu.{name}.{axis}", type_, value_range=range_, is_pure=True)
        for name, type_, range_ in shapes
        for axis in _AXES
    ]
    table.append(Intrinsic("gpu.lane_id", "i32", value_range=(0, 32), is_pure=True))
    table.append(Intrinsic("gpu.warp_size", "i32", value_range=(32, 33), is_pure=True))
    return table


def _synchronisation() -> list[Intrinsic]:
    sync: dict[str, Any] = {"convergent": True, "suspends": True}
    return [
        Intrinsic("gpu.barrier", "void", **sync),
        Intrinsic("gpu.barrier.count", "i32", ("i32",), **sync),
        Intrinsic("gpu.barrier.and", "i32", ("i32",), **sync),
        Intrinsic("gpu.barrier.or", "i32", ("i32",), **sync),
        Intrinsic("gpu.barrier.grid", "void", **sync),
        Intrinsic("gpu.warp_barrier", "void", ("i32",), **sync),
        Intrinsic("gpu.fence.block", "void"),
        Intrinsic("gpu.fence.device", "void"),
        Intrinsic("gpu.fence.system", "void"),
        Intrinsic("gpu.nanosleep", "void", ("i32",)),
    ]


def _warp_exchange() -> list[Intrinsic]:
    """First parameter: mask of taking-part lanes. Shuffles from a lane outside the warp give the
    own value, but for `idx`, which takes the lane modulo 32. Source: PTX ISA, "shfl.sync"."""
    sync: dict[str, Any] = {"convergent": True, "suspends": True}
    widths: tuple[IRType, ...] = ("i32", "i64")
    table = [
        Intrinsic(f"gpu.shuffle.{mode}.{bits}", bits, ("i32", bits, "i32"), **sync)
        for mode in ("idx", "up", "down", "xor")
        for bits in widths
    ]
    table += [Intrinsic(f"gpu.vote.{name}", "i32", ("i32", "i32"), **sync) for name in ("all", "any", "eq", "ballot")]
    table += [
        Intrinsic(f"gpu.match.{name}.{bits}", "i32", ("i32", bits), **sync)
        for name in ("any", "all")
        for bits in widths
    ]
    table.append(Intrinsic("gpu.active_mask", "i32", **sync))
    return table


def _memory_and_errors() -> list[Intrinsic]:
    return [
        Intrinsic("gpu.dynamic_shared", "ptr", is_pure=True),
        Intrinsic("gpu.dynamic_shared_nbytes", "i64", value_range=(0, 2**31), is_pure=True),
        # asked before a call that closes a cycle of recursion, where memory protection would end the process
        Intrinsic("gpu.stack_is_spent", "i1", is_pure=True),
        # site index, then MAX_SITE_NUMBERS bit patterns; the caller returns right after it
        Intrinsic("gpu.throw", "void", ("i32", "i64", "i64", "i64", "i64")),
    ]


#: PTX ISA, "Cache Operators": `gpu.cached_load.<operator>.<type>` and `gpu.cached_store…` are accesses like any other
#: where a device has no such operators.
LOAD_OPERATORS, STORE_OPERATORS = ("ca", "cg", "cs", "lu", "cv"), ("cg", "cs", "wb", "wt")
_WORDS: tuple[IRType, ...] = ("i8", "i16", "i32", "i64")


def cached_load(operator: str, nbits: int) -> str:
    return f"gpu.cached_load.{operator}.i{nbits}"


def cached_store(operator: str, nbits: int) -> str:
    return f"gpu.cached_store.{operator}.i{nbits}"


def is_cached_access(name: str) -> bool:
    return name.startswith(("gpu.cached_load.", "gpu.cached_store."))


def _cached_accesses() -> list[Intrinsic]:
    """Addresses are multiples of the word's size."""
    loads = [
        Intrinsic(cached_load(operator, int(word[1:])), word, ("ptr",), takes_context=False)
        for operator in LOAD_OPERATORS
        for word in _WORDS
    ]
    stores = [
        Intrinsic(cached_store(operator, int(word[1:])), "void", ("ptr", word), takes_context=False)
        for operator in STORE_OPERATORS
        for word in _WORDS
    ]
    return loads + stores


def define_cached_access(name: str, marks: str = "") -> str:
    """LLVM assembly of one, as an ordinary access. marks: what stands behind the address, such as an ordering."""
    intrinsic = INTRINSICS[name]
    word = name.rpartition(".")[2]
    atomic, rest = ("atomic ", f" {marks}") if marks else ("", "")
    align = f"align {int(word[1:]) // 8}"
    if intrinsic.result == "void":
        params, body = f"ptr %p0, {word} %p1", f"store {atomic}{word} %p1, ptr %p0{rest}, {align}\n ret void"
    else:
        params, body = "ptr %p0", f"%r = load {atomic}{word}, ptr %p0{rest}, {align}\n ret {word} %r"
    return f"define {intrinsic.result} @{name}({params}) alwaysinline nounwind {{\n {body}\n}}"


def _printing() -> list[Intrinsic]:
    """The ring of `base.print_ring`. A place is even; -1 means that there is no room."""
    return [
        # line index, words of the record; reserves them and writes program and line: the place
        Intrinsic("gpu.print.begin", "i32", ("i32", "i32")),
        # place, position among the numbers, bit pattern
        Intrinsic("gpu.print.number", "void", ("i32", "i32", "i64")),
        # place, words of the record: the record is complete
        Intrinsic("gpu.print.end", "void", ("i32", "i32")),
    ]


#: Functions of reals that a device must supply: `gpu.math.<name>.<f16|f32|f64>`. What LLVM has as an intrinsic that
#: every code generator takes (fabs, floor, ceil, trunc, sqrt, fma, copysign, minnum, maxnum, roundeven) is not here.
MATH_UNARY = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1",
    "lgamma", "log", "log10", "log1p", "log2", "sin", "sinh", "tan", "tanh", "tgamma",
)  # fmt: skip
MATH_BINARY = ("atan2", "fmod", "hypot", "nextafter", "pow", "remainder")
#: Of halves only: a CPU's code generator computes `llvm.fma.f16` in float, which rounds twice.
HALF_FMA, HALF2_FMA = "gpu.math.fma.f16", "gpu.math.fma.v2f16"
_FLOATS: tuple[tuple[str, IRType], ...] = (("f16", "half"), ("f32", "float"), ("f64", "double"))


def _math() -> list[Intrinsic]:
    half_fmas: tuple[tuple[str, IRType], ...] = ((HALF_FMA, "half"), (HALF2_FMA, "<2 x half>"))
    return [
        *(
            Intrinsic(f"gpu.math.{name}.{suffix}", type_, (type_,) * arity, takes_context=False, is_pure=True)
            for names, arity in ((MATH_UNARY, 1), (MATH_BINARY, 2))
            for name in names
            for suffix, type_ in _FLOATS
        ),
        *(Intrinsic(name, type_, (type_,) * 3, takes_context=False, is_pure=True) for name, type_ in half_fmas),
    ]


NARROW_BFLOAT, WIDEN_BFLOAT = "gpu.bfloat.narrow", "gpu.bfloat.widen"


def _bfloat() -> list[Intrinsic]:
    """bfloat16 lives as its bits: conversions from and to float, to nearest, ties to even."""
    return [
        Intrinsic(NARROW_BFLOAT, "i16", ("float",), takes_context=False, is_pure=True),
        Intrinsic(WIDEN_BFLOAT, "float", ("i16",), takes_context=False, is_pure=True),
    ]


INTRINSICS: dict[str, Intrinsic] = {
    intrinsic.name: intrinsic
    for intrinsic in (
        *_coordinates(),
        *_synchronisation(),
        *_warp_exchange(),
        *_memory_and_errors(),
        *_cached_accesses(),
        *_printing(),
        *_math(),
        *_bfloat(),
    )
}


@dataclass(frozen=True)
class SharedArray:
    """A static shared array, as its placeholder's name tells."""

    symbol: str
    nbytes: int
    align_nbytes: int


def place_shared(arrays: Iterable[SharedArray]) -> tuple[tuple[int, ...], int]:
    """Offsets of static shared arrays that lie one after another, and their size together, in bytes."""
    offsets, end = [], 0
    for array in arrays:
        offset = round_up(end, array.align_nbytes)
        offsets.append(offset)
        end = offset + array.nbytes
    return tuple(offsets), end


def shared_nbytes(arrays: Iterable[SharedArray]) -> int:
    """Size of static shared arrays that lie one after another."""
    return place_shared(arrays)[1]


def shared_symbol(name: str, nbytes: int, align_nbytes: int) -> str:
    return f"gpu.shared.{nbytes}.{align_nbytes}.{name}"


def parse_shared_symbol(symbol: str) -> SharedArray | None:
    if not symbol.startswith("gpu.shared."):
        return None
    nbytes, align_nbytes, _name = symbol.removeprefix("gpu.shared.").split(".", 2)
    return SharedArray(symbol, int(nbytes), int(align_nbytes))


def libdevice_symbol(name: str) -> str:
    return f"gpu.libdevice.{name}"


def parse_libdevice_symbol(symbol: str) -> str | None:
    return symbol.removeprefix("gpu.libdevice.") if symbol.startswith("gpu.libdevice.") else None


def foreign_symbol(name: str) -> str:
    return f"gpu.foreign.{name}"


def parse_foreign_symbol(symbol: str) -> str | None:
    return symbol.removeprefix("gpu.foreign.") if symbol.startswith("gpu.foreign.") else None


def site_symbol(content_id: int) -> str:
    return f"gpu.site.{content_id:016x}"


def line_symbol(content_id: int) -> str:
    return f"gpu.line.{content_id:016x}"


def parse_line_symbol(symbol: str) -> int | None:
    return int(symbol.removeprefix("gpu.line."), 16) if symbol.startswith("gpu.line.") else None


def assert_symbol(content_id: int) -> str:
    return f"gpu.assert.{content_id:016x}"


def parse_assert_symbol(symbol: str) -> int | None:
    return int(symbol.removeprefix("gpu.assert."), 16) if symbol.startswith("gpu.assert.") else None


def parse_site_symbol(symbol: str) -> int | None:
    return int(symbol.removeprefix("gpu.site."), 16) if symbol.startswith("gpu.site.") else None
