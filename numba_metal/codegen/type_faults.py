"""What a kernel does that Metal has no types for. Before: `ir_reader`. After: the rest of the emitter may assume.

Every place is reported at once, with its line where lowering left lines.
"""

from __future__ import annotations

from numba_gpucore.base.errors import Fault
from numba_gpucore.compile.job import Job
from numba_metal.codegen.ir_types import FloatType, Function, Instr, Local
from numba_metal.codegen.select_statements import is_ignored

DOUBLE = FloatType("double")


def find_type_faults(function: Function, job: Job) -> list[Fault]:
    """One fault a line, in source order."""
    carried = _carried_by_exceptions(function)
    faults: dict[Fault, None] = {}
    for block in function.blocks:
        for instr in block.instrs:
            if instr.name in carried or is_ignored(instr) or not _has_double(instr, carried):
                continue
            faults[_double_fault(job, instr)] = None
    if job.has_recursion:
        code = job.request.py_func.__code__
        what = "the kernel calls a function that calls itself, which Metal does not have"
        advice = "write it as a loop with a stack in local.array"
        faults[Fault(code.co_filename, code.co_firstlineno, what, advice)] = None
    return sorted(faults)


def _has_double(instr: Instr, carried: set[str]) -> bool:
    if DOUBLE in (instr.type, instr.source_type):
        return True
    return any(o.type == DOUBLE and not (isinstance(o, Local) and o.name in carried) for o in instr.operands)


def _carried_by_exceptions(function: Function) -> set[str]:
    """Numbers of exceptions are widened to doubles only to travel; `instructions` prints those without a double."""
    definitions = {i.name: i for block in function.blocks for i in block.instrs if i.name is not None}
    carried: set[str] = set()
    for block in function.blocks:
        for instr in block.instrs:
            source = instr.operands[0] if instr.opcode == "bitcast" else None
            widened = definitions.get(source.name) if isinstance(source, Local) else None
            if widened is not None and widened.opcode == "fpext" and widened.type == DOUBLE:
                assert widened.name is not None
                carried.add(widened.name)
    return carried


def _double_fault(job: Job, instr: Instr) -> Fault:
    code = job.request.py_func.__code__
    return Fault(
        code.co_filename,
        instr.source.line if instr.source else code.co_firstlineno,
        "float64, which Metal does not have",
        "use float32: np.float32(x), arrays of float32, or the option float64='float32'",
    )
