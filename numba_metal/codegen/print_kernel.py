"""A whole MSL file: argument struct, helpers, signature, body. Before: `print_body`. After: Artifact, Metal's compiler.

The calling convention, which `numba_metal.driver` fills:

=================  ================================================================================================
buffer(0)          `constant Args&`: the parameter block of `base.params`, arrays as device pointers (gpuAddress)
buffer(1)          `device atomic_uint* mailbox`: `base.mailbox`; only in kernels that throw or print
buffer(2)          `constant Launch&`: the program's number, bytes of dynamic threadgroup memory; only where read
threadgroup(0)     dynamic threadgroup memory; only where used
=================  ================================================================================================

Source: MSL specification 2.13 (argument buffers), 5.2 (kernel parameters and attributes).
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from numba_gpucore.base.argtypes import ArrayType as ArrayArg
from numba_gpucore.base.argtypes import ScalarType
from numba_gpucore.base.errors import Fault, UnsupportedKernelError
from numba_gpucore.compile.intrinsics import parse_shared_symbol
from numba_gpucore.compile.job import Job
from numba_metal.architectures import MslVersion
from numba_metal.codegen.addresses import pointer
from numba_metal.codegen.coherence import orders_device_memory, share_device_memory
from numba_metal.codegen.constants import constant_initializer
from numba_metal.codegen.control_flow import analyse_control_flow
from numba_metal.codegen.definitions import neutral_name
from numba_metal.codegen.expressions import Expr, element_nbytes, int_type
from numba_metal.codegen.helpers import ordered_helpers
from numba_metal.codegen.infer_types import Types
from numba_metal.codegen.instructions import print_instr
from numba_metal.codegen.ir_types import Function, GlobalRef, Module, size_of
from numba_metal.codegen.mask_exits import mask_exits
from numba_metal.codegen.memory_objects import MemoryObject, PointerOrigins, is_shared_memory, trace_pointers
from numba_metal.codegen.name_hints import python_name
from numba_metal.codegen.print_body import BodyPrinter
from numba_metal.codegen.resolve_exits import resolve_exits
from numba_metal.codegen.select_statements import select_statements
from numba_metal.codegen.structure import structure_control_flow
from numba_metal.codegen.text_tree import add_places, declare_variables, render
from numba_metal.codegen.type_faults import find_type_faults
from numba_metal.codegen.values import Printers, Values
from numba_metal.codegen.variables import Variables, unique_name

#: Kernel parameters that a body can ask for, in the order of the signature. Source: MSL specification 5.2.3.6.
_BUILTINS = {
    "mailbox": "device atomic_uint* mailbox [[buffer(1)]]",
    "launch": "constant Launch& launch [[buffer(2)]]",
    "dynamic_shared": "threadgroup {element}* dynamic_shared [[threadgroup(0)]]",
    "gid": "uint3 gid [[thread_position_in_grid]]",
    "tid": "uint3 tid [[thread_position_in_threadgroup]]",
    "group": "uint3 group [[threadgroup_position_in_grid]]",
    "group_size": "uint3 group_size [[threads_per_threadgroup]]",
    "grid_size": "uint3 grid_size [[threadgroups_per_grid]]",
    "grid_threads": "uint3 grid_threads [[threads_per_grid]]",
    "thread_index": "uint thread_index [[thread_index_in_threadgroup]]",
    "lane": "uint lane [[thread_index_in_simdgroup]]",
}
#: What every shared array is aligned to, for the sake of other devices; accesses here are at most 8 bytes wide.
SHARED_ALIGN_NBYTES = 16
#: Source: MSL specification 3.2, 1.3 "New in Metal 3.2".
_FIRST_WITH_MATH_MODE = (3, 2)
_LAUNCH_STRUCT = "struct Launch {\n    ulong program;\n    ulong dynamic_shared_nbytes;\n};\n"
_ELEMENTS = {
    "bool": "uchar", "int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort", "int32": "int",
    "uint32": "uint", "int64": "long", "uint64": "ulong", "float16": "half", "float32": "float",
    "complex64": "float", "bfloat16": "ushort",
}  # fmt: skip


def print_kernel(module: Module, job: Job, version: MslVersion) -> str:
    """The MSL text of the kernel `job.entry`. Raises UnsupportedKernelError with every fault."""
    function = module.functions[job.entry]
    faults = find_type_faults(function, job)
    if faults:
        raise UnsupportedKernelError(job.request.py_func.__name__, faults)
    flow = analyse_control_flow(function)
    origins = trace_pointers(function)
    _refuse_mixed_pointers(origins, job)
    selection = select_statements(function, flow, origins)
    members = _name_members(job)
    variables = Variables(selection)
    types = Types(selection, variables, _known_elements(function, job))
    params = {
        param.name: Expr(f"args.{name}", type_)
        for param, (name, type_) in zip(function.params[1:], _member_types(function, job, types, members), strict=True)
    }
    names = _name_objects(module, function, variables)
    values = Values(job, version, selection, variables, types, params, names, Printers(print_instr, pointer))
    printer = BodyPrinter(values)
    scope = printer.scope(resolve_exits(structure_control_flow(function, flow)))
    if values.faults:
        raise UnsupportedKernelError(job.request.py_func.__name__, values.faults)
    variable_types = {name: types.of_variable(value) for value, name in variables.names.items()}
    mask_exits(scope, values, printer.extra_types)
    declare_variables(scope, variable_types | printer.extra_types)
    add_places(scope)
    body = [*_object_declarations(function, values), *render(scope, 1)]
    text = "\n".join(_file(function, job, values, members, module, body)) + "\n"
    return share_device_memory(text) if orders_device_memory(job) else text


def _refuse_mixed_pointers(origins: PointerOrigins, job: Job) -> None:
    if not origins.mixed:
        return
    code = job.request.py_func.__code__
    faults = [
        Fault(
            code.co_filename,
            mixed.instr.source.line if mixed.instr.source else code.co_firstlineno,
            f"an array that is in {' or '.join(mixed.spaces)} memory, depending on a condition",
            "use one name for each array, and put the work in both branches",
        )
        for mixed in origins.mixed
    ]
    raise UnsupportedKernelError(job.request.py_func.__name__, list(dict.fromkeys(faults)))


# -- arguments


def _name_members(job: Job) -> list[str]:
    """A readable, unique name for each slot: `x`, `x_size` or `x_shape_1`, `x_stride_0`, `z_real`, `t_2`."""
    arguments = job.request.py_func.__code__.co_varnames
    taken: set[str] = set()
    extents: dict[int, int] = {}
    for slot in job.slots:
        extents[slot.argument] = extents.get(slot.argument, 0) + (slot.kind == "extent")
    counts: dict[tuple[int, str], int] = {}
    names: list[str] = []
    for slot in job.slots:
        number = counts.get((slot.argument, slot.kind), 0)
        counts[slot.argument, slot.kind] = number + 1
        base = arguments[slot.argument].strip("_") or "argument"
        if not base.isidentifier() or not base.isascii() or keyword.iskeyword(base):
            base = f"argument_{slot.argument}"
        suffix = {"extent": f"_shape_{number}", "stride": f"_stride_{number}", "valid": "_valid"}.get(slot.kind, "")
        if slot.kind == "extent" and extents[slot.argument] == 1:
            suffix = "_size"
        if slot.kind not in ("extent", "stride", "valid") and number:
            suffix = f"_{number}"
        name = unique_name(base + suffix, taken)
        taken.add(name)
        names.append(name)
    return names


def _known_elements(function: Function, job: Job) -> dict[str, str]:
    """Element types of arrays among the parameters, as the kernel's signature says."""
    known: dict[str, str] = {}
    for param, slot in zip(function.params[1:], job.slots, strict=True):
        type_ = job.request.arg_types[slot.argument]
        if slot.kind == "address" and isinstance(type_, ArrayArg):
            is_number = isinstance(type_.dtype, ScalarType)
            known[param.name] = _ELEMENTS.get(type_.dtype.name, "uchar") if is_number else "uchar"  # type: ignore[union-attr]
            if is_number and type_.dtype.name.startswith(("datetime", "timedelta")):  # type: ignore[union-attr]
                known[param.name] = "long"
    return known


def _member_types(function: Function, job: Job, types: Types, members: list[str]) -> Iterator[tuple[str, str]]:
    for param, slot, name in zip(function.params[1:], job.slots, members, strict=True):
        if slot.kind == "address":
            yield name, types.of_pointer(param)
        elif slot.kind == "float":
            # A double can be passed on, but not computed with: Metal has none.
            yield name, {2: "half", 4: "float", 8: "ulong"}[slot.nbytes]
        else:
            yield name, int_type(8 * slot.nbytes, signed=slot.kind not in ("uint", "valid"))


# -- memory objects


def _name_objects(module: Module, function: Function, variables: Variables) -> dict[str, str]:
    """C++ names of arrays: allocas and shared arrays after Python variables where known, constants by number."""
    taken = set(variables.names.values())
    names: dict[str, str] = {}

    def choose(key: str, hint: str) -> None:
        names[key] = unique_name(hint, taken)
        taken.add(names[key])

    for block in function.blocks:
        for instr in block.instrs:
            if instr.name is None:
                continue
            is_shared = is_shared_memory(instr) and instr.detail != "msl.dynamic_shared"
            if instr.opcode != "alloca" and not (is_shared and instr.detail not in names):
                continue
            hint = python_name(instr.name) or ("shared" if is_shared else "array")
            choose(instr.detail if is_shared else instr.name, hint)
    for name in module.global_variables:
        choose(name, "table")
    return names


def _object_declarations(function: Function, values: Values) -> Iterator[str]:
    """Threadgroup arrays at the kernel's outermost scope, without initialiser (MSL specification 4.4), then allocas."""
    if "barrier_word" in values.used.builtins:
        yield "    threadgroup atomic_uint barrier_word[1];"
    allocas = {i.name: i for block in function.blocks for i in block.instrs if i.opcode == "alloca"}
    for key in values.used.objects:
        shared = parse_shared_symbol(neutral_name(key))
        if shared is not None:
            yield _array(values, MemoryObject("threadgroup", key), shared.nbytes, shared.align_nbytes)
        elif key in allocas:
            source_type = allocas[key].source_type
            assert source_type is not None
            yield _array(values, MemoryObject("thread", key), size_of(source_type), allocas[key].align_nbytes)


def _array(values: Values, obj: MemoryObject, nbytes: int, align_nbytes: int) -> str:
    element = values.types.pointee[obj]
    space = "threadgroup " if obj.space == "threadgroup" else ""
    needed_nbytes = values.types.widest_nbytes[obj]
    if align_nbytes > SHARED_ALIGN_NBYTES:
        needed_nbytes = align_nbytes
    align = f"alignas({needed_nbytes}) " if needed_nbytes > element_nbytes(element) else ""
    count = max(1, -(-nbytes // element_nbytes(element)))
    return f"    {align}{space}{element} {values.object_names[obj.name]}[{count}];"


def _constants(module: Module, values: Values) -> Iterator[str]:
    for key in values.used.objects:
        variable = module.global_variables.get(key)
        if variable is not None and variable.initializer is not None:
            element = values.types.element(GlobalRef(key))
            numbers = constant_initializer(variable.initializer, variable.type, element)
            yield f"constant {element} {values.object_names[key]}[{len(numbers)}] = {{{', '.join(numbers)}}};\n"


# -- the file


def _file(
    function: Function, job: Job, values: Values, members: list[str], module: Module, body: list[str]
) -> Iterator[str]:
    yield "#include <metal_stdlib>"
    yield "using namespace metal;"
    if not job.request.options.fastmath:
        if values.version >= _FIRST_WITH_MATH_MODE:
            # for whoever compiles the text with other options than `numba_metal.driver`
            yield "#pragma METAL fp math_mode(safe)"
        # a * b + c stays two roundings, as NumPy's. Source: MSL specification 1.6.3, floating-point pragmas.
        yield "#pragma METAL fp contract(off)"
    yield ""
    if job.slots:
        yield "struct Args {"
        for name, type_ in _member_types(function, job, values.types, members):
            yield f"    {type_} {name};"
        yield "};"
        yield ""
    if "launch" in values.used.builtins:
        yield _LAUNCH_STRUCT
    yield from _constants(module, values)
    yield from ordered_helpers(values.used.helpers)
    parameters = ["constant Args& args [[buffer(0)]]"] if job.slots else []
    element = values.types.pointee.get(MemoryObject("threadgroup", "msl.dynamic_shared"), "uchar")
    parameters += [text.format(element=element) for name, text in _BUILTINS.items() if name in values.used.builtins]
    head = f"kernel void {job.entry}("
    yield head + (",\n" + " " * len(head)).join(parameters) + ")"
    yield "{"
    yield from body
    yield "}"
