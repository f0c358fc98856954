"""Lowering of `static_assert` to a call that optimisation must find unreachable; `compile.promises` looks."""

from __future__ import annotations

from llvmlite import ir

from numba_gpucore import language
from numba_gpucore.compile.intrinsics import assert_symbol
from numba_gpucore.compile.llvm_calls import call_placeholder
from numba_gpucore.compile.lower.registry import lower
from numba_gpucore.compile.numba_api import types


def _lower_static_assert(context, builder, sig, args):
    text = sig.args[1].literal_value if len(sig.args) == 2 else ""
    content_id = context.active_code_library.add_promise(text)
    holds = context.cast(builder, args[0], sig.args[0], types.boolean)
    with builder.if_then(builder.not_(holds)):
        call_placeholder(builder, assert_symbol(content_id), ir.VoidType())
    return context.get_dummy_value()


lower(language.static_assert, types.Any)(_lower_static_assert)
lower(language.static_assert, types.Any, types.Any)(_lower_static_assert)
