"""Hand-written device IR on the CPU device: builds a Job, compiles it with the CPU's Codegen, loads and launches it.

The IR follows ARCHITECTURE.md, "Device IR"; so these tests need no Numba.
"""

from __future__ import annotations

import functools
import re
import struct
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from numba_gpucore.base.argtypes import ArgType, ArrayType, ScalarType
from numba_gpucore.base.artifact import Artifact, CompileRequest
from numba_gpucore.base.backend import LaunchConfig
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.params import lay_out_params
from numba_gpucore.base.site import Frame, Site
from numba_gpucore.base.target import Target
from numba_gpucore.compile.intrinsics import INTRINSICS, parse_shared_symbol, parse_site_symbol, shared_nbytes
from numba_gpucore.compile.job import Job
from numba_gpucore.cpu.arch import host_arch
from numba_gpucore.cpu.codegen import CODEGEN
from numba_gpucore.cpu.device import CpuDevice, CpuProgram

_TARGET = Target("ptxplus", "numba_ptxplus", ("cpu",), "NUMBA_PTXPLUS_DEVICE")


def _kernel() -> None:
    """Stands for the Python function of a kernel that exists as IR only."""


def make_site(number: int) -> Site:
    return Site("builtins:IndexError", (number,), Frame("kernel", __file__, 1, 0))


def array(name: str, ndim: int = 1) -> ArrayType:
    return ArrayType(scalar(name), ndim, "C")


def scalar(name: str) -> ScalarType:
    return ScalarType(name, np.dtype(name).itemsize)


def slot_types(arg_types: tuple[ArgType, ...]) -> list[str]:
    """LLVM types of the entry's parameters."""
    types = []
    for slot in lay_out_params(arg_types):
        if slot.kind == "address":
            types.append("ptr")
        elif slot.kind == "float":
            types.append({2: "half", 4: "float", 8: "double"}[slot.nbytes])
        else:
            types.append(f"i{slot.nbytes * 8}")
    return types


@dataclass(frozen=True)
class Compiled:
    job: Job
    artifact: Artifact
    text: str


def compile_ir(
    body: str,
    arg_types: tuple[ArgType, ...],
    *,
    sites: int = 0,
    recursion: bool = False,
    more: str = "",
    arch: str = "",
    **options: Any,
) -> Compiled:
    """Compile `define void @kernel(ptr %c, <slots> %0 ...)` with this body; parameters are called %p0, %p1, ...

    Every intrinsic, shared array and site that the text mentions is declared. `sites` sites are called @site.0, ....
    """
    made_sites = tuple(make_site(i) for i in range(sites))
    for i, site in enumerate(made_sites):
        body = body.replace(f"@site.{i}(", f"@gpu.site.{site.content_id:016x}(")
    params = "".join(f", {type_} %p{i}" for i, type_ in enumerate(slot_types(arg_types)))
    text = f"define void @kernel_test(ptr %c{params}) {{\n{body}\n}}\n{more}\n"
    names = list(dict.fromkeys(re.findall(r'@"?(gpu\.[\w.]+)"?', text)))
    used = [name for name in names if name in INTRINSICS]
    shared = tuple(found for name in names if (found := parse_shared_symbol(name)))
    text += "".join(INTRINSICS[name].declaration() + "\n" for name in used)
    text += "".join(f'declare ptr @"{found.symbol}"(ptr)\n' for found in shared)
    text += "".join(f"declare i32 @{name}()\n" for name in names if parse_site_symbol(name) is not None)
    request = CompileRequest(
        py_func=_kernel,
        target=_TARGET,
        backend="cpu",
        codegen="numba_gpucore.cpu.codegen:CODEGEN",
        launch_abi=1,
        arch=arch or host_arch(),
        arg_types=arg_types,
        options=KernelOptions(**options),
    )
    slots = lay_out_params(arg_types)
    job = Job(request, "kernel_test", slots, frozenset(used), shared, made_sites, has_recursion=recursion)
    module = llvm.parse_assembly(text)
    module.verify()
    program = CODEGEN.legalize(module, job)
    out = CODEGEN.emit(program, job)
    artifact = Artifact(
        "kernel", job.entry, "cpu", request.arch, 1, arg_types, CODEGEN.assemble(out, job),
        shared_nbytes(shared), made_sites, CODEGEN.facts(program, job),
    )  # fmt: skip
    return Compiled(job, artifact, out)


def pack_params(arg_types: tuple[ArgType, ...], values: tuple[object, ...]) -> bytes:
    """The parameter block for NumPy arrays (C-contiguous) and scalars."""
    numbers: list[object] = []
    for value in values:
        numbers += [value.ctypes.data, *value.shape] if isinstance(value, np.ndarray) else [value]
    slots = lay_out_params(arg_types)
    data = bytearray(slots[-1].offset_nbytes + slots[-1].nbytes if slots else 0)
    codes = {"float": "_ _ e _ f _ _ _ d".split(), "int": "_ b h _ i _ _ _ q".split()}
    codes["uint"] = codes["valid"] = [code.upper() for code in codes["int"]]
    codes["address"] = codes["extent"] = codes["stride"] = codes["uint"]
    for slot, number in zip(slots, numbers, strict=True):
        struct.pack_into("<" + codes[slot.kind][slot.nbytes], data, slot.offset_nbytes, number)
    return bytes(data)


@functools.cache
def device() -> CpuDevice:
    return CpuDevice(0, 2)


def launch(program: CpuProgram, grid, block, *values: object, dynamic: int = 0, on: CpuDevice | None = None) -> None:
    shape = [(n,) if isinstance(n, int) else n for n in (grid, block)]
    config = LaunchConfig(*((*n, 1, 1)[:3] for n in shape), dynamic)
    (on or device()).launch(program, config, pack_params(program.artifact.arg_types, values), None)


def load_ir(body: str, arg_types: tuple[ArgType, ...], **keywords) -> CpuProgram:
    return device().load(compile_ir(body, arg_types, **keywords).artifact)


INT32 = array("int32")
#: How bodies of programs with barriers start: t (number along x), t.wide, at (the thread's item of the first argument).
THREAD = """
  %t = call i32 @gpu.thread_id.x(ptr %c)
  %t.wide = zext i32 %t to i64
  %at = getelementptr i32, ptr %p0, i64 %t.wide
"""
#: How they end: each thread stores %r as its item.
STORE = """
  store i32 %r, ptr %at
  ret void
"""


def run_threads(body: str, threads: int, grid: int = 1, **keywords) -> np.ndarray:
    """What one block writes into an int32 array with an item for each thread."""
    out = np.full(threads * grid, -1, np.int32)
    launch(load_ir(body, (INT32,), **keywords), grid, threads, out)
    return out
