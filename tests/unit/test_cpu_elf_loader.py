"""Linking an object without LLVM: the same results as MCJIT's, and MCJIT where something is not expected."""

from __future__ import annotations

import contextlib
import ctypes
import sys

import llvmlite.binding as llvm
import pytest

from numba_gpucore.cpu.elf import DAMAGE_ERRORS
from numba_gpucore.cpu.elf_loader import link_elf
from numba_gpucore.cpu.object_symbols import undefined_symbols

if sys.platform != "linux" or "x86_64" not in llvm.get_process_triple():
    pytest.skip("links objects of x86-64 Linux only", allow_module_level=True)

#: Uses a function of the process by call and by address, constants, initialised and zeroed variables, a jump table.
TEXT = """
@scale = internal constant [4 x double] [double 1.0, double 2.0, double 4.0, double 8.0]
@count = internal global i64 40
@zeroed = internal global [100 x i64] zeroinitializer
@functions = internal global [2 x ptr] [ptr @cos, ptr @twice]

declare double @cos(double)
declare double @sin(double)

define internal double @twice(double %x) noinline {
  %y = fadd double %x, %x
  ret double %y
}

define i64 @next() {
  %n = load i64, ptr @count
  %m = add i64 %n, 1
  store i64 %m, ptr @count
  %slot = getelementptr i64, ptr @zeroed, i64 %m
  %z = load i64, ptr %slot
  %sum = add i64 %m, %z
  ret i64 %sum
}

define double @work(double %x, i64 %i) {
  %place = getelementptr double, ptr @scale, i64 %i
  %factor = load double, ptr %place
  %entry = getelementptr ptr, ptr @functions, i64 0
  %function = load ptr, ptr %entry
  %a = call double %function(double %x)
  %b = call double @sin(double %x)
  %c = call double @twice(double %b)
  %d = fadd double %a, %c
  %e = fmul double %d, %factor
  ret double %e
}
"""


def assemble(text: str) -> bytes:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    machine = target.create_target_machine(reloc="pic", codemodel="small")
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    return machine.emit_object(module)


def test_a_linked_object_computes() -> None:
    """cos(0) + 2 sin(0) = 1, times 4; the counter goes from 40 to 41, 42."""
    linked = link_elf(assemble(TEXT))
    assert linked is not None
    work = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int64)(linked.addresses["work"])
    assert work(0.0, 2) == 4.0
    assert work(0.0, 3) == 8.0
    count = ctypes.CFUNCTYPE(ctypes.c_int64)(linked.addresses["next"])
    assert [count(), count()] == [41, 42]


def test_code_cannot_be_written() -> None:
    linked = link_elf(assemble(TEXT))
    assert linked is not None
    page = linked.addresses["work"] & ~0xFFF
    with open("/proc/self/maps", encoding="ascii") as maps:
        ranges = [line.split()[:2] for line in maps]
    (rights,) = (rights for span, rights in ranges if int(span.split("-")[0], 16) <= page < int(span.split("-")[1], 16))
    assert rights.startswith("r-x")


@pytest.mark.parametrize(
    "text",
    [
        "declare void @in_no_process()\ndefine void @f() {\n call void @in_no_process()\n ret void\n}",
        "@t = thread_local global i32 3\ndefine i32 @f() {\n %v = load i32, ptr @t\n ret i32 %v\n}",
        "@c = common global i32 0\ndefine ptr @f() {\n ret ptr @c\n}",
    ],
    ids=["unknown symbol", "thread-local variable", "common variable"],
)
def test_what_is_not_expected_is_left_to_mcjit(text: str) -> None:
    assert link_elf(assemble(text)) is None


def test_damaged_objects_are_left_to_mcjit() -> None:
    """MCJIT's loader tells what is wrong with them."""
    data = assemble(TEXT)
    assert link_elf(b"") is None
    assert link_elf(data[:40]) is None
    assert link_elf(data[: len(data) // 2]) is None
    assert link_elf(b"\xcf\xfa\xed\xfe" + data[4:]) is None


def test_every_word_of_an_object_may_be_damaged() -> None:
    """Whatever a word of a header or table says, it is known errors that tell of it."""
    data = assemble(TEXT)
    refused = 0
    for at in range(8, len(data) - 7, 4):
        for word in (2**64 - 1, 2**63 - 1, 0):
            damaged = data[:at] + word.to_bytes(8, "little") + data[at + 8 :]
            refused += link_elf(damaged) is None
            with contextlib.suppress(*DAMAGE_ERRORS):
                undefined_symbols(damaged)
    assert refused > 100
