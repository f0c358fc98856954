"""Formats in f-strings: `{x:.3f}`, `{x!r}`, `{x=}`. Before: Numba's reading of bytecode. After: passes.rewrite_texts.

Numba's front end refuses them and has no hook there, so the functions that meet the instruction are wrapped once; for
functions that are not compiled for a device the originals answer. A formatted value becomes the call
`format_value(value, conversion[, spec])`, which `passes.rewrite_texts` takes apart.

Source: dis, FORMAT_VALUE (until Python 3.12), CONVERT_VALUE and FORMAT_WITH_SPEC (from 3.13).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba_gpucore.compile.flags import compiles_for_device
from numba_gpucore.compile.numba_api import byteflow, errors, interpreter, ir

_CONVERSIONS = ("", "!s", "!r", "!a")
_CONVERSION_BITS, _HAS_SPEC = 0x3, 0x4


def format_value(value: Any, conversion: str, spec: str = "") -> str:
    """What a formatted value of an f-string becomes: "!s", "!r", "!a" or nothing, then the format."""
    raise NotImplementedError("format_value exists only while a kernel is compiled")


@cache
def install_format_hook() -> None:
    """Make Numba's front end take formats in functions for our targets. Once a process."""
    runner, reader = byteflow.TraceRunner, interpreter.Interpreter
    pop_plain, read_plain = runner.op_FORMAT_VALUE, reader.op_FORMAT_VALUE

    def op_FORMAT_VALUE(self, state, inst):
        if inst.arg and compiles_for_device():
            _pop_formatted(self, state, inst, bool(inst.arg & _HAS_SPEC))
        else:
            pop_plain(self, state, inst)

    def read_FORMAT_VALUE(self, inst, value, res, strvar, spec=None):
        if inst.arg and compiles_for_device():
            _read_formatted(self, _CONVERSIONS[inst.arg & _CONVERSION_BITS], value, res, strvar, spec)
        else:
            read_plain(self, inst, value, res, strvar)

    runner.op_FORMAT_VALUE, reader.op_FORMAT_VALUE = op_FORMAT_VALUE, read_FORMAT_VALUE
    runner.op_CONVERT_VALUE = lambda self, state, inst: _pop_formatted(self, state, inst, False)
    runner.op_FORMAT_WITH_SPEC = lambda self, state, inst: _pop_formatted(self, state, inst, True)
    reader.op_CONVERT_VALUE = lambda self, inst, **operands: _read_formatted(self, _CONVERSIONS[inst.arg], **operands)
    reader.op_FORMAT_WITH_SPEC = lambda self, inst, **operands: _read_formatted(self, "", **operands)


def _pop_formatted(runner, state, inst, has_spec: bool) -> None:
    if not compiles_for_device():
        message = f"Use of unsupported opcode ({inst.opname}) found"
        raise errors.UnsupportedBytecodeError(message, loc=runner.get_debug_loc(inst.lineno))
    spec = state.pop() if has_spec else None
    value, strvar, res = state.pop(), state.make_temp(), state.make_temp()
    state.append(inst, value=value, res=res, strvar=strvar, spec=spec)
    state.push(res)


def _read_formatted(reader, conversion: str, value, res, strvar, spec) -> None:
    """Assign `format_value(value, conversion[, spec])` to `res`."""
    reader.store(ir.Global("format_value", format_value, loc=reader.loc), strvar)
    reader.store(ir.Const(conversion, loc=reader.loc), f"{strvar}.conversion")
    arguments = [reader.get(value), reader.get(f"{strvar}.conversion")]
    if spec is not None:
        arguments.append(reader.get(spec))
    reader.store(ir.Expr.call(reader.get(strvar), tuple(arguments), (), loc=reader.loc), res)
