"""Numba's passes from bytecode to device IR. Before: dispatcher, driver. After: a CompileResult whose library links.

The front end is Numba's own; our lowering differs in noting the source line for exceptions.
"""

from __future__ import annotations

import operator

from numba_gpucore.base.site import Frame
from numba_gpucore.compile.call_conv import is_in_try, leave_try
from numba_gpucore.compile.double_literals import find_double_literals
from numba_gpucore.compile.infer_types import InferTypes
from numba_gpucore.compile.llvm_calls import call_intrinsic
from numba_gpucore.compile.lower.array_expressions import lower_pending_assignment
from numba_gpucore.compile.lower.tuple_items import check_tuple_index, is_tuple_index
from numba_gpucore.compile.numba_api import (
    AnnotateTypes,
    BaseNativeLowering,
    CompilerBase,
    DefaultPassBuilder,
    InlineClosureLikes,
    LoweringPass,
    NopythonTypeInference,
    PassManager,
    cgutils,
    compiler,
    ir,
    lowering,
    register_pass,
    typing,
)
from numba_gpucore.compile.passes.check_domains import CheckDomains
from numba_gpucore.compile.passes.leave_handlers import LeaveHandlers, only_raises_again
from numba_gpucore.compile.passes.rewrite_texts import RewriteTexts
from numba_gpucore.compile.sources import modules_taking_part
from numba_gpucore.compile.target_rules import find_rule_faults


class DeviceLower(lowering.Lower):
    """Lowering that tells the library which line it is at, since Numba gives many throws no location."""

    def pre_block(self, block):
        super().pre_block(block)
        if is_in_try(self.builder) and only_raises_again(self.func_ir, block.terminator.truebr):
            leave_try(self.builder)

    def lower_inst(self, inst):
        function = self.func_ir.func_id
        self.library.current_frame = Frame(
            function=function.func_qualname,
            filename=self.loc.filename,
            first_line=function.firstlineno,
            line_offset=self.loc.line - function.firstlineno,
        )
        known = len(self.module.globals)
        try:
            if not lower_pending_assignment(self, inst):
                super().lower_inst(inst)
        except Exception as error:
            # Numba gives most errors their place, but not those of other classes than its own.
            error.lowered_line = getattr(error, "lowered_line", self.loc)
            raise
        if len(self.module.globals) > known:
            self.library.note_symbols(list(self.module.globals)[known:])

    def lower_getitem(self, resty, expr, value, index, signature):
        if not is_tuple_index(signature):
            return super().lower_getitem(resty, expr, value, index, signature)
        position = self.context.cast(self.builder, self.loadvar(index.name), self.typeof(index.name), signature.args[1])
        position = check_tuple_index(self, signature, position)
        getitem = self.context.get_function(operator.getitem, signature)
        item = getitem(self.builder, (self.loadvar(value.name), position))
        return self.context.cast(self.builder, item, signature.return_type, resty)

    def _lower_call_RecursiveCall(self, fnty, expr, signature):
        with cgutils.if_unlikely(self.builder, call_intrinsic(self.builder, "gpu.stack_is_spent")):
            self.context.call_conv.return_user_exc(self.builder, RecursionError, ("maximum recursion depth exceeded",))
        return super()._lower_call_RecursiveCall(fnty, expr, signature)


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerForDevice(BaseNativeLowering):
    _name = "lower_for_device"

    @property
    def lowering_class(self):
        return DeviceLower


@register_pass(mutates_CFG=False, analysis_only=False)
class PackResult(LoweringPass):
    """Wrap up what later calls need. The entry point is only a key: Numba looks functions up by it."""

    _name = "pack_device_result"

    def __init__(self):
        LoweringPass.__init__(self)

    def run_pass(self, state):
        lowered = state["cr"]
        state.targetctx.codegen().note_library(lowered.fndesc.mangled_name, state.library)
        state.library.returning_lines = _returning_lines(state.func_ir)
        state.library.double_literals = find_double_literals(state.func_ir, state.typemap)
        state.library.rule_faults = find_rule_faults(state.func_ir, state.typemap)
        state.library.overload_modules = modules_taking_part(state.func_ir, state.typemap, state.typingctx)
        state["cr"] = compiler.compile_result(
            typing_context=state.typingctx,
            target_context=state.targetctx,
            typing_error=state.status.fail_reason,
            type_annotation=state.type_annotation,
            library=state.library,
            call_helper=lowered.call_helper,
            signature=typing.signature(state.return_type, *state.args),
            fndesc=lowered.fndesc,
            entry_point=(lowered.fndesc.mangled_name, id(state.library)),
        )
        return True


def _returning_lines(func_ir) -> tuple[int, ...]:
    """Lines of `return` statements with a value."""
    returns = [found for block in func_ir.blocks.values() for found in block.find_insts(ir.Return)]
    return tuple(sorted({s.loc.line for s in returns if not _is_none(func_ir, s.value)}))


def _is_none(func_ir, variable) -> bool:
    """True for what a `return` without a value returns."""
    found = func_ir._definitions[variable.name]
    while len(found) == 1 and isinstance(found[0], ir.Expr) and found[0].op == "cast":
        found = func_ir._definitions[found[0].value.name]
    return len(found) == 1 and isinstance(found[0], ir.Const) and found[0].value is None


class DeviceCompiler(CompilerBase):
    """Numba's untyped and typed passes, then lowering to device IR.

    Numba's legalisation is left out, which says where each variable's life ends: nothing counts references on a device,
    and each end would be lowered to a load and a store (a tenth of the time of a second kernel).
    """

    def define_pipelines(self):
        passes = PassManager("device")
        passes.passes.extend(DefaultPassBuilder.define_untyped_pipeline(self.state).passes)
        # Before Numba's rewrites, which take `print` and exceptions for their own.
        passes.add_pass_after(RewriteTexts, InlineClosureLikes)
        passes.add_pass_after(LeaveHandlers, InlineClosureLikes)
        passes.add_pass_after(CheckDomains, InlineClosureLikes)
        typed = DefaultPassBuilder.define_typed_pipeline(self.state).passes
        passes.passes.extend((InferTypes if cls is NopythonTypeInference else cls, name) for cls, name in typed)
        passes.add_pass(AnnotateTypes, "annotate types")
        passes.add_pass(LowerForDevice, "lower to device IR")
        passes.add_pass(PackResult, "pack result")
        passes.finalize()
        return [passes]
