"""How a PTX kernel throws: `gpu.throw` and the two module variables it reads. Before: a throw. After: the host looks.

The driver stores the mailbox's device address and the program's number into the variables when it loads a module.
Layout of the mailbox: `base.mailbox`; `MAILBOX_TYPE` is the same in LLVM's words.
"""

from __future__ import annotations

from numba_gpucore.base.site import MAX_SITE_NUMBERS
from numba_ptxplus.driver.abi import MAILBOX_VARIABLE, PROGRAM_VARIABLE

MAILBOX_TYPE = f"{{ i32, i32, i32, i32, [3 x i32], [3 x i32], i64, [{MAX_SITE_NUMBERS} x i64] }}"
_COUNT, _LOCK, _SITE, _DETAILS, _BLOCK, _THREAD, _PROGRAM, _NUMBERS = range(8)


def _address(name: str, field: int, index: int | None = None) -> str:
    path = f"i32 0, i32 {field}" + ("" if index is None else f", i32 {index}")
    return f" %{name} = getelementptr inbounds {MAILBOX_TYPE}, ptr addrspace(1) %box, {path}\n"


def _store(type_: str, value: str, field: int, index: int | None = None) -> str:
    name = f"to_{field}" if index is None else f"to_{field}_{index}"
    return f"{_address(name, field, index)} store {type_} {value}, ptr addrspace(1) %{name}\n"


def _store_register(register: str, field: int) -> str:
    return "".join(
        f" %{register}.{axis} = call i32 @llvm.nvvm.read.ptx.sreg.{register}.{axis}()\n"
        + _store("i32", f"%{register}.{axis}", field, i)
        for i, axis in enumerate("xyz")
    )


def define_variables() -> str:
    """What the driver fills in when it loads a module that throws or prints."""
    return (
        f"@{MAILBOX_VARIABLE} = addrspace(1) externally_initialized global ptr addrspace(1) null\n"
        f"@{PROGRAM_VARIABLE} = addrspace(1) externally_initialized global i64 0"
    )


def define_throw(has_mailbox: bool) -> str:
    """`gpu.throw`, inlined: ptxas keeps registers for a call on the kernel's whole way. With bounds checks a stencil
    takes 22 registers so, and 32 with a call.

    Code for other programs has no mailbox: there a throw only ends the function.
    """
    numbers = "".join(f", i64 %n{i}" for i in range(MAX_SITE_NUMBERS))
    if not has_mailbox:
        return f"define void @gpu.throw(ptr %context, i32 %site{numbers}) alwaysinline nounwind {{\n ret void\n}}"
    return (
        f"define void @gpu.throw(ptr %context, i32 %site{numbers}) alwaysinline cold nounwind {{\n"
        f" %box = load ptr addrspace(1), ptr addrspace(1) @{MAILBOX_VARIABLE}\n"
        + _address("lock", _LOCK)
        + " %claimed = atomicrmw xchg ptr addrspace(1) %lock, i32 1 monotonic\n"
        " %is_first = icmp eq i32 %claimed, 0\n br i1 %is_first, label %write, label %count\nwrite:\n"
        + _store("i32", "%site", _SITE)
        + _store("i32", "1", _DETAILS)
        + _store_register("ctaid", _BLOCK)
        + _store_register("tid", _THREAD)
        + f" %program = load i64, ptr addrspace(1) @{PROGRAM_VARIABLE}\n"
        + _store("i64", "%program", _PROGRAM)
        + "".join(_store("i64", f"%n{i}", _NUMBERS, i) for i in range(MAX_SITE_NUMBERS))
        + " br label %count\ncount:\n"
        + _address("counter", _COUNT)
        + " %before = atomicrmw add ptr addrspace(1) %counter, i32 1 monotonic\n ret void\n}"
    )
