"""Under Python's error model, functions of `math` raise outside their domains. Before: Numba's IR. After: its types.

Only what a user wrote: Numba's functions and ours count on infinities and NaN.
"""

from __future__ import annotations

import math

from numba_gpucore.compile.call_chains import is_library_file
from numba_gpucore.compile.ir_questions import assignments_of
from numba_gpucore.compile.numba_api import FunctionPass, consts, ir, register_pass


@register_pass(mutates_CFG=False, analysis_only=False)
class CheckDomains(FunctionPass):
    """Replace `math.sqrt` and its kin by functions that check what comes out."""

    _name = "check_domains_for_device"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        if state.flags.error_model != "python" or is_library_file(state.func_ir.loc.filename):
            return False
        from numba_gpucore.runtime.checked_math import CHECKED  # noqa: PLC0415 - 0.7 ms, and for debug=True only

        changed = False
        for statement in assignments_of(state.func_ir):
            checked = CHECKED.get(_math_function(statement.value, state.func_ir))
            if checked is not None:
                statement.value = ir.Global(checked.__name__, checked, statement.loc)
                changed = True
        return changed


def _math_function(value, func_ir):
    """What `math.sqrt`, or `sqrt` of a global or closure, stands for; None for all else."""
    if isinstance(value, (ir.Global, ir.FreeVar)):
        return value.value if value.value.__class__ is math.sqrt.__class__ else None
    if isinstance(value, ir.Expr) and value.op == "getattr":
        try:
            owner = func_ir.infer_constant(value.value)
        except consts.ConstantInferenceError:
            return None
        return getattr(math, value.attr, None) if owner is math else None
    return None
