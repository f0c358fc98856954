"""The kernel that the driver launches, around the device IR's entry. Before: job. After: legalize links the text.

One PTX parameter a slot, in the order of `base.params`. Addresses are of global memory: they come in as such and are
cast to generic here, so that LLVM finds `ld.global` and `st.global` for every access that it can follow to a parameter.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from numba_gpucore.base.argtypes import ArgType, ArrayType
from numba_gpucore.base.errors import Fault, UnsupportedKernelError
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.params import ParamSlot
from numba_gpucore.compile.entry_lines import escape_text
from numba_gpucore.compile.job import Job
from numba_ptxplus.architectures import LARGE_PARAMS_NBYTES
from numba_ptxplus.codegen.mailbox import buffer_nbytes, takes_mailbox

#: Extents are counts of items in memory, and no address has more bits than this. Source: CUDA C++ Programming Guide,
#: "Unified Virtual Address Space". It proves to LLVM that index arithmetic cannot wrap.
_MAX_EXTENT = 2**48


def inner_name(entry: str) -> str:
    """What the device IR's entry is called once the kernel has taken its name."""
    return f"{entry}.body"


def define_kernel(job: Job, param_types: Sequence[str]) -> str:
    """`ptx_kernel` @<entry>, which calls @<entry>.body. param_types: LLVM types of the body after the context."""
    params, casts, operands = [], [], ["ptr null"]
    if takes_mailbox(job):
        casts.append(f" %context = addrspacecast ptr addrspace(1) {mailbox_param(job)} to ptr\n")
        operands = ["ptr %context"]
    for index, (slot, type_) in enumerate(zip(job.slots, param_types, strict=True)):
        params.append(f"{_param_type(slot, type_, job.request.arg_types)} %p{index}")
        if type_ == "ptr":
            casts.append(f" %g{index} = addrspacecast ptr addrspace(1) %p{index} to ptr\n")
        operands.append(f"{type_} %{'g' if type_ == 'ptr' else 'p'}{index}")
    if takes_mailbox(job):
        params.append(f"ptr addrspace(1) {mailbox_param(job)}")
    of_function, of_call, metadata = _line_marks(job)
    attributes = kernel_attributes(job.request.options)
    return (
        f"declare void @{inner_name(job.entry)}({', '.join(['ptr', *param_types])})\n"
        f"define ptx_kernel void @{job.entry}({', '.join(params)}) {attributes}{of_function} {{\n"
        f"{''.join(casts)} call void @{inner_name(job.entry)}({', '.join(operands)}){of_call}\n ret void{of_call}\n}}"
        f"{metadata}"
    )


def mailbox_param(job: Job) -> str:
    return f"%p{len(job.slots)}"


def drop_mailbox_param(text: str, job: Job) -> str:
    """The assembly of a kernel of which the optimiser found that it reports nothing. Raises RuntimeError where the
    parameter is not found, which the driver would not pass."""
    param = rf"(?:, )?ptr addrspace\(1\)(?: [\w()]+)* {mailbox_param(job)}(?=\))"
    dropped, count = re.subn(rf"^(define ptx_kernel [^\n]*?){param}", r"\1", text, count=1, flags=re.MULTILINE)
    if count == 0:
        raise RuntimeError(f"the parameter {mailbox_param(job)} of {job.entry} is not where LLVM used to write it")
    return dropped


def define_exported_function(job: Job, result: str, param_types: Sequence[str]) -> str:
    """@<entry>, which calls @<entry>.body: a device function for other compilers' code."""
    params = ", ".join(f"{type_} %p{i}" for i, type_ in enumerate(param_types))
    of_function, of_call, metadata = _line_marks(job)
    assign, give = ("", "void") if result == "void" else ("%r = ", f"{result} %r")
    return (
        f"declare {result} @{inner_name(job.entry)}({', '.join(param_types)})\n"
        f"define {result} @{job.entry}({params}) {float_attributes(job.request.options)}{of_function} {{\n"
        f" {assign}call {result} @{inner_name(job.entry)}({params}){of_call}\n ret {give}{of_call}\n}}{metadata}"
    )


def _line_marks(job: Job) -> tuple[str, str, str]:
    """What gives the kernel the user's first line: on the function, on the call, and for the module's end.

    LLVM drops the lines of what it inlines into a function that has none.
    """
    options = job.request.options
    if not options.wants_lines:
        return "", "", ""
    code = job.request.py_func.__code__
    folder, _, name = os.path.abspath(code.co_filename).rpartition(os.sep)
    where = f"file: !1, line: {code.co_firstlineno}"
    metadata = f"""
!llvm.dbg.cu = !{{!0}}
!llvm.module.flags = !{{!3, !4}}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "{escape_text(name)}", directory: "{escape_text(folder)}")
!2 = distinct !DISubprogram(name: "{job.entry}", {where}, unit: !0, type: !5, spFlags: DISPFlagDefinition)
!3 = !{{i32 2, !"Debug Info Version", i32 3}}
!4 = !{{i32 2, !"Dwarf Version", i32 4}}
!5 = !DISubroutineType(types: !{{null}})
!6 = !DILocation(line: {code.co_firstlineno}, scope: !2)"""
    return " !dbg !2", ", !dbg !6", metadata


def _param_type(slot: ParamSlot, type_: str, arg_types: tuple[ArgType, ...]) -> str:
    if slot.kind == "extent":
        return f"{type_} range({type_} 0, {_MAX_EXTENT})"
    if slot.kind != "address":
        return type_
    argument = arg_types[slot.argument]
    if isinstance(argument, ArrayType) and argument.readonly:
        # A read-only array is not written while the kernel runs, through no other argument either: ld.global.nc.
        return "ptr addrspace(1) noalias readonly"
    return "ptr addrspace(1)"


def kernel_attributes(options: KernelOptions) -> str:
    """.maxntid, .minnctapersm, .maxclusterrank and .maxnreg.

    Source: PTX ISA, "Performance-Tuning Directives"; LLVM Language Reference, "Function Attributes".
    """
    bounds = options.launch_bounds or ()
    # The three numbers of .maxntid count by their product.
    texts = [f"{bounds[0]},1,1" if bounds and bounds[0] else "", *map(str, bounds[1:])]
    names = ("nvvm.maxntid", "nvvm.minctasm", "nvvm.maxclusterrank")
    pairs: list[tuple[str, object]] = [(name, text) for name, text in zip(names, texts, strict=False) if text]
    if options.max_registers:
        pairs.append(("nvvm.maxnreg", options.max_registers))
    return " ".join([*(f'"{name}"="{value}"' for name, value in pairs), float_attributes(options)])


def float_attributes(options: KernelOptions) -> str:
    """Flush to zero under fastmath. Source: LLVM Language Reference, "denormal-fp-math"."""
    return '"denormal-fp-math-f32"="preserve-sign,preserve-sign"' if options.fastmath else ""


def check_params(job: Job) -> None:
    """Raises UnsupportedKernelError that lists each argument's size if they are more than a launch can pass."""
    nbytes = buffer_nbytes(job)
    if nbytes <= LARGE_PARAMS_NBYTES:
        return
    sizes = [0] * len(job.request.arg_types)
    for slot in job.slots:
        sizes[slot.argument] += slot.nbytes
    largest = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    listed = "; ".join(f"argument {i} ({job.request.arg_types[i]}): {sizes[i]} bytes" for i in largest)
    code = job.request.py_func.__code__
    what = f"the arguments take {nbytes} bytes, a launch passes at most {LARGE_PARAMS_NBYTES}: {listed}"
    advice = "pass large tuples as arrays"
    fault = Fault(code.co_filename, code.co_firstlineno, what, advice)
    raise UnsupportedKernelError(job.request.py_func.__name__, [fault])
