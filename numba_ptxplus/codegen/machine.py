"""LLVM's NVPTX target machine for an architecture. Before: legalize, emit. After: LLVM."""

from __future__ import annotations

import functools

import llvmlite.binding as llvm

from numba_gpucore.base.records import dataclass
from numba_gpucore.compile.job import Job
from numba_ptxplus.architectures import OLDEST_PTX, ptx_version
from numba_ptxplus.codegen.mailbox import buffer_nbytes

TRIPLE = "nvptx64-nvidia-cuda"


@dataclass(frozen=True)
class MachineSpec:
    """Which target machine a compilation needs. ptx: version times ten. opt: LLVM's level, 0 to 3."""

    arch: str
    ptx: int
    opt: int


def machine_spec(job: Job) -> MachineSpec:
    request = job.request
    # LLVM's aggressive instruction selection costs nothing measurable at kernel size.
    level = 3 if request.options.opt else 0
    return MachineSpec(request.arch, ptx_version(request.arch, buffer_nbytes(job), request.options.debug), level)


@functools.cache
def _nvptx_target() -> llvm.Target:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    # Instructions in an order that keeps few values alive: Black-Scholes with float64 literals takes 30 registers
    # instead of 34, and of the kernels in benchmarks/ptx_quality.py none needs more than with numba-cuda. The option
    # is of LLVM's NVPTX back-end; no other one reads it.
    llvm.set_option("numba_ptxplus", "-nvptx-sched4reg")
    return llvm.Target.from_triple(TRIPLE)


@functools.cache
def target_machine(spec: MachineSpec) -> llvm.TargetMachine:
    """LLVM's NVPTX target machine; making one takes about a millisecond, so each is made once a process."""
    machine = _nvptx_target().create_target_machine(cpu=spec.arch, features=f"+ptx{spec.ptx}", opt=spec.opt)
    machine.set_asm_verbosity(False)
    return machine


@functools.cache
def data_layout() -> str:
    return str(target_machine(MachineSpec("sm_75", OLDEST_PTX, 2)).target_data)
