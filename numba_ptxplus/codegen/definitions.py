"""LLVM definitions of the neutral intrinsics for PTX. Before: intrinsics' names. After: legalize links the text.

Each definition is `alwaysinline`, so that linking and inlining it is all that legalising a call takes. Names of
`llvm.nvvm.*` intrinsics: LLVM, "User Guide for NVPTX Back-end"; what they do: PTX ISA, section in each comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.compile.intrinsics import INTRINSICS, is_cached_access, parse_foreign_symbol, parse_libdevice_symbol
from numba_ptxplus.codegen.cache_operators import mark_cached_access
from numba_ptxplus.codegen.device_math import define_math
from numba_ptxplus.codegen.libdevice_calls import define_libdevice_call
from numba_ptxplus.codegen.mailbox import PRINT_INTRINSICS, REPORTING, define_throw, define_variable
from numba_ptxplus.codegen.printing import define_printing

_SPECIAL_REGISTERS = {"thread_id": "tid", "block_id": "ctaid", "block_dim": "ntid", "grid_dim": "nctaid"}
_SREG = "i32 @llvm.nvvm.read.ptx.sreg"


def _coordinates() -> dict[str, str]:
    """PTX ISA, "Special Registers". LLVM knows the ranges of all but the products, which cannot wrap in 64 bits."""
    table = {
        f"gpu.{name}.{axis}": f"%r = call {_SREG}.{register}.{axis}()\n ret i32 %r"
        for name, register in _SPECIAL_REGISTERS.items()
        for axis in "xyz"
    }
    for axis in "xyz":
        table[f"gpu.global_id.{axis}"] = (
            f"%block = call {_SREG}.ctaid.{axis}()\n %size = call {_SREG}.ntid.{axis}()\n"
            f" %thread = call {_SREG}.tid.{axis}()\n"
            " %b = zext i32 %block to i64\n %s = zext i32 %size to i64\n %t = zext i32 %thread to i64\n"
            " %first = mul nuw nsw i64 %b, %s\n %r = add nuw nsw i64 %first, %t\n ret i64 %r"
        )
        table[f"gpu.global_size.{axis}"] = (
            f"%blocks = call {_SREG}.nctaid.{axis}()\n %size = call {_SREG}.ntid.{axis}()\n"
            " %b = zext i32 %blocks to i64\n %s = zext i32 %size to i64\n"
            " %r = mul nuw nsw i64 %b, %s\n ret i64 %r"
        )
    table["gpu.lane_id"] = f"%r = call {_SREG}.laneid()\n ret i32 %r"
    table["gpu.warp_size"] = "ret i32 32"
    return table


def _reducing_barrier(name: str, result: str) -> str:
    widen = "%r = zext i1 %v to i32\n ret i32 %r" if result == "i1" else "ret i32 %v"
    return (
        "%p = icmp ne i32 %p0, 0\n"
        f" %v = call {result} @llvm.nvvm.barrier.cta.red.{name}.aligned.all(i32 0, i1 %p)\n {widen}"
    )


def _synchronisation() -> dict[str, str]:
    """PTX ISA, "Parallel Synchronization and Communication Instructions": bar, bar.warp.sync, membar, nanosleep."""
    return {
        "gpu.barrier": "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n ret void",
        "gpu.barrier.count": _reducing_barrier("popc", "i32"),
        "gpu.barrier.and": _reducing_barrier("and", "i1"),
        "gpu.barrier.or": _reducing_barrier("or", "i1"),
        "gpu.warp_barrier": "call void @llvm.nvvm.bar.warp.sync(i32 %p0)\n ret void",
        "gpu.fence.block": "call void @llvm.nvvm.membar.cta()\n ret void",
        "gpu.fence.device": "call void @llvm.nvvm.membar.gl()\n ret void",
        "gpu.fence.system": "call void @llvm.nvvm.membar.sys()\n ret void",
        "gpu.nanosleep": "call void @llvm.nvvm.nanosleep(i32 %p0)\n ret void",
        "gpu.barrier.grid": _GRID_BARRIER,
    }


# A cooperative launch gives each grid a workspace whose address is in envreg1 (low) and envreg2 (high); the word at
# offset 4 is the grid's arrival count. Block 0 adds 2**31 - (blocks - 1), every other block 1, so bit 31 flips when
# the last block arrives. Source: CUDA Toolkit, cooperative_groups/details/helpers.h and sync.h.
_GRID_BARRIER = """call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
 %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
 %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
 %tz = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
 %txy = or i32 %tx, %ty
 %t = or i32 %txy, %tz
 %leads = icmp eq i32 %t, 0
 br i1 %leads, label %arrive, label %leave
arrive:
 %low = call i32 @llvm.nvvm.read.ptx.sreg.envreg1()
 %high = call i32 @llvm.nvvm.read.ptx.sreg.envreg2()
 %low64 = zext i32 %low to i64
 %high64 = zext i32 %high to i64
 %shifted = shl i64 %high64, 32
 %workspace = or i64 %shifted, %low64
 %where = add i64 %workspace, 4
 %count = inttoptr i64 %where to ptr addrspace(1)
 %nx = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
 %ny = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
 %nz = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()
 %nxy = mul i32 %nx, %ny
 %n = mul i32 %nxy, %nz
 %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
 %by = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
 %bz = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
 %bxy = or i32 %bx, %by
 %b = or i32 %bxy, %bz
 %first = icmp eq i32 %b, 0
 %rest = sub i32 -2147483647, %n
 %step = select i1 %first, i32 %rest, i32 1
 call void @llvm.nvvm.membar.gl()
 %old = atomicrmw volatile add ptr addrspace(1) %count, i32 %step monotonic
 br label %wait
wait:
 %now = load volatile i32, ptr addrspace(1) %count
 %changed = xor i32 %old, %now
 %waits = icmp sge i32 %changed, 0
 br i1 %waits, label %wait, label %seen
seen:
 call void @llvm.nvvm.membar.gl()
 br label %leave
leave:
 call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
 ret void"""

#: Mode and last operand of shfl.sync, the lane at which to stop. Source: PTX ISA, "shfl.sync".
_SHUFFLES = {"idx": ("idx", 31), "up": ("up", 0), "down": ("down", 31), "xor": ("bfly", 31)}


def _shuffle(mode: str, bits: str) -> str:
    ptx_mode, clamp = _SHUFFLES[mode]
    call = f"call i32 @llvm.nvvm.shfl.sync.{ptx_mode}.i32(i32 %p0, i32 %{{value}}, i32 %p2, i32 {clamp})"
    if bits == "i32":
        return f"%r = {call.format(value='p1')}\n ret i32 %r"
    return (
        "%low = trunc i64 %p1 to i32\n %h = lshr i64 %p1, 32\n %high = trunc i64 %h to i32\n"
        f" %l = {call.format(value='low')}\n %u = {call.format(value='high')}\n"
        " %l64 = zext i32 %l to i64\n %u64 = zext i32 %u to i64\n %s = shl nuw i64 %u64, 32\n"
        " %r = or disjoint i64 %s, %l64\n ret i64 %r"
    )


def _vote(mode: str) -> str:
    return (
        f"%p = icmp ne i32 %p1, 0\n %v = call i1 @llvm.nvvm.vote.{mode}.sync(i32 %p0, i1 %p)\n"
        " %r = zext i1 %v to i32\n ret i32 %r"
    )


def _match_all(bits: str) -> str:
    return (
        f"%v = call {{i32, i1}} @llvm.nvvm.match.all.sync.{bits}p(i32 %p0, {bits} %p1)\n"
        " %r = extractvalue {i32, i1} %v, 0\n ret i32 %r"
    )


def _warp_exchange() -> dict[str, str]:
    """PTX ISA: shfl.sync, vote.sync, match.sync, activemask."""
    table = {f"gpu.shuffle.{mode}.{bits}": _shuffle(mode, bits) for mode in _SHUFFLES for bits in ("i32", "i64")}
    table |= {f"gpu.vote.{name}": _vote(mode) for name, mode in (("all", "all"), ("any", "any"), ("eq", "uni"))}
    table["gpu.vote.ballot"] = (
        "%p = icmp ne i32 %p1, 0\n %r = call i32 @llvm.nvvm.vote.ballot.sync(i32 %p0, i1 %p)\n ret i32 %r"
    )
    for bits in ("i32", "i64"):
        table[f"gpu.match.any.{bits}"] = (
            f"%r = call i32 @llvm.nvvm.match.any.sync.{bits}(i32 %p0, {bits} %p1)\n ret i32 %r"
        )
        table[f"gpu.match.all.{bits}"] = _match_all(bits)
    table["gpu.active_mask"] = "%r = call i32 @llvm.nvvm.activemask()\n ret i32 %r"
    return table


DYNAMIC_SHARED = "numba_gpu_dynamic_shared"
_DYNAMIC_SHARED_NBYTES = (
    "%n = call i32 @llvm.nvvm.read.ptx.sreg.dynamic_smem_size()\n %r = zext i32 %n to i64\n ret i64 %r"
)
_DYNAMIC_SHARED_ADDRESS = f"ret ptr addrspacecast (ptr addrspace(3) @{DYNAMIC_SHARED} to ptr)"

#: Bodies by name; parameters after the context are %p0, %p1, …
_BODIES: dict[str, str] = {
    **_coordinates(),
    **_synchronisation(),
    **_warp_exchange(),
    "gpu.bfloat.narrow": "%b = fptrunc float %p0 to bfloat\n %r = bitcast bfloat %b to i16\n ret i16 %r",
    "gpu.bfloat.widen": "%b = bitcast i16 %p0 to bfloat\n %r = fpext bfloat %b to float\n ret float %r",
    "gpu.dynamic_shared": _DYNAMIC_SHARED_ADDRESS,
    "gpu.dynamic_shared_nbytes": _DYNAMIC_SHARED_NBYTES,
    "gpu.stack_is_spent": "ret i1 false",  # a launch that runs out of it fails
}


def define_intrinsics(names: Iterable[str], options: KernelOptions, has_mailbox: bool = True) -> str:
    """LLVM assembly that defines these intrinsics, with the declarations that it needs."""
    names = frozenset(name for name in names if not parse_foreign_symbol(name))  # linked_code.py defines those
    texts = [_define(name, options, has_mailbox) for name in sorted(names - PRINT_INTRINSICS)]
    if names & PRINT_INTRINSICS:
        texts.append(define_printing(has_mailbox))
    if has_mailbox and names & REPORTING:
        texts.insert(0, define_variable())
    return "\n".join([*sorted(_declarations(texts)), *texts])


def _define(name: str, options: KernelOptions, has_mailbox: bool) -> str:
    if name == "gpu.throw":
        return define_throw(has_mailbox)
    if parse_libdevice_symbol(name):
        return define_libdevice_call(name)
    if is_cached_access(name):
        return mark_cached_access(name)
    intrinsic = INTRINSICS[name]
    if name.startswith("gpu.math."):
        return define_math(intrinsic, options.fastmath)
    context = ["ptr %context"] if intrinsic.takes_context else []
    params = ", ".join(context + [f"{type_} %p{i}" for i, type_ in enumerate(intrinsic.params)])
    convergent = " convergent" if intrinsic.convergent else ""
    text = f"define {intrinsic.result} @{name}({params}) alwaysinline nounwind{convergent} {{\n {_BODIES[name]}\n}}"
    if name == "gpu.dynamic_shared":
        return f"@{DYNAMIC_SHARED} = external addrspace(3) global [0 x i8], align 16\n{text}"
    return text


_CALL = late_pattern(r"call (?P<result>\{[^}]*\}|<[^>]*>|\S+) (?P<name>@[\w.]+)\((?P<arguments>[^)]*)\)")


def _declarations(texts: Iterable[str]) -> set[str]:
    """One declaration for each function that the texts call and do not define."""
    whole = "\n".join(texts)
    defined = set(re.findall(r"define [^@]*(@[\w.]+)\(", whole))
    declarations = set()
    for call in _CALL.finditer(whole):
        if call["name"] not in defined:
            types = ", ".join(argument.rpartition(" ")[0] for argument in call["arguments"].split(", ") if argument)
            declarations.add(f"declare {call['result']} {call['name']}({types})")
    return declarations
