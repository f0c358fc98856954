"""Atomic operations. Before: `addresses`. After: `print_kernel`.

Native where MSL has them: 32-bit integers in device and threadgroup memory, float32 addition in device memory from MSL
3.0. Elsewhere a compare-and-swap loop on the 32-bit word that holds the value. All are relaxed, as device IR's are.
MSL has no 64-bit read-modify-write with a result, so those are faults. Source: MSL specification 6.15 (atomics).
"""

from __future__ import annotations

from numba_metal.codegen.addresses import cast_pointer, pointer
from numba_metal.codegen.expressions import Expr, call, convert, element_nbytes, int_type, reinterpret
from numba_metal.codegen.ir_types import FloatType, Instr, IntType, Type, Value
from numba_metal.codegen.memory_objects import DEVICE, THREADGROUP
from numba_metal.codegen.values import CannotPrint, Values

RELAXED = "memory_order_relaxed"
_NATIVE = {"add": "add", "sub": "sub", "and": "and", "or": "or", "xor": "xor", "max": "max", "min": "min",
           "umax": "max", "umin": "min"}  # fmt: skip
_SIGNED = frozenset(("max", "min"))


def print_atomic(values: Values, instr: Instr) -> Expr:
    """An atomicrmw or cmpxchg; the value is what memory held before. Raises CannotPrint."""
    target = instr.operands[0]
    assert instr.source_type is not None
    space = values.selection.origins.space(target)
    if space not in (DEVICE, THREADGROUP):
        raise CannotPrint(f"an atomic operation on {space} memory")
    _check_width(instr)
    if instr.opcode == "cmpxchg":
        return _compare_and_swap(values, instr, space)
    return _update(values, instr, space)


def _check_width(instr: Instr) -> None:
    type_ = instr.source_type
    is_wide = type_ in (IntType(64), FloatType("double"))
    if is_wide:
        raise CannotPrint(
            f"an atomic {_python_name(instr)} of 64-bit values, which Metal does not have",
            "use an array of int32, uint32 or float32",
        )


def _python_name(instr: Instr) -> str:
    """What `gpu.atomic` calls the operation."""
    if instr.opcode == "cmpxchg":
        return "compare-and-swap"
    return {"xchg": "exch", "fadd": "add", "fsub": "sub", "umax": "max", "umin": "min", "fmax": "nanmax",
            "fmin": "nanmin", "uinc_wrap": "inc", "udec_wrap": "dec"}.get(instr.detail, instr.detail)  # fmt: skip


def _atomic_place(values: Values, target: Value, space: str, atomic_type: str) -> Expr:
    return cast_pointer(pointer(values, target), space, atomic_type)


def _update(values: Values, instr: Instr, space: str) -> Expr:
    target, value = instr.operands
    operation, type_ = instr.detail, value.type
    if type_ == IntType(32) and operation in _NATIVE:
        signed = operation in _SIGNED or (operation not in ("umax", "umin") and values.types.element(target) == "int")
        number = int_type(32, signed)
        function = f"atomic_fetch_{_NATIVE[operation]}_explicit"
        return _native(values, function, target, space, values.as_type(value, number), number)
    if type_ == IntType(32) and operation == "xchg":
        number = "int" if values.types.element(target) == "int" else "uint"
        place = values.as_type(value, number)
        return _native(values, "atomic_exchange_explicit", target, space, place, number)
    if type_ == FloatType("float") and operation == "xchg":
        # Threadgroup memory has no atomic_float; the bits can be exchanged as well.
        bits = reinterpret(values.expr(value), "uint")
        return reinterpret(_native(values, "atomic_exchange_explicit", target, space, bits, "uint"), "float")
    if type_ == FloatType("float") and operation in ("fadd", "fsub") and _has_float_atomics(values, space):
        function = f"atomic_fetch_{operation[1:]}_explicit"
        return _native(values, function, target, space, values.expr(value), "float")
    return _loop(values, operation, target, space, value)


def _has_float_atomics(values: Values, space: str) -> bool:
    return space == DEVICE and values.version >= (3, 0)


def _native(values: Values, function: str, target: Value, space: str, value: Expr, number: str) -> Expr:
    place = _atomic_place(values, target, space, f"atomic_{number}")
    return Expr(f"{function}({place.text}, {value.text}, {RELAXED})", number)


def _loop(values: Values, operation: str, target: Value, space: str, value: Value) -> Expr:
    """A call of a helper that repeats compare-and-swap on the word that holds the value."""
    number = _number_type(values, operation, value.type, target)
    helper = values.helper(f"atomic_{operation}_{number}_{space}")
    argument = values.as_type(value, number) if isinstance(value.type, IntType) else values.expr(value)
    place = cast_pointer(pointer(values, target), space, number)
    return call(helper, place, convert(argument, number), type_=number)


def _number_type(values: Values, operation: str, type_: Type, target: Value) -> str:
    if isinstance(type_, FloatType):
        return values.result_type(type_)
    assert isinstance(type_, IntType)
    if operation in ("umax", "umin", "uinc_wrap", "udec_wrap"):
        return int_type(type_.bits, signed=False)
    element = values.types.element(target)
    if element_nbytes(element) * 8 == type_.bits and element not in ("half", "bfloat", "float"):
        return element
    return int_type(type_.bits, signed=True)


def _compare_and_swap(values: Values, instr: Instr, space: str) -> Expr:
    target, expected, wanted = instr.operands
    assert isinstance(expected.type, IntType)
    unsigned = int_type(expected.type.bits, signed=False)
    is_used = instr.name is not None and instr.name in values.selection.used
    number = values.types.of_variable(instr.name or "") if is_used else unsigned
    helper = values.helper(f"compare_and_swap_{unsigned}_{space}")
    place = cast_pointer(pointer(values, target), space, unsigned)
    arguments = [values.as_type(operand, unsigned) for operand in (expected, wanted)]
    return convert(call(helper, place, *arguments, type_=unsigned), number)


def print_atomic_load(values: Values, instr: Instr) -> Expr:
    """A relaxed atomic load of up to 32 bits, narrow ones from the word that holds them."""
    target = instr.operands[0]
    space = values.selection.origins.space(target)
    if instr.type in (IntType(8), IntType(16)) and space in (DEVICE, THREADGROUP):
        number = int_type(instr.type.bits, signed=False)
        place = cast_pointer(pointer(values, target), space, number)
        return call(values.helper(f"atomic_load_{number}_{space}"), place, type_=number)
    if instr.type != IntType(32) or space not in (DEVICE, THREADGROUP):
        raise CannotPrint(f"an atomic load of {instr.type} from {space} memory")
    place = _atomic_place(values, target, space, "atomic_uint")
    return Expr(f"atomic_load_explicit({place.text}, {RELAXED})", "uint")


def print_atomic_store(values: Values, instr: Instr) -> str:
    value, target = instr.operands
    space = values.selection.origins.space(target)
    if value.type != IntType(32) or space not in (DEVICE, THREADGROUP):
        raise CannotPrint(f"an atomic store of {value.type} to {space} memory")
    place = _atomic_place(values, target, space, "atomic_uint")
    return f"atomic_store_explicit({place.text}, {values.as_type(value, 'uint').text}, {RELAXED});"
