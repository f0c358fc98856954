"""LLVM assembly that defines the neutral intrinsics on a CPU. Before: ir/*.ll. After: program links it.

What is the same for every kernel is written down in ir/*.ll. Here comes what varies: one function for each axis and
width, shared arrays at their offsets, exception sites at their indices, the kernel's parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.base.params import round_up
from numba_gpucore.base.site import MAX_SITE_NUMBERS
from numba_gpucore.compile.intrinsics import (
    INTRINSICS,
    MAX_LOCAL_NBYTES,
    define_cached_access,
    is_cached_access,
    place_shared,
    site_symbol,
)
from numba_gpucore.compile.job import Job
from numba_gpucore.cpu.launch_record import THREAD_NBYTES, along_rows
from numba_gpucore.cpu.math_definitions import define_math
from numba_gpucore.cpu.shape import ProgramShape, prints

#: Dynamic shared arrays all start here after the static ones.
DYNAMIC_SHARED_ALIGN_NBYTES = 16
_RECORD_NAME = late_pattern(r"%gpu\.(?:launch|block|row|thread|warp|params)\b")
_AXIS = {"x": 0, "y": 1, "z": 2}


def read_ir(name: str) -> str:
    """The file ir/<name>.ll."""
    return (resources.files("numba_gpucore.cpu") / "ir" / f"{name}.ll").read_text(encoding="utf-8")


def definition_texts(job: Job, shape: ProgramShape, params: tuple[str, ...]) -> list[str]:
    """Modules to link into the device IR; `params` are the LLVM types of the entry's parameters after the context."""
    texts = [read_ir(name) for name in shape.ir_files]
    if prints(job):
        texts.append(read_ir("print"))
    if "gpu.stack_is_spent" in job.intrinsics:
        texts.append(read_ir("recursion").replace("LOCAL_NBYTES", str(MAX_LOCAL_NBYTES)))
    texts.append(define_intrinsics(job, shape))
    texts.append(define_kernel_call(job, params))
    if shape.is_coroutine:
        texts.append(define_coroutine(shape.frame_nbytes))
    return write_out_records(texts, params)


def write_out_records(texts: list[str], params: tuple[str, ...]) -> list[str]:
    """The texts with record types in place of their names."""
    records = read_records() | {"%gpu.params": f"{{ {', '.join(params)} }}"}
    return [_RECORD_NAME.sub(lambda name: records[name.group()], text) for text in texts]


def read_records() -> dict[str, str]:
    """The record types of ir/records.ll. They are written out where they are named: LLVM renames types that it has seen
    before, so that the text of a program would depend on what was compiled earlier."""
    return dict(re.findall(r"^(%gpu\.\w+) = type (.*)$", read_ir("records"), re.MULTILINE))


def define_intrinsics(job: Job, shape: ProgramShape) -> str:
    lines = [line for name in sorted(job.intrinsics) for line in _define(name, shape.row_axis)]
    if "gpu.throw" in job.intrinsics:
        numbers = ", ".join(f"i64 %n{i}" for i in range(MAX_SITE_NUMBERS))
        lines += _forward("void", "gpu.throw", shape.throw, f"ptr %thread, i32 %site, {numbers}")
    lines += _define_shared(job)
    for index, site in enumerate(job.sites):
        lines.append(f"define i32 @{site_symbol(site.content_id)}() alwaysinline {{ ret i32 {index} }}")
    lines.append("@gpu.row_threads = constant i64 1")
    lines.append(f"@gpu.uses_grid_barrier = constant i1 {str(shape.uses_grid_barrier).lower()}")
    return "\n".join(_declare_once(lines)) + "\n"


def _declare_once(lines: list[str]) -> Iterator[str]:
    """LLVM takes a declaration once in a text."""
    seen: set[str] = set()
    for line in lines:
        if line not in seen:
            yield line
        if line.startswith("declare "):
            seen.add(line)


def _define(name: str, row_axis: int) -> Iterator[str]:
    """Wrappers around what ir/*.ll defines once for all axes or widths."""
    stem, _, last = name.rpartition(".")
    intrinsic = INTRINSICS[name]
    if name.startswith(("gpu.math.", "gpu.bfloat.")):
        yield from define_math(name)
    elif is_cached_access(name):
        yield define_cached_access(name)
    elif last in _AXIS:
        axis = along_rows((0, 1, 2), row_axis)[_AXIS[last]]
        if stem == "gpu.global_id" and axis == 0:
            yield from _forward(intrinsic.result, name, "gpu.grid_x", "ptr %thread")
        else:
            yield from _forward(intrinsic.result, name, stem, "ptr %thread", f"ptr %thread, i32 {axis}")
    elif last == "i32" and stem.startswith(("gpu.shuffle.", "gpu.match.")):
        yield from _define_narrow(name, stem)


def _forward(result: str, name: str, target: str, params: str, arguments: str | None = None) -> Iterator[str]:
    """Define `name` as a call of `target`."""
    arguments = arguments or params
    types = ", ".join(argument.split()[0] for argument in arguments.split(", "))
    assign, give = ("", "void") if result == "void" else ("%result = ", f"{result} %result")
    yield f"declare {result} @{target}({types})"
    yield f"define {result} @{name}({params}) alwaysinline {{"
    yield f"  {assign}call {result} @{target}({arguments})"
    yield f"  ret {give}"
    yield "}"


def _define_narrow(name: str, stem: str) -> Iterator[str]:
    """Define a 32-bit exchange by its 64-bit one."""
    is_shuffle = stem.startswith("gpu.shuffle.")
    result, more_types, more = ("i64", ", i32", ", i32 %lane") if is_shuffle else ("i32", "", "")
    yield f"declare {result} @{stem}.i64(ptr, i32, i64{more_types})"
    yield f"define i32 @{name}(ptr %thread, i32 %mask, i32 %value{more}) alwaysinline {{"
    yield "  %wide = zext i32 %value to i64"
    yield f"  %result = call {result} @{stem}.i64(ptr %thread, i32 %mask, i64 %wide{more})"
    if is_shuffle:
        yield "  %narrow = trunc i64 %result to i32"
    yield f"  ret i32 {'%narrow' if is_shuffle else '%result'}"
    yield "}"


def _define_shared(job: Job) -> Iterator[str]:
    offsets, end = place_shared(job.shared_arrays)
    places = [(array.symbol, offset) for array, offset in zip(job.shared_arrays, offsets, strict=True)]
    if "gpu.dynamic_shared" in job.intrinsics:
        places.append(("gpu.dynamic_shared", round_up(end, DYNAMIC_SHARED_ALIGN_NBYTES)))
    if places:
        yield "declare ptr @gpu.shared_memory(ptr)"
    for symbol, offset in places:
        yield f'define ptr @"{symbol}"(ptr %thread) alwaysinline {{'
        yield "  %shared = call ptr @gpu.shared_memory(ptr %thread)"
        yield f"  %array = getelementptr inbounds i8, ptr %shared, i64 {offset}"
        yield "  ret ptr %array"
        yield "}"


def define_kernel_call(job: Job, params: tuple[str, ...]) -> str:
    """`gpu.load_params(launch)` reads the parameter block; `gpu.call_kernel(thread, params)` calls the device IR entry.

    Nothing writes the block while a kernel runs: the loads are invariant. Extents are not negative.
    """
    load = ["define %gpu.params @gpu.load_params(ptr %launch) alwaysinline {"]
    load.append("  %home = getelementptr %gpu.launch, ptr %launch, i32 0, i32 3")
    load.append("  %block = load ptr, ptr %home, !invariant.load !{}")
    call = ["define void @gpu.call_kernel(ptr %thread, %gpu.params %params) alwaysinline {"]
    value, arguments = "poison", ["ptr %thread"]
    for i, (slot, type_) in enumerate(zip(job.slots, params, strict=True)):
        facts = ", !range !{i64 0, i64 -9223372036854775808}" if slot.kind == "extent" else ""
        load.append(f"  %at{i} = getelementptr inbounds i8, ptr %block, i64 {slot.offset_nbytes}")
        load.append(f"  %p{i} = load {type_}, ptr %at{i}, align {slot.nbytes}, !invariant.load !{{}}{facts}")
        load.append(f"  %v{i} = insertvalue %gpu.params {value}, {type_} %p{i}, {i}")
        call.append(f"  %p{i} = extractvalue %gpu.params %params, {i}")
        value = f"%v{i}"
        arguments.append(f"{type_} %p{i}")
    load += [f"  ret %gpu.params {value}", "}"]
    call += [f'  call void @"{KERNEL_SYMBOL}"({", ".join(arguments)})', "  ret void", "}"]
    call.append(f'declare void @"{KERNEL_SYMBOL}"({", ".join(("ptr", *params))})')
    return "\n".join([*load, *call]) + "\n"


#: What the device IR entry is renamed to: the object exports the native entry under the kernel's own symbol.
KERNEL_SYMBOL = "gpu.kernel"
NATIVE_ENTRY = "gpu.work"
#: What reports read `ProgramShape.row_axis` from.
ROW_AXIS_SYMBOL = "gpu.row_axis"
#: How far apart threads lie in coroutine programs.
SIZE_SYMBOL = "gpu.thread_nbytes"
FRAME_ALIGN_NBYTES = 32


def define_coroutine(frame_nbytes: int) -> str:
    """`gpu.run_thread`: the kernel as a coroutine with a frame of `frame_nbytes` behind the thread's record."""
    return f"""
@gpu.thread_nbytes = hidden global i64 {THREAD_NBYTES + frame_nbytes}

define ptr @gpu.run_thread(ptr %frame, ptr %thread) noinline presplitcoroutine {{
  %id = call token @llvm.coro.id.retcon(i32 {frame_nbytes}, i32 {FRAME_ALIGN_NBYTES}, ptr %frame,
                                        ptr @gpu.continuation, ptr @gpu.allocate_frame, ptr @gpu.free_frame)
  %handle = call ptr @llvm.coro.begin(token %id, ptr null)
  %block = load ptr, ptr %thread
  %launch = load ptr, ptr %block
  %params = call %gpu.params @gpu.load_params(ptr %launch)
  call void @gpu.call_kernel(ptr %thread, %gpu.params %params)
  call void @llvm.coro.end(ptr %handle, i1 false, token none)
  unreachable
}}

declare %gpu.params @gpu.load_params(ptr)
declare void @gpu.call_kernel(ptr, %gpu.params)
declare ptr @gpu.continuation(ptr, ptr)
declare ptr @gpu.allocate_frame(i32)
declare void @gpu.free_frame(ptr)
declare token @llvm.coro.id.retcon(i32, i32, ptr, ptr, ptr, ptr)
declare ptr @llvm.coro.begin(token, ptr)
declare void @llvm.coro.end(ptr, i1, token)
"""
