"""Where variables' lives begin and end, found out only where somebody asks. Before: Numba's passes. After: they go on.

Numba counts references and so analyses lives behind every pass that may have changed them, eight times for a function.
On a device nothing counts references. What is left to ask are generators, whose states are what lives when they yield,
and Numba's inlining of closures and of arrays made of lists, which must know that nobody else uses the list. For the
others it took an eighth of the way from a known kernel's bytecode to PTX. Numba has no switch for it, so the method
that does it is wrapped once; for functions that are not compiled for a device it does all that it did.
"""

from __future__ import annotations

from functools import cache

from numba_gpucore.compile.flags import compiles_for_device
from numba_gpucore.compile.ir_questions import assignments_of
from numba_gpucore.compile.numba_api import canonicalize_cfg, ir, postproc

#: Expressions of which Numba's `inline_closurecall` may make something else.
_INLINED = frozenset({"build_list", "make_function"})


@cache
def install_lives_on_demand() -> None:
    """Let Numba's post-processor leave lives alone in functions for our targets. Once a process."""
    processor = postproc.PostProcessor
    run_whole = processor.run

    def run(self, emit_dels=False, extend_lifetimes=False):
        function = self.func_ir
        if function.is_generator or not compiles_for_device() or (emit_dels and _has_inlined(function)):
            run_whole(self, emit_dels, extend_lifetimes)
            return
        function.blocks = canonicalize_cfg(function.blocks)
        function.variable_lifetime = postproc.VariableLifetime(function.blocks)  # computes what it is asked for
        function.generator_info = None

    processor.run = run


def _has_inlined(function) -> bool:
    values = (statement.value for statement in assignments_of(function))
    return any(isinstance(value, ir.Expr) and value.op in _INLINED for value in values)
