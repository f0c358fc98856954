"""Objects for processors and systems that this machine is not: their format, and that such a machine would find them.

No such machine runs them here. Formats: System V ABI, "ELF Header"; Apple, mach-o/loader.h; Microsoft, PE Format,
"COFF File Header".
"""

from __future__ import annotations

import ctypes
import math
import struct

import llvmlite.binding as llvm
import numpy as np
import pytest

import numba_metal
from numba_gpucore.base.artifact import Artifact
from numba_gpucore.base.errors import OptionError
from numba_gpucore.cpu import BACKEND, arch
from numba_gpucore.cpu.arch import SYSTEMS, Platform, baseline_arch, host_arch, parse_arch
from numba_gpucore.cpu.machine import make_target_machine
from numba_gpucore.cpu.mcjit import link_by_mcjit
from numba_gpucore.cpu.object_symbols import undefined_symbols
from numba_gpucore.launch import miss
from numba_gpucore.launch.fingerprint import Fingerprint
from numba_gpucore.launch.store import make_key

#: What a C library has; LLVM marks objects of Windows that compute with floats by the last.
C_LIBRARY = {"expf", "sinf", "memcpy", "memset", "_fltused"}


@numba_metal.jit(warm=["void(float32[::1], float16[::1], int32[::1])"])
def every_kind_of_code(x, h, counts):
    """Coroutines, shared memory, halves, functions of the C library, atomics, exceptions and prints."""
    tile = numba_metal.shared.array(32, numba_metal.float32)
    i = numba_metal.grid(1)
    if i >= x.size:
        raise ValueError("more threads than elements", i)
    tile[numba_metal.threadIdx.x] = math.exp(x[i]) + math.sin(x[i])
    numba_metal.syncthreads()
    x[i] = tile[31 - numba_metal.threadIdx.x]
    h[i] = h[i] * h[i] + np.float16(x[i])
    numba_metal.atomic.add(counts, 0, 1)
    print("thread", i)


def object_for(name: str) -> bytes:
    (types,) = every_kind_of_code.types_to_warm()
    request, _backend = every_kind_of_code.request_for_arch(name, types)
    return miss.compile_kernel(request).code


def format_and_machine(data: bytes) -> tuple[str, int]:
    """The format of an object and what it says of the processor, as its header has them."""
    if data[:6] == b"\x7fELF\x02\x01":  # 64 bits, little-endian
        kind, machine = struct.unpack_from("<HH", data, 16)
        assert kind == 1  # ET_REL
        return "ELF", machine
    magic, machine = struct.unpack_from("<II", data)
    if magic == 0xFEEDFACF:  # MH_MAGIC_64
        assert struct.unpack_from("<I", data, 12) == (1,)  # MH_OBJECT
        return "Mach-O", machine
    return "COFF", struct.unpack_from("<H", data)[0]


@pytest.mark.parametrize(
    ("name", "format_", "machine"),
    [
        ("x86-64-v3-linux", "ELF", 62),  # EM_X86_64
        ("armv8-a-linux", "ELF", 183),  # EM_AARCH64
        ("x86-64-v3-darwin", "Mach-O", 0x01000007),  # CPU_TYPE_X86_64
        ("apple-m1", "Mach-O", 0x0100000C),  # CPU_TYPE_ARM64
        ("x86-64-v3-win32", "COFF", 0x8664),  # IMAGE_FILE_MACHINE_AMD64
        ("armv8-a-win32", "COFF", 0xAA64),  # IMAGE_FILE_MACHINE_ARM64
    ],
)
def test_objects_are_of_the_named_platform(name: str, format_: str, machine: int) -> None:
    """They need what a C library has, and export the kernel; names on macOS start with an underscore."""
    data = object_for(name)
    assert format_and_machine(data) == (format_, machine)
    assert set(undefined_symbols(data)) <= C_LIBRARY
    assert {"expf", "sinf"} <= set(undefined_symbols(data))
    assert b"kernel_every_kind_of_code\0" in data
    assert (b"_kernel_every_kind_of_code\0" in data) == (format_ == "Mach-O")


MARKED = """
@_fltused = external global i32
define ptr @mark() {
  ret ptr @_fltused
}
"""


def test_what_marks_floats_on_windows_is_supplied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Microsoft's linker would, but no program exports it."""
    machine = make_target_machine(host_arch(), 1)
    module = llvm.parse_assembly(MARKED)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    data = machine.emit_object(module)
    assert "_fltused" in undefined_symbols(data)
    engine = link_by_mcjit(Artifact("marked", "mark", "cpu", host_arch(), BACKEND.launch_abi, (), data, 0, ()))
    assert ctypes.CFUNCTYPE(ctypes.c_void_p)(engine.get_function_address("mark"))()


def test_two_levels_of_one_platform_differ() -> None:
    """x86-64 has no instruction that rounds to halves, x86-64-v3 has (F16C: VCVTPS2PH)."""
    assert object_for("x86-64-darwin") != object_for("x86-64-v3-darwin")


PLATFORMS = [
    (Platform("darwin", "arm64"), "apple-m1", "apple-m1-darwin", "apple-m1-darwin"),
    (Platform("linux", "aarch64"), "armv8-a-linux", "armv8-a-linux", "armv8-a-linux"),
    (Platform("win32", "arm64"), "armv8-a-win32", "armv8-a-win32", "armv8-a-win32"),
    (Platform("darwin", "x86_64"), "x86-64-darwin", "x86-64-darwin", "x86-64-v3-darwin"),
    (Platform("win32", "amd64"), "x86-64-win32", "x86-64-win32", "x86-64-v3-win32"),
    (Platform("linux", "riscv64"), None, "riscv64-linux", "riscv64-linux"),
]


@pytest.mark.parametrize(("here", "name", "level", "baseline"), PLATFORMS, ids=lambda value: str(value))
def test_each_platform_asks_for_what_was_made_for_it(
    monkeypatch: pytest.MonkeyPatch, here: Platform, name: str | None, level: str, baseline: str
) -> None:
    """The key under which an object is kept is that of a launch there. Only Linux tells the level of x86-64."""
    (types,) = every_kind_of_code.types_to_warm()
    kept_under = None
    if name is not None:
        kept_under = make_key(*every_kind_of_code.request_for_arch(name, types), Fingerprint("digest"), "source")
    monkeypatch.setattr(arch, "this_platform", lambda: here)
    monkeypatch.setattr(arch, "_read_cpu_info", dict)
    assert host_arch() == level
    assert baseline_arch() == baseline
    device = BACKEND.open_device(0)
    asked_for = make_key(*every_kind_of_code.request_for_arch(device.arch, types), Fingerprint("digest"), "source")
    assert asked_for.arch == level
    assert kept_under is None or asked_for.digest == kept_under.digest


def test_names() -> None:
    """A level is for this system, unless that has none of it and one other has, or a system is named."""
    system = host_arch().rpartition("-")[2]
    assert parse_arch("x86-64-v3") == f"x86-64-v3-{system}"
    assert parse_arch("x86-64-v4-512bit-win32") == "x86-64-v4-512bit-win32"
    assert parse_arch("apple-m1") == "apple-m1-darwin"
    assert parse_arch(host_arch()) == host_arch()
    for level, systems in SYSTEMS.items():
        for one in systems:
            assert parse_arch(f"{level}-{one}") == f"{level}-{one}"


@pytest.mark.parametrize("name", ["apple-m1-linux", "armv8-a-darwin", "x86-64-v9", "x86-64-v3-beos", "linux", ""])
def test_names_of_nothing(name: str) -> None:
    with pytest.raises(OptionError, match=r"known are, with their systems: x86-64 \(linux, darwin, win32\)"):
        parse_arch(name)
