"""Exceptions that leave an `except` or `finally`. Before: Numba's IR of the bytecode. After: rewrite_texts, lowering.

To Python a handler is a try block itself, whose own handler raises again what it caught. Numba cannot raise again: it
throws an AssertionError about its internals. Here what is thrown in a handler leaves it as from anywhere else, and what
has gone through a `finally` is told to be lost: a device keeps no exception while it runs a handler.
"""

from __future__ import annotations

from typing import Any

from numba_gpucore.compile.numba_api import FunctionPass, build_definitions, eh, ir, register_pass

#: Source: numba/core/interpreter.py, op_RERAISE.
_NUMBAS_WORDS = "Unreachable condition reached (op code RERAISE executed)"
_LOST = (
    "an exception has gone through a 'finally', and a device does not keep which one it was: write 'except Exception:' "
    "and raise one there"
)


@register_pass(mutates_CFG=True, analysis_only=False)
class LeaveHandlers(FunctionPass):
    """Let `raise` in a handler that no other `try` surrounds end the thread."""

    _name = "leave_handlers_for_device"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        func_ir = state.func_ir
        blocks = func_ir.blocks.values()
        if sum(map(_replace_reraise, blocks)) == 0:
            return False
        func_ir._definitions = build_definitions(func_ir.blocks)
        for block in blocks:
            _raise_for_good(block, func_ir)
        func_ir._definitions = build_definitions(func_ir.blocks)
        return True


def _replace_reraise(block) -> bool:
    """Give Numba's statement for Python's RERAISE words for users, if it is what ends the block."""
    last = block.body[-1]
    words = last.exc_args if isinstance(last, ir.StaticRaise) and last.exc_class is AssertionError else None
    if not words or not str(words[0]).startswith(_NUMBAS_WORDS):
        return False
    block.body[-1] = ir.StaticRaise(RuntimeError, (_LOST,), last.loc)
    return True


def _raise_for_good(block, func_ir) -> None:
    last = block.body[-1]
    for position, statement in enumerate(block.body):
        if not isinstance(statement, ir.TryRaise) or not isinstance(last, ir.Jump):
            continue
        if only_raises_again(func_ir, last.target):
            raised = ir.Raise(statement.exception, statement.loc)
            if statement.exception is None:  # Python's RERAISE behind a `finally`
                raised = ir.StaticRaise(RuntimeError, (_LOST,), statement.loc)
            block.body[position:] = [raised]
            return


def only_raises_again(func_ir: Any, label: int) -> bool:
    """True if the handler at a label does nothing but raise again, outside of any other `try`."""
    seen: set[int] = set()
    while label not in seen:
        seen.add(label)
        *body, last = func_ir.blocks[label].body
        if not all(_is_bookkeeping(statement, func_ir) for statement in body):
            return False
        if not isinstance(last, ir.Jump):
            return isinstance(last, ir.StaticRaise) and last.exc_args == (_LOST,)
        label = last.target
    return False


def _is_bookkeeping(statement: Any, func_ir: Any) -> bool:
    """True for what Numba itself puts into handlers."""
    if isinstance(statement, ir.Del):
        return True
    value = statement.value if isinstance(statement, ir.Assign) else None
    if isinstance(value, ir.Expr) and value.op == "call":
        return any(
            isinstance(function, ir.Global) and function.value is eh.end_try_block
            for function in func_ir._definitions[value.func.name]
        )
    return isinstance(value, (ir.Const, ir.Var, ir.Global)) or (isinstance(value, ir.Expr) and value.op == "null")
