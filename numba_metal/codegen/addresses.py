"""Addresses, loads and stores. Before: `values`. After: `instructions`, `atomics`.

`x[i]` where everything fits the element type; otherwise one sum of bytes and a cast. Never a chain of byte offsets,
which Apple's compiler has been seen to get wrong (GPUCompiler.jl 7dd4056, src/metal.jl:387), and never a cast between
address spaces (MSL specification 4).
"""

from __future__ import annotations

from numba_gpucore.compile.intrinsics import parse_shared_symbol
from numba_metal.codegen.definitions import neutral_name
from numba_metal.codegen.expressions import (
    Expr,
    binary,
    call,
    convert,
    dereference,
    element_nbytes,
    int_literal,
    int_type,
    reinterpret,
    scalar_type,
)
from numba_metal.codegen.infer_types import factor_steps, resolve_address
from numba_metal.codegen.ir_types import (
    ConstExpr,
    GlobalRef,
    Instr,
    IntType,
    Local,
    PointerType,
    Type,
    Undefined,
    Value,
    Zero,
    size_of,
)
from numba_metal.codegen.memory_objects import Address
from numba_metal.codegen.values import CannotPrint, Values


def pointer(values: Values, value: Value) -> Expr:
    """A pointer as an expression of type "<space> <element>*"."""
    if isinstance(value, (Zero, Undefined)):
        return Expr("nullptr", "device uchar*")
    address = resolve_address(values.selection, value)
    base = _base(values, address.base)
    if not address.steps and not address.offset_nbytes:
        return base
    space, element = _split(base.type)
    address = factor_steps(values.selection, address, element_nbytes(element))
    if address.is_multiple_of(element_nbytes(element)):
        return binary("+", base, _index(values, address, element_nbytes(element)), base.type)
    bytes_ = binary("+", cast_pointer(base, space, "uchar"), _index(values, address, 1), f"{space} uchar*")
    return cast_pointer(bytes_, space, element)


def place(values: Values, value: Value, element: str) -> Expr:
    """The memory that pointer `value` points to, as an lvalue of type `element`."""
    address = resolve_address(values.selection, value)
    base = _base(values, address.base)
    space, own = _split(base.type)
    address = factor_steps(values.selection, address, element_nbytes(own))
    if own == element and address.is_multiple_of(element_nbytes(own)):
        if not address.steps and not address.offset_nbytes and isinstance(address.base, Local):
            if values.variables.is_variable(address.base.name) and address.base.name not in values.selection.inline:
                return dereference(base, element)
        return Expr(f"{base.within(16)}[{_index(values, address, element_nbytes(own)).text}]", element)
    if address.is_multiple_of(element_nbytes(own)) and (address.steps or address.offset_nbytes):
        spot = Expr(f"&{base.within(16)}[{_index(values, address, element_nbytes(own)).text}]", base.type, 15)
        return dereference(cast_pointer(spot, space, element), element)
    return dereference(cast_pointer(pointer(values, value), space, element), element)


def cast_pointer(pointer_: Expr, space: str, element: str) -> Expr:
    type_ = f"{space} {element}*"
    if pointer_.type == type_:
        return pointer_
    return Expr(f"({type_}){pointer_.within(15)}", type_, 15)


def _split(pointer_type: str) -> tuple[str, str]:
    space, element = pointer_type.removesuffix("*").split(" ")
    return space, element


def _base(values: Values, base: Value) -> Expr:
    if isinstance(base, GlobalRef):
        if base.name not in values.object_names:
            raise CannotPrint(f"the global variable '{base.name}'")
        values.used.objects[base.name] = None
        return Expr(values.object_names[base.name], values.types.of_pointer(base))
    if isinstance(base, Local) and base.name in values.selection.inline:
        instr = values.selection.definitions[base.name]
        type_ = values.types.of_pointer(base)
        if instr.opcode == "alloca":
            values.used.objects[base.name] = None
            return Expr(values.object_names[base.name], type_)
        if instr.opcode == "call" and instr.detail == "msl.dynamic_shared":
            return Expr(values.builtin("dynamic_shared"), type_)
        if instr.opcode == "call" and parse_shared_symbol(neutral_name(instr.detail)):
            values.used.objects[instr.detail] = None
            return Expr(values.object_names[instr.detail], type_)
        return values.print_instr(instr)
    if isinstance(base, ConstExpr):
        raise CannotPrint("a constant address")
    return values.expr(base)


def _index(values: Values, address: Address, nbytes: int) -> Expr:
    """The sum of steps and offset in units of `nbytes`, signed: clang takes an unsigned index for one that cannot reach
    below the pointer."""
    terms = [_term(values, step.index, step.scale_nbytes // nbytes) for step in address.steps]
    offset = address.offset_nbytes // nbytes
    if not terms:
        return int_literal(offset, "int") if abs(offset) < 1 << 31 else int_literal(offset, "long")
    total = terms[0]
    for term in terms[1:]:
        total = _add(total, term)
    if offset:
        literal = int_literal(abs(offset), total.type)
        total = binary("+" if offset > 0 else "-", total, literal, total.type)
    return convert(total, "long")


def _term(values: Values, index: Value, scale: int) -> Expr:
    expr = values.expr(index)
    if isinstance(index.type, IntType) and index.type.bits < 64:
        expr = convert(values.signed(index), "long")
    if scale == 1:
        return expr
    unsigned = convert(expr, "ulong") if scale < 0 or expr.type == "ulong" else expr
    return binary("*", unsigned, int_literal(scale, unsigned.type), unsigned.type)


def _add(left: Expr, right: Expr) -> Expr:
    if left.type == right.type:
        return binary("+", left, right, left.type)
    return binary("+", convert(left, "ulong"), convert(right, "ulong"), "ulong")


# -- loads and stores


def memory_type(values: Values, type_: Type, pointer_: Value) -> str:
    """The MSL type of an access: what the memory holds where that is as wide, so that bits which are read as another
    type are reinterpreted (`as_type`) after the access. An access of another type than the memory's would let Apple's
    compiler, as any of C++, assume that it touches other memory. Source: C++14 [basic.lval], 10."""
    if isinstance(type_, PointerType):
        return "ulong"
    values.check_type(type_)
    if isinstance(type_, IntType) and type_.bits not in (1, 8, 16, 32, 64):
        raise CannotPrint(f"memory of {type_.bits}-bit integers")
    element, nbytes = values.types.element(pointer_), size_of(type_)
    if element_nbytes(element) == nbytes:
        return element
    return scalar_type(IntType(8 * nbytes) if isinstance(type_, IntType) else type_, signed=True)


def load(values: Values, instr: Instr) -> Expr:
    source = instr.operands[0]
    element = memory_type(values, instr.type, source)
    if instr.flags & {"atomic"}:
        raise CannotPrint("an atomic load")
    if _goes_by_bytes(values, instr, source, element):
        spot = _load_bytes(values, source, element)
    else:
        spot = (_volatile if "volatile" in instr.flags else place)(values, source, element)
    if instr.type == IntType(1):
        return binary("!=", binary("&", spot, int_literal(1, element), element), int_literal(0, element), "bool")
    if isinstance(instr.type, PointerType):
        return _pointer_from_bits(values, Local(instr.name or "", instr.type), spot)
    if isinstance(instr.type, IntType):
        return spot if spot.bits else reinterpret(spot, int_type(instr.type.bits, signed=True))
    return reinterpret(spot, values.result_type(instr.type))


def _goes_by_bytes(values: Values, instr: Instr, pointer_: Value, element: str) -> bool:
    """True for an address that need not be a multiple of the size (packed records), which MSL leaves undefined, and
    for a view of an argument as numbers of another size."""
    nbytes = element_nbytes(element)
    if 0 < instr.align_nbytes < nbytes:
        return True
    return nbytes > 1 and not values.types.may_hold(pointer_, nbytes)


def _bytes_at(values: Values, target: Value) -> tuple[str, Expr]:
    """The address space of a pointer, and the pointer as one to bytes."""
    space = values.selection.origins.space(target)
    return space, cast_pointer(pointer(values, target), space, "uchar")


def _load_bytes(values: Values, source: Value, element: str) -> Expr:
    unsigned = int_type(8 * element_nbytes(element), signed=False)
    space, bytes_ = _bytes_at(values, source)
    return reinterpret(call(values.helper(f"load_{unsigned}_{space}"), bytes_, type_=unsigned), element)


def _store_bytes(values: Values, target: Value, stored: Expr) -> str:
    unsigned = int_type(8 * element_nbytes(stored.type), signed=False)
    space, bytes_ = _bytes_at(values, target)
    return f"{values.helper(f'store_{unsigned}_{space}')}({bytes_.text}, {reinterpret(stored, unsigned).text});"


def _volatile(values: Values, source: Value, element: str) -> Expr:
    space = values.selection.origins.space(source)
    target = pointer(values, source)
    type_ = f"volatile {space} {element}*"
    return dereference(Expr(f"({type_}){target.within(15)}", type_, 15), element)


def _pointer_from_bits(values: Values, result: Local, bits: Expr) -> Expr:
    type_ = values.types.of_pointer(result)
    return Expr(f"({type_}){bits.within(15)}", type_, 15)


def store_text(values: Values, instr: Instr) -> str:
    """The statement `place = value;`."""
    value, target = instr.operands
    element = memory_type(values, value.type, target)
    if isinstance(value.type, PointerType):
        stored = Expr(f"(ulong){values.expr(value).within(15)}", "ulong", 15)
    elif value.type == IntType(1):
        stored = convert(values.expr(value), element)
    elif isinstance(value.type, IntType):
        same_width = element if Expr("", element).bits else int_type(value.type.bits, signed=False)
        stored = reinterpret(values.as_type(value, same_width), element)
    else:
        stored = reinterpret(values.expr(value), element)
    if _goes_by_bytes(values, instr, target, element):
        return _store_bytes(values, target, stored)
    spot = (_volatile if "volatile" in instr.flags else place)(values, target, element)
    return f"{spot.text} = {stored.text};"
