"""A scalar build of one thread of a flat program, for the details of its exception. Before: program. After: emit.

The vectorised code of a flat program only tells which thread threw where. After the launch that one thread is run again
to find the numbers of its exception (`CpuDevice`), so that finding them costs nothing while all is well.
"""

from __future__ import annotations

import re
from dataclasses import replace

import llvmlite.binding as llvm

from numba_gpucore.cpu.definitions import (
    KERNEL_SYMBOL,
    define_intrinsics,
    define_kernel_call,
    read_ir,
    write_out_records,
)
from numba_gpucore.cpu.program import ProgramBuilder
from numba_gpucore.cpu.replay_text import NotReplayable, make_harmless
from numba_gpucore.cpu.shape import ProgramShape

_REPLAY = "gpu.replay"
_BODY = re.compile(rf"^define [^\n]*@{re.escape(_REPLAY)}\([^\n]*\{{\n(?P<body>.*?)^\}}$", re.MULTILINE | re.DOTALL)


def replay_symbol(entry: str) -> str:
    """What the object calls the function that runs one thread again."""
    return f"{entry}.replay"


def add_replay(program: llvm.ModuleRef, builder: ProgramBuilder, shape: ProgramShape) -> None:
    """Link the replay of a thread into an optimised program. Does nothing for programs that keep the details
    themselves, and for code that cannot be run again alone."""
    job = builder.job
    is_checked = job.request.options.boundscheck
    if shape.throw != "gpu.throw.first" or not is_checked or not any(site.holes for site in job.sites):
        return
    thread = _build_thread(builder, shape)
    text = str(thread)
    found = _BODY.search(text)
    if found is None:
        return
    try:
        body = make_harmless(found["body"])
    except NotReplayable:
        return
    head = found.group()[: found.start("body") - found.start()]
    harmless = builder.parse(text.replace(found.group(), f"{head}{body}}}"))
    harmless.get_function(_REPLAY).name = replay_symbol(job.entry)
    harmless.verify()
    program.link_in(harmless)


def _build_thread(builder: ProgramBuilder, shape: ProgramShape) -> llvm.ModuleRef:
    """One thread's code in one function, simplified, its values named."""
    job = builder.job
    module = llvm.parse_bitcode(builder.bitcode)
    machine = builder.machine
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    kernel = module.get_function(job.entry)
    params = tuple(str(argument.type) for argument in kernel.arguments)[1:]
    kernel.name = KERNEL_SYMBOL
    texts = [read_ir("replay"), read_ir("launch"), read_ir("ids")]
    texts += [define_intrinsics(job, replace(shape, throw="gpu.throw.replay")), define_kernel_call(job, params)]
    if re.search(r"\bhalf\b", str(module)):
        texts.append(read_ir("half"))
    for text in write_out_records(texts, params):
        module.link_in(builder.parse(text))
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name != _REPLAY:
            value.linkage = "internal"
    for function in module.functions:
        if (
            not function.is_declaration
            and function.name != _REPLAY
            and b"noinline" not in b" ".join(function.attributes)
        ):
            function.add_function_attribute("alwaysinline")
    _optimise(module, builder)
    return module


def _optimise(module: llvm.ModuleRef, builder: ProgramBuilder) -> None:
    tuning = llvm.create_pipeline_tuning_options(speed_level=1)
    tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = False
    passes = llvm.create_pass_builder(builder.machine, tuning)
    inline = llvm.create_new_module_pass_manager()
    inline.add_global_dead_code_eliminate_pass()
    inline.add_always_inliner_pass()
    inline.add_global_dead_code_eliminate_pass()
    inline.run(module, passes)
    passes.getFunctionPassManager().run(module.get_function(_REPLAY), passes)
    name = llvm.create_new_module_pass_manager()
    name.add_instruction_namer_pass()
    name.add_global_dead_code_eliminate_pass()
    name.run(module, passes)
