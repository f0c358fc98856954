"""How a PTX kernel throws: `gpu.throw` and the module variable it reads. Before: a throw. After: the host looks.

The context that it takes is the mailbox, which each launch is given; the driver stores the program's number into the
variable when it loads a module. Layout of the mailbox: `base.mailbox`; `MAILBOX_TYPE` is the same in LLVM's words.
"""

from __future__ import annotations

from collections.abc import Sequence

from numba_gpucore.base.params import params_nbytes
from numba_gpucore.base.site import MAX_SITE_NUMBERS
from numba_gpucore.compile.job import Job
from numba_ptxplus.driver.abi import FOREIGN_LAUNCH_ABI, PROGRAM_VARIABLE, add_mailbox

PRINT_INTRINSICS = frozenset({"gpu.print.begin", "gpu.print.number", "gpu.print.end"})
#: Intrinsics that write to the channel: the mailbox or the ring behind it.
REPORTING = PRINT_INTRINSICS | {"gpu.throw"}
OPEN_BOX = " %box = addrspacecast ptr %context to ptr addrspace(1)\n"
MAILBOX_TYPE = f"{{ i32, i32, i32, i32, [3 x i32], [3 x i32], i64, [{MAX_SITE_NUMBERS} x i64] }}"
_COUNT, _LOCK, _SITE, _DETAILS, _BLOCK, _THREAD, _PROGRAM, _NUMBERS = range(8)


def _address(name: str, field: int, index: int | None = None) -> str:
    path = f"i32 0, i32 {field}" + ("" if index is None else f", i32 {index}")
    return f" %{name} = getelementptr inbounds {MAILBOX_TYPE}, ptr addrspace(1) %box, {path}\n"


def _store(item_type: str, values: Sequence[str], field: int, index: int | None = None) -> str:
    """Write `values` to neighbours, from the field or its item on: a vector is one instruction."""
    target = f"to_{field}" if index is None else f"to_{field}_{index}"
    vector, item_nbytes = f"<{len(values)} x {item_type}>", int(item_type[1:]) // 8
    text, made = _address(target, field, index), "poison"
    for i, value in enumerate(values):
        text += f" %{target}.{i} = insertelement {vector} {made}, {item_type} {value}, i32 {i}\n"
        made = f"%{target}.{i}"
    return f"{text} store {vector} {made}, ptr addrspace(1) %{target}, align {item_nbytes * len(values)}\n"


def _read_positions() -> str:
    return "".join(
        f" %{register}.{axis} = call i32 @llvm.nvvm.read.ptx.sreg.{register}.{axis}()\n"
        for register in ("ctaid", "tid")
        for axis in "xyz"
    )


def takes_mailbox(job: Job) -> bool:
    """Whether a kernel may have to report to our driver."""
    is_ours = not job.request.options.device and job.request.launch_abi != FOREIGN_LAUNCH_ABI
    return is_ours and bool(REPORTING.intersection(job.intrinsics))


def buffer_nbytes(job: Job) -> int:
    """Size of what a launch hands to a kernel."""
    params = bytes(params_nbytes(job.slots))
    return len(add_mailbox(params, 0) if takes_mailbox(job) else params)


def define_variable() -> str:
    """What the driver fills in when it loads a module that throws or prints."""
    return f"@{PROGRAM_VARIABLE} = addrspace(1) externally_initialized global i64 0"


def define_throw(has_mailbox: bool) -> str:
    """`gpu.throw`, one function for all that throws, which the thread does not come back from.

    The driver allocates mailboxes at multiples of 16 bytes. Code for other programs has no mailbox: there a throw only
    ends the function.
    """
    numbers = "".join(f", i64 %n{i}" for i in range(MAX_SITE_NUMBERS))
    if not has_mailbox:
        return f"define void @gpu.throw(ptr %context, i32 %site{numbers}) alwaysinline nounwind {{\n ret void\n}}"
    return (
        f"define void @gpu.throw(ptr %context, i32 %site{numbers}) noinline cold noreturn nounwind {{\n{OPEN_BOX}"
        + _address("lock", _LOCK)
        + " %claimed = atomicrmw xchg ptr addrspace(1) %lock, i32 1 monotonic\n"
        " %is_first = icmp eq i32 %claimed, 0\n br i1 %is_first, label %write, label %count\nwrite:\n"
        + _read_positions()
        + f" %program = load i64, ptr addrspace(1) @{PROGRAM_VARIABLE}\n"
        + _store("i32", ["%site", "1"], _SITE)
        + _store("i32", ["%ctaid.x", "%ctaid.y", "%ctaid.z", "%tid.x"], _BLOCK, 0)
        + _store("i32", ["%tid.y", "%tid.z"], _THREAD, 1)
        + _store("i64", ["%program"], _PROGRAM)
        + "".join(_store("i64", [f"%n{i}", f"%n{i + 1}"], _NUMBERS, i) for i in range(0, MAX_SITE_NUMBERS, 2))
        + " br label %count\ncount:\n"
        + _address("counter", _COUNT)
        + " %before = atomicrmw add ptr addrspace(1) %counter, i32 1 monotonic\n"
        " call void @llvm.nvvm.exit()\n unreachable\n}"
    )
