"""The cold half of the CUDA back-end: device IR to PTX to machine code. Before: compile.driver. After: the Artifact.

legalize  link definitions of intrinsics and libdevice's functions, inline, optimise
emit      LLVM's NVPTX code generator
assemble  ptxas, where installed
"""

from __future__ import annotations

import llvmlite.binding as llvm

from numba_gpucore.base.linked_code import LinkedCode
from numba_gpucore.compile.job import Job
from numba_ptxplus.codegen.assemble import assemble_ptx
from numba_ptxplus.codegen.disassemble import disassemble_cubin
from numba_ptxplus.codegen.emit import emit_ptx
from numba_ptxplus.codegen.legalize import legalize_module, module_has_mailbox
from numba_ptxplus.driver.abi import FACT_COOPERATIVE, FACT_PTX_IS_WHOLE, FACT_THROWS, DeviceCode


class PtxCodegen:
    """Fills `base.backend.Codegen`."""

    links_nvidia_code = True

    def legalize(self, module: llvm.ModuleRef, job: Job) -> llvm.ModuleRef:
        legalize_module(module, job)
        return module

    def emit(self, module: llvm.ModuleRef, job: Job) -> str:
        return emit_ptx(module, job)

    def assemble(self, text: str, job: Job) -> bytes:
        cubin = assemble_ptx(text, job.request.arch, job.request.options, _code_that_is_not_text(job))
        return DeviceCode(text, cubin).pack()

    def disassemble(self, code: bytes) -> str:
        """SASS. Raises ToolchainError without ptxas or nvdisasm."""
        return disassemble_cubin(DeviceCode.unpack(code).cubin)

    def facts(self, module: llvm.ModuleRef, job: Job) -> tuple[tuple[str, int], ...]:
        return (
            (FACT_COOPERATIVE, int("gpu.barrier.grid" in job.intrinsics)),
            (FACT_PTX_IS_WHOLE, int(not _code_that_is_not_text(job))),
            (FACT_THROWS, int(module_has_mailbox(module))),
        )


def _code_that_is_not_text(job: Job) -> list[LinkedCode]:
    """What the assembler links; PTX and CUDA C++ are part of the PTX already."""
    return [code for code in job.linked_code if code.kind not in ("ptx", "cuda")]


CODEGEN = PtxCodegen()
