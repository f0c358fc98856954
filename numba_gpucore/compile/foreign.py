"""Foreign functions in kernels: typing, and lowering to `gpu.foreign.*`. Before: ForeignFunction. After: linking.

A back-end that can link NVIDIA's code defines `gpu.foreign.<name>` as a call of `name`; others refuse it, and inline
assembly, which intrinsics of users bring (`numba.extending.intrinsic`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from llvmlite import ir
from numba.extending import typeof_impl

from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.errors import Fault, UnsupportedKernelError
from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.compile.call_chains import user_place, user_place_of_function
from numba_gpucore.compile.code_library import DeviceLibrary
from numba_gpucore.compile.intrinsics import foreign_symbol, parse_foreign_symbol
from numba_gpucore.compile.llvm_calls import call_placeholder, context_pointer
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import cgutils, templates, types
from numba_gpucore.compile.numba_types import to_numba
from numba_gpucore.foreign_function import ForeignFunction

#: Source: LLVM Language Reference, "Inline Assembler Expressions".
_ASSEMBLY = late_pattern(r'\basm (?:[a-z]+ )*"(?P<text>[^"]*)"')


@typeof_impl.register(ForeignFunction)
def type_foreign_function(function, _context):
    return _function_type(function)


@cache
def _function_type(function: ForeignFunction) -> types.Function:
    arguments = tuple(map(to_numba, function.sig.args))
    result = types.none if function.sig.result is None else to_numba(function.sig.result)
    _lower_function(function, arguments)
    signature = templates.signature(result, *arguments)
    return types.Function(templates.make_concrete_template(function.name, function, [signature]))


def _lower_function(function: ForeignFunction, arguments: tuple[types.Type, ...]) -> None:
    @lower(function, *arguments)
    def implement(context, builder, sig, args):
        context.active_code_library.add_linked_code(function.linked)
        flat = context.get_arg_packer(sig.args).as_arguments(builder, args)
        symbol, here = foreign_symbol(function.name), context_pointer(builder)
        result_type = context.call_conv.get_return_type(sig.return_type).pointee
        returns_value = sig.return_type != types.none
        if function.abi == "numba":
            slot = cgutils.alloca_once_value(builder, cgutils.get_null_value(result_type))
            call_placeholder(builder, symbol, ir.IntType(32), here, slot, *flat)
            value = builder.load(slot)
        else:
            value = call_placeholder(builder, symbol, result_type if returns_value else ir.VoidType(), here, *flat)
        return context.get_returned_value(builder, sig.return_type, value) if returns_value else None


def refuse_nvidia_code(library: DeviceLibrary, request: CompileRequest) -> None:
    """Raise UnsupportedKernelError that names every foreign function at its line, and the assembly of functions."""
    faults = [*_foreign_functions(library, request), *_inline_assembly(library, request)]
    if faults:
        raise UnsupportedKernelError(request.py_func.__name__, faults)


def _foreign_functions(library: DeviceLibrary, request: CompileRequest) -> Iterator[Fault]:
    names = sorted({name for symbol in library.all_symbols() if (name := parse_foreign_symbol(symbol))})
    for name in names:
        filename, line = user_place(foreign_symbol(name), library, request)
        what = f"'{name}' is code for NVIDIA GPUs; the back-end '{request.backend}' cannot link it"
        yield Fault(filename, line, what, "write it in Python")


def _inline_assembly(library: DeviceLibrary, request: CompileRequest) -> Iterator[Fault]:
    """LLVM ends the process where it is to emit another machine's assembly."""
    for holder in library.walk():
        for text in holder.texts:
            if " asm " in text and (found := _ASSEMBLY.search(text)):
                what = f"'{holder.current_frame.function}' has inline assembly for NVIDIA GPUs, \"{found['text']}\""
                what += f"; the back-end '{request.backend}' cannot use it"
                yield Fault(*user_place_of_function(holder, library, request), what, "write it in Python")
