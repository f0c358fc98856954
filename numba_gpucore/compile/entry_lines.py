"""Source lines for functions that no user wrote. Before: kernel_entry, exported_function. After: linking."""

from __future__ import annotations

from llvmlite import ir

from numba_gpucore.base.artifact import CompileRequest


def mark_lines(context, builder: ir.IRBuilder, request: CompileRequest) -> None:
    """Give the function that is being built the first line of the user's.

    LLVM drops the lines of what it inlines into a function that has none.
    """
    options = request.options
    if not options.wants_lines:
        return
    code = request.py_func.__code__
    function = builder.function
    # Lines only, under debug too: there is nothing here for a debugger to show.
    lines = context.DIBuilder(module=function.module, filepath=code.co_filename, cgctx=context, directives_only=True)
    lines.mark_subprogram(function, qualname=function.name, argnames=(), argtypes=(), line=code.co_firstlineno)
    lines.mark_location(builder, code.co_firstlineno)
    lines.finalize()


def escape_text(text: str) -> str:
    """Text inside a string of LLVM assembly."""
    return text.replace("\\", r"\5C").replace('"', r"\22")
