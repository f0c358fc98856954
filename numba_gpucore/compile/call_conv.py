"""How device functions call each other and how they throw. Before: target context. After: lowering.

`i32 function(ptr retval, ptr ctx, args...)`: Numba's minimal convention with a hidden context pointer, which neutral
intrinsics take. A throw hands site and numbers to `gpu.throw` and returns non-zero; callers return at once.

Inside `try`, a throw sets the function's own flag and goes to the handler. Functions that a try block calls are quiet
versions of themselves (see quiet_functions), which return non-zero without telling the host.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from llvmlite import ir

from numba_gpucore.base.site import MAX_SITE_NUMBERS, Argument, Hole, Items, MessagePart, Site, Text
from numba_gpucore.compile.intrinsics import site_symbol
from numba_gpucore.compile.llvm_calls import POINTER, call_intrinsic, call_placeholder
from numba_gpucore.compile.lower.number_bits import to_i64, wide_bits
from numba_gpucore.compile.lower.text_pieces import formatted_piece, value_pieces
from numba_gpucore.compile.numba_api import MinimalCallConv, callconv, cgutils, errors, types
from numba_gpucore.compile.quiet_functions import QUIET
from numba_gpucore.compile.texts import Format, TextStart
from numba_gpucore.language import KernelVector

I1, I32, I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
_TRY_STATE_ATTRIBUTE = "_gpucore_try_state"
#: Where Numba's lowering leaves the handler's block while it lowers a block inside `try`.
_IN_TRY_BLOCK = "_in_try_block"


class ContextCallConv(MinimalCallConv):
    """MinimalCallConv with a context pointer as second parameter and exceptions by site."""

    def get_function_type(self, restype, argtypes):
        plain = super().get_function_type(restype, argtypes)
        return ir.FunctionType(plain.return_type, [plain.args[0], POINTER, *plain.args[1:]])

    def get_arguments(self, func):
        return func.args[2:]

    def decorate_function(self, fn, args, fe_argtypes, noalias=False):
        super().decorate_function(fn, args, fe_argtypes, noalias)
        fn.args[1].name = ".ctx"

    def call_function(self, builder, callee, resty, argtys, args):
        return_type = callee.args[0].type.pointee
        slot = cgutils.alloca_once(builder, return_type)
        builder.store(cgutils.get_null_value(return_type), slot)
        packed = self._get_arg_packer(argtys).as_arguments(builder, args)
        self.context.active_code_library.add_call(builder.function.name, callee.name)
        if is_in_try(builder):
            callee = cgutils.get_or_insert_function(builder.module, callee.function_type, callee.name + QUIET)
        code = builder.call(callee, [slot, builder.function.args[1], *packed])
        status = self._get_return_status(builder, code)
        return status, self.context.get_returned_value(builder, resty, builder.load(slot))

    def _make_call_helper(self, builder):
        return None

    # -- throwing

    def return_user_exc(self, builder, exc, exc_args=None, loc=None, func_name=None):
        arguments = tuple(map(_constant_part, exc_args or ()))
        self._throw(builder, self._make_site(exc, arguments, loc), [])

    def return_dynamic_user_exc(self, builder, exc, exc_args, nb_types, loc=None, func_name=None):
        arguments: list[Argument] = []
        numbers: list[ir.Value] = []
        given = iter(zip(exc_args, nb_types, strict=True))
        for argument, type_ in given:
            if isinstance(argument, TextStart):
                pieces = list(self._text_pieces(builder, itertools.islice(given, argument.count)))
                arguments.append(Text(tuple(part for part, _bits in pieces)))
                numbers += [pattern for _part, bits in pieces for pattern in bits]
            elif isinstance(argument, ir.Value):
                arguments.append(self._argument(builder, argument, type_, numbers))
            else:
                arguments.append(_constant_part(argument))
        if len(numbers) > MAX_SITE_NUMBERS:
            raise errors.UnsupportedError(
                f"an exception in a kernel can carry {MAX_SITE_NUMBERS} numbers, this one has {len(numbers)} — leave "
                "some out",
                loc,
            )
        self._throw(builder, self._make_site(exc, tuple(arguments), loc), numbers)

    def _text_pieces(self, builder, parts) -> Iterator[tuple[MessagePart | Hole, Sequence[ir.Value]]]:
        """The parts of an f-string with the numbers that they need."""
        format_ = ""
        for value, type_ in parts:
            if isinstance(value, Format):
                format_ = value.text
                continue
            if not isinstance(value, ir.Value):
                yield _constant_part(value), ()
            elif format_:
                yield formatted_piece(self.context, builder, format_, type_, value)
            else:
                yield from value_pieces(self.context, builder, type_, value, "")
            format_ = ""

    def _argument(self, builder, value, type_, numbers: list[ir.Value]) -> Argument:
        """One argument, whose numbers are added to `numbers`."""
        if isinstance(type_, types.BaseTuple):
            items = [builder.extract_value(value, position) for position in range(len(type_))]
            return Items(tuple(self._argument(builder, *item, numbers) for item in zip(items, type_, strict=True)))
        if isinstance(type_, types.StringLiteral):
            return type_.literal_value
        if isinstance(type_, types.NoneType):
            return None
        kind, bits = wide_bits(self.context, builder, value, type_)
        numbers.extend(bits)
        return Hole(kind)

    def return_bounds_error(self, builder, index, axis, size, is_signed):
        """Throw IndexError for `index` (before wraparound), both i64 values; `axis` an int or an integer value."""
        holes = (Hole("int" if is_signed else "uint"), Hole("int"), Hole("int"))
        site = self._make_site(IndexError, holes, None, is_bounds_check=True)
        axis_value = I64(axis) if isinstance(axis, int) else to_i64(builder, axis, signed=True)
        numbers = [to_i64(builder, index, signed=True), axis_value, to_i64(builder, size, signed=True)]
        self._throw(builder, site, numbers)

    def _make_site(self, exception, arguments, loc, is_bounds_check=False) -> Site:
        frame = self.context.active_code_library.current_frame
        if loc is not None and loc.filename == frame.filename:
            frame = frame.at_line(loc.line)
        name = "builtins:Exception" if exception is None else f"{exception.__module__}:{exception.__qualname__}"
        return Site(name, arguments, frame, is_bounds_check)

    def _throw(self, builder, site: Site, numbers: Sequence[ir.Value]) -> None:
        try_block = getattr(builder, _IN_TRY_BLOCK, None)
        if try_block:
            self.set_static_user_exc(builder, None)
            builder.branch(try_block["target"])
            return
        content_id = self.context.active_code_library.add_site(site, builder.function.name)
        site_index = call_placeholder(builder, site_symbol(content_id), I32)
        padded = [*numbers, *[I64(0)] * (MAX_SITE_NUMBERS - len(numbers))]
        call_intrinsic(builder, "gpu.throw", site_index, *padded)
        self._return_errcode_raw(builder, callconv.RETCODE_USEREXC)

    # -- try blocks: (depth, caught) in allocas of the function that has them

    def _try_state(self, builder):
        state = getattr(builder, _TRY_STATE_ATTRIBUTE, None)
        if state is None:
            state = tuple(cgutils.alloca_once_value(builder, zero) for zero in (I32(0), I1(0)))
            setattr(builder, _TRY_STATE_ATTRIBUTE, state)
        return state

    def set_try_status(self, builder):
        depth, _caught = self._try_state(builder)
        builder.store(builder.add(builder.load(depth), I32(1)), depth)

    def unset_try_status(self, builder):
        depth, caught = self._try_state(builder)
        builder.store(builder.sub(builder.load(depth), I32(1)), depth)
        builder.store(I1(0), caught)

    def check_try_status(self, builder):
        depth, caught = self._try_state(builder)
        in_try = builder.icmp_unsigned(">", builder.load(depth), I32(0))
        # Numba asks whether excinfo is non-null: a pointer made of the flag answers that.
        flag = builder.inttoptr(builder.zext(builder.load(caught), I64), POINTER)
        return callconv.TryStatus(in_try=in_try, excinfo=flag)

    def set_static_user_exc(self, builder, exc, exc_args=None, loc=None, func_name=None):
        builder.store(I1(1), self._try_state(builder)[1])

    def set_dynamic_user_exc(self, builder, exc, exc_args, nb_types, loc=None, func_name=None):
        self.set_static_user_exc(builder, exc)

    def return_status_propagate(self, builder, status):
        if is_in_try(builder):
            self.set_static_user_exc(builder, None)
        else:
            super().return_status_propagate(builder, status)


def is_in_try(builder) -> bool:
    """True while a block is lowered whose exceptions a handler catches."""
    return getattr(builder, _IN_TRY_BLOCK, None) is not None


def leave_try(builder) -> None:
    """Lower the rest of the block as one whose exceptions nothing catches."""
    setattr(builder, _IN_TRY_BLOCK, None)


def _constant_part(value: Any) -> MessagePart:
    if isinstance(value, KernelVector):
        raise errors.UnsupportedError(
            f"an exception in a kernel can carry numbers, not {value.name} — write {value.name}.x, or an f-string"
        )
    is_plain = isinstance(value, (str, int, float, complex, bool, bytes, type(None)))
    if is_plain or (type(value) is tuple and all(_constant_part(item) is item for item in value)):
        return value
    return str(value)
