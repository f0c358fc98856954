"""What NVPTX can select. Before: legalize. After: emit, which would end the process on anything else.

LLVM aborts, and takes Python with it, when instruction selection meets an intrinsic that it cannot select, so every
declaration of a module is held against the table below.
"""

from __future__ import annotations

from numba_gpucore.base.errors import Fault, UnsupportedKernelError
from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.compile.job import Job
from numba_gpucore.compile.module_text import symbol_of
from numba_ptxplus.codegen.definitions import DYNAMIC_SHARED
from numba_ptxplus.codegen.linked_code import foreign_functions

#: Intrinsics that NVPTX selects for every type that Numba has (integers of 8 to 128 bits, half, float, double).
#: Source: each was compiled for sm_75 and sm_90 by LLVM 22 in a child process; tests/unit/test_ptx_selection.py does
#: it again.
SELECTABLE = frozenset(
    {
        "abs", "arithmetic.fence", "assume", "bitreverse", "bswap", "canonicalize", "ceil", "copysign", "ctlz",
        "ctpop", "cttz", "donothing", "expect", "experimental.noalias.scope.decl", "fabs", "floor", "fma", "fmuladd",
        "fptosi.sat", "fptoui.sat", "frexp", "fshl", "fshr", "is.constant", "is.fpclass", "ldexp", "lifetime.end",
        "lifetime.start", "maximum", "maximumnum", "maxnum", "memcpy", "memmove", "memset", "minimum", "minimumnum",
        "minnum", "nearbyint", "objectsize", "prefetch", "ptrmask", "readcyclecounter", "rint", "round", "roundeven",
        "sadd.sat", "sadd.with.overflow", "scmp", "smax", "smin", "smul.with.overflow", "sqrt", "sshl.sat", "ssub.sat",
        "ssub.with.overflow", "trap", "trunc", "uadd.sat", "uadd.with.overflow", "ucmp", "umax", "umin",
        "umul.with.overflow", "ushl.sat", "usub.sat", "usub.with.overflow",
    }
)  # fmt: skip
#: Selectable for some types only.
_SELECTABLE_NAMES = frozenset({"llvm.exp2.f16", "llvm.exp2.f32"})
#: Every target-specific intrinsic that definitions.py and libdevice use is selected on sm_75 and later.
_SELECTABLE_PREFIXES = ("llvm.nvvm.", "llvm.dbg.")

_TYPE_SUFFIX = late_pattern(r"(\.(i\d+|f\d+|bf16|p\d+|v\d+\w+))+$")


def is_selectable(name: str) -> bool:
    """True if NVPTX has instructions for the LLVM intrinsic of this full name."""
    if name.startswith(_SELECTABLE_PREFIXES) or name in _SELECTABLE_NAMES:
        return True
    return _TYPE_SUFFIX.sub("", name.removeprefix("llvm.")) in SELECTABLE


def check_selection(text: str, job: Job) -> None:
    """Raise UnsupportedKernelError that lists every function of a program, LLVM assembly, that neither we nor NVPTX
    define."""
    code = job.request.py_func.__code__
    foreign = foreign_functions(job)
    lines = text.splitlines()
    functions = [symbol_of(line) for line in lines if line.startswith("declare ")]
    variables = [symbol_of(line) for line in lines if line.startswith("@") and " = external " in line]
    faults = [
        Fault(
            code.co_filename,
            code.co_firstlineno,
            f"the kernel needs '{function}', which NVPTX code generation cannot provide",
            "write it with functions of math or the kernel language",
        )
        for function in functions
        if function not in foreign and not (function.startswith("llvm.") and is_selectable(function))
    ]
    faults += [
        Fault(code.co_filename, code.co_firstlineno, f"nothing defines the variable '{variable}'")
        for variable in variables
        if variable != DYNAMIC_SHARED
    ]
    if faults:
        raise UnsupportedKernelError(job.request.py_func.__name__, faults)
