"""Step 3: a Module linked into basic blocks of bound instructions. Before: parser.py. After: wave.py executes it.

Every instruction of every function has a number, the program counter; those of a function follow one another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from . import access, atomics, barriers, control, elementwise, warp
from .barriers import End
from .control import CallSite
from .elementwise import Thunk
from .errors import PtxError
from .frames import Frame, Lanes
from .layout import FunctionLayout, StaticMemory, lay_out_function, lay_out_statics
from .memory import GlobalMemory
from .operations.operation import Modifiers
from .operations.table import select_operation
from .parser import parse_module
from .slots import Place, Slot, SlotTable, unsupported
from .syntax import Function, FunctionBody, Instruction, Label, Module
from .types import CARRY_REGISTER, PRED, PtxType

#: Instructions after which a lane may go on elsewhere, or has to wait: they end their basic block.
ENDS = frozenset(
    ("bra", "brx", "call", "ret", "exit", "trap", "brkpt", "bar", "barrier", "shfl", "vote", "match", "redux", "elect")
)
#: Of these a waiting lane executes the instruction again: they stand alone in their block.
WAITING_ENDS = frozenset(("shfl", "vote", "match", "redux", "elect"))
#: Instructions without any effect here: one instruction executes after the other, in order.
NO_OPERATION_MODIFIERS = {
    "membar": {"cta", "gl", "sys"},
    "fence": {"sc", "acq_rel", "acquire", "release", "cta", "cluster", "gpu", "sys"},
}


@dataclass(frozen=True)
class Block:
    """A basic block: `thunks` for all instructions but one that ends it, which is in `end` (as is falling through)."""

    code: FunctionCode
    pc: int
    instructions: list[Instruction]
    thunks: list[Thunk]
    end: End


@dataclass
class FunctionCode:
    """A linked function. `places`: of the module's variables and its own."""

    number: int
    function: Function
    body: FunctionBody
    entry_pc: int
    registers: dict[str, PtxType]
    places: dict[str, Place]
    layout: FunctionLayout
    slots: list[Slot] = field(default_factory=list)


class Program:
    """A loaded module. Raises PtxSyntaxError or UnsupportedInstruction for anything that the machine does not know."""

    def __init__(self, text: str, memory: GlobalMemory):
        self.module: Module = parse_module(text)
        self.statics: StaticMemory = lay_out_statics(self.module, memory)
        self.functions: dict[str, FunctionCode] = {}
        self.call_sites: dict[int, CallSite] = {}
        self.blocks: dict[int, Block] = {}
        self.uses_nc = False
        self._declare_functions()
        for code in list(self.functions.values()):
            self._bind_function(code)

    def block_at(self, pc: int) -> Block:
        return self.blocks[pc]

    def instruction_at(self, pc: int) -> Instruction:
        block = self.blocks[max(start for start in self.blocks if start <= pc)]
        return block.instructions[pc - block.pc]

    def function_at(self, address: int) -> FunctionCode | None:
        name = self.statics.function_names.get(address)
        return self.functions.get(name) if name else None

    def entry(self, name: str) -> FunctionCode:
        code = self.functions.get(name)
        if code is None or not code.function.is_entry:
            names = [code.function.name for code in self.functions.values() if code.function.is_entry]
            raise PtxError(f"no entry {name!r}; the module has {', '.join(names) or 'none'}")
        return code

    def _declare_functions(self) -> None:
        pc = 0
        defined = [(function, function.body) for function in self.module.functions.values() if function.body]
        for number, (function, body) in enumerate(defined):
            layout = lay_out_function(function, body)
            registers = {**body.registers, CARRY_REGISTER: PRED}
            places = {**self.statics.places, **layout.places}
            self.functions[function.name] = FunctionCode(number, function, body, pc, registers, places, layout)
            # one more: a body may fall off its end
            pc += sum(isinstance(statement, Instruction) for statement in body.statements) + 1
        for new, old in self.module.aliases.items():
            self.functions[new] = self.functions[old]

    def _bind_function(self, code: FunctionCode) -> None:
        binder = _Binder(self, code)
        for block in binder.blocks():
            self.blocks[block.pc] = block
        code.slots = binder.table.slots
        self.uses_nc |= binder.uses_nc


class _Binder:
    """Turns the statements of one function into blocks."""

    def __init__(self, program: Program, code: FunctionCode):
        self.program = program
        self.code = code
        self.body = code.body
        self.table = SlotTable(code.registers, code.places)
        self.labels: dict[str, int] = {}
        self.instructions: list[Instruction] = []
        self.uses_nc = False
        for statement in self.body.statements:
            if isinstance(statement, Label):
                if statement.name in self.labels:
                    raise PtxError(f"PTX line {statement.line}: label {statement.name} is there twice")
                self.labels[statement.name] = code.entry_pc + len(self.instructions)
            else:
                self.instructions.append(statement)
        self.instructions.append(_implicit_return(code.function))

    def blocks(self) -> Iterator[Block]:
        starts = self._block_starts()
        for start, stop in zip(starts, [*starts[1:], len(self.instructions)], strict=True):
            yield self._block(start, stop)

    def _block_starts(self) -> list[int]:
        starts = {0} | {pc - self.code.entry_pc for pc in self.labels.values()}
        for position, instruction in enumerate(self.instructions[:-1]):
            if instruction.opcode in ENDS:
                starts.add(position + 1)
                if _waits_in_place(instruction):
                    starts.add(position)
        return sorted(starts)

    def _block(self, start: int, stop: int) -> Block:
        instructions = self.instructions[start:stop]
        pc = self.code.entry_pc + start
        stop_pc = self.code.entry_pc + stop
        has_end = instructions[-1].opcode in ENDS
        plain = instructions[:-1] if has_end else instructions
        thunks = [self._thunk(instruction) for instruction in plain]
        end = self._end(instructions[-1], stop_pc - 1) if has_end else control.bind_fallthrough(stop_pc)
        return Block(self.code, pc, instructions, thunks, end)

    def _thunk(self, instruction: Instruction) -> Thunk:
        thunk = self._unguarded_thunk(instruction)
        guard = control.guard_slot(instruction, self.table)
        if guard is None:
            return thunk

        def run(frame: Frame, lanes: Lanes) -> None:
            taken, _rest = control.split_by_guard(frame, lanes, guard)
            if taken is not None:
                thunk(frame, taken)

        return run

    def _unguarded_thunk(self, instruction: Instruction) -> Thunk:
        table = self.table
        match instruction.opcode:
            case "ld" | "ldu":
                self.uses_nc |= "nc" in instruction.modifiers
                return access.bind_load(instruction, table)
            case "st":
                return access.bind_store(instruction, table)
            case "mov":
                return elementwise.bind_mov(instruction, table)
            case "cvta":
                return elementwise.bind_cvta(instruction, table)
            case "isspacep":
                return elementwise.bind_isspacep(instruction, table)
            case "atom":
                return atomics.bind_atom(instruction, table)
            case "red":
                return atomics.bind_red(instruction, table)
            case "activemask":
                return warp.bind_activemask(instruction, table)
            case "prefetch" | "prefetchu":
                return access.bind_prefetch(instruction, table)
            case "membar" | "fence" | "nanosleep" | "pmevent":
                return _bind_nothing(instruction)
        operation = select_operation(instruction)
        if operation is None:
            raise unsupported(instruction, "unknown instruction")
        return elementwise.bind_operation(instruction, operation, table)

    def _end(self, instruction: Instruction, pc: int) -> End:
        end = self._unguarded_end(instruction, pc)
        return control.with_guard(end, control.guard_slot(instruction, self.table), pc + 1)

    def _unguarded_end(self, instruction: Instruction, pc: int) -> End:
        table, program = self.table, self.program
        match instruction.opcode:
            case "bra":
                return control.bind_bra(instruction, self.labels)
            case "brx":
                return control.bind_brx(instruction, table, self.labels, self.body.branch_targets)
            case "call":
                return control.bind_call(instruction, table, pc, self.code, program.functions, program.call_sites)
            case "ret":
                return control.bind_ret(instruction, self.code, program.call_sites)
            case "exit":
                return control.bind_exit(instruction)
            case "trap" | "brkpt":
                return control.bind_trap(instruction)
            case "shfl":
                return warp.bind_shfl(instruction, table, pc)
            case "vote":
                return warp.bind_vote(instruction, table, pc)
            case "match":
                return warp.bind_match(instruction, table, pc)
            case "redux":
                return warp.bind_redux(instruction, table, pc)
            case "elect":
                return warp.bind_elect(instruction, table, pc)
        if "warp" in instruction.modifiers:
            return warp.bind_warp_barrier(instruction, table, pc)
        return barriers.bind_barrier(instruction, table, pc)


def _waits_in_place(instruction: Instruction) -> bool:
    return instruction.opcode in WAITING_ENDS or "warp" in instruction.modifiers


def _implicit_return(function: Function) -> Instruction:
    """PTX ISA, "ret": a function's end returns."""
    return Instruction("ret", (), (), None, function.line, f"end of {function.name}")


def _bind_nothing(instruction: Instruction) -> Thunk:
    mods = Modifiers(instruction)
    for name in NO_OPERATION_MODIFIERS.get(instruction.opcode, {"u32"}):
        mods.flag(name)
    mods.finish()
    return lambda frame, lanes: None
