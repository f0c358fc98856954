"""Loads and stores with cache operators in PTX. Source: PTX ISA, "Cache Operators", "ld", "st"."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from numba_gpucore.compile.intrinsics import INTRINSICS, is_cached_access
from tests.ptx.machine import PtxMachine
from tests.ptx.toolchain import check_with_ptxas
from tests.unit.ptx_modules import FLOAT64, INT32, compile_device_ir, make_job, vector

ACCESSES = sorted(filter(is_cached_access, INTRINSICS))
_INSTRUCTION = re.compile(r"\t((?:ld|st)[\w.]*\.(?:ca|cg|cs|lu|cv|wb|wt)\.b\d+) ")


def module_with(address: str, names: list[str]) -> str:
    """A kernel that makes each access at %p, which `address` defines; what is loaded is stored elsewhere."""
    lines = []
    for i, name in enumerate(names):
        word = name.rpartition(".")[2]
        if INTRINSICS[name].result == "void":
            lines.append(f"%w{i} = trunc i128 %wide to {word}\n call void @{name}(ptr %p, {word} %w{i})")
        else:
            lines.append(f"%v{i} = call {word} @{name}(ptr %p)\n %o{i} = getelementptr i64, ptr %out, i64 {i}")
            lines.append(f"store {word} %v{i}, ptr %o{i}")
    body = "\n ".join(["%wide = zext i64 %n to i128", *lines])
    params = "ptr %ctx, i32 %k, ptr %x, i64 %n, ptr %out, i64 %m"
    return f"define void @kernel({params}) {{\n {address}\n {body}\n ret void\n}}"


def compile_accesses(address: str, names: list[str], **options) -> str:
    types = [INT32, vector(FLOAT64), vector(FLOAT64)]
    shared = ["gpu.shared.64.16.s"] if "gpu.shared" in address else []
    return compile_device_ir(module_with(address, names), make_job(types, names, shared=shared, **options))


def wanted(name: str, space: str) -> str:
    kind, operator, word = name.removeprefix("gpu.cached_").split(".")
    return f"{'ld' if kind == 'load' else 'st'}{space}.{operator}.b{word[1:]}"


@pytest.mark.parametrize(
    ("address", "space"),
    [
        ("%p = getelementptr i64, ptr %x, i64 %n", ".global"),
        ("%c = icmp eq i32 %k, 0\n %p = select i1 %c, ptr %x, ptr %out", ".global"),
        ("%p = load ptr, ptr %x", ""),
    ],
)
def test_each_is_its_instruction(address: str, space: str, tmp_path: Path) -> None:
    """Once each, with the space of what the address comes from: an argument is global, one from memory may be any."""
    ptx = compile_accesses(address, ACCESSES)
    assert Counter(_INSTRUCTION.findall(ptx)) == Counter(wanted(name, space) for name in ACCESSES)
    check_with_ptxas(ptx, "sm_90", tmp_path)
    assert PtxMachine(ptx).entries == ["kernel"]


def test_none_is_left_out_or_joined() -> None:
    """Two loads of one place are two, as are two stores."""
    names = ["gpu.cached_load.cv.i32", "gpu.cached_store.wt.i32"]
    ptx = compile_accesses("%p = getelementptr i64, ptr %x, i64 %n", names * 2)
    assert Counter(_INSTRUCTION.findall(ptx)) == {"ld.global.cv.b32": 2, "st.global.wt.b32": 2}


@pytest.mark.parametrize("address", ['%p = call ptr @"gpu.shared.64.16.s"(ptr %ctx)', "%p = alloca [8 x i8], align 8"])
def test_memory_of_the_block_has_no_operators(address: str, tmp_path: Path) -> None:
    ptx = compile_accesses(address, ["gpu.cached_store.cg.i32", "gpu.cached_load.cg.i32"])
    assert not _INSTRUCTION.search(ptx)
    check_with_ptxas(ptx, "sm_90", tmp_path)


def test_without_optimisation(tmp_path: Path) -> None:
    ptx = compile_accesses("%p = getelementptr i64, ptr %x, i64 %n", ACCESSES, opt=0)
    assert len(_INSTRUCTION.findall(ptx)) == len(ACCESSES)
    check_with_ptxas(ptx, "sm_90", tmp_path)
