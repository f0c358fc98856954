"""Metal's code generator: device IR to MSL text. Before: compile.driver. After: Artifact, numba_metal.driver.

One module a step, in this order:

=====================  ============================================================================================
legalize               inline and optimise; values named after Python variables (`name_hints`)
ir_reader              LLVM assembly to records (`ir_types`)
split_structs          pairs that compare-and-swap gives, as two values
separate_spaces        pointers into one of two address spaces, as two pointers
control_flow           dominators, loops
memory_objects         which address space each pointer points into
select_statements      which values get a statement
variables, infer_types which values share a variable, its name, its type; element types of memory
structure              blocks to nested constructs
resolve_exits          constructs to `while`, `if`, `break`, `continue`
print_body             statements, with `instructions`, `addresses`, `atomics`, `block_memory` for their parts
instructions           by kind: `int_instructions`, `float_instructions`, `conversions`, `calls`
mask_exits             threads that end early still reach barriers
text_tree              declarations
print_kernel           argument struct, helper functions, signature
=====================  ============================================================================================
"""

from __future__ import annotations

from typing import Any

from numba_gpucore.base.errors import Fault, UnsupportedKernelError
from numba_gpucore.compile.job import Job
from numba_metal.architectures import msl_version_of
from numba_metal.codegen.ir_reader import read_module
from numba_metal.codegen.ir_tokens import IRSyntaxError
from numba_metal.codegen.legalize import legalize_module
from numba_metal.codegen.print_kernel import print_kernel
from numba_metal.codegen.separate_spaces import separate_spaces
from numba_metal.codegen.split_structs import split_structs
from numba_metal.driver.abi import (
    FACT_MATH_MODE,
    FACT_MSL_VERSION,
    FACT_THROWS,
    FACT_USES_DYNAMIC_SHARED,
    MATH_MODES,
)


class MetalCodegen:
    """base.backend.Codegen."""

    links_nvidia_code = False

    def legalize(self, module: Any, job: Job) -> Any:
        legalize_module(module, job)
        return module

    def emit(self, module: Any, job: Job) -> str:
        """MSL text. Raises UnsupportedKernelError."""
        code = job.request.py_func.__code__
        try:
            records = read_module(str(module), {job.request.py_func.__name__: code.co_firstlineno})
        except IRSyntaxError as problem:
            fault = Fault(code.co_filename, code.co_firstlineno, f"cannot be written in MSL: {problem}")
            raise UnsupportedKernelError(job.request.py_func.__name__, [fault]) from problem
        return print_kernel(separate_spaces(split_structs(records)), job, msl_version_of(job.request.arch))

    def assemble(self, text: str, job: Job) -> bytes:
        """The text itself: Metal compiles it when it is loaded."""
        return text.encode()

    def facts(self, module: Any, job: Job) -> tuple[tuple[str, int], ...]:
        version = msl_version_of(job.request.arch)
        declared = {function.name for function in module.functions if function.is_declaration}
        facts = {
            FACT_MATH_MODE: MATH_MODES.index("fast" if job.request.options.fastmath else "safe"),
            FACT_MSL_VERSION: 100 * version.major + version.minor,
            FACT_THROWS: int(bool(declared & {"msl.throw", "msl.print.begin"})),
            FACT_USES_DYNAMIC_SHARED: int("msl.dynamic_shared" in declared),
        }
        return tuple(sorted(facts.items()))


CODEGEN = MetalCodegen()
