"""Where variables live. Before: parser.py. After: program.py. PTX ISA, "State Spaces", "Initializers", "Parameters".

Shared and local variables are kept apart by red zones, so that running over the end of one is seen; the memory that a
driver would lay out densely is the same to a correct program.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from .errors import PtxError
from .memory import READABLE, WINDOW_BITS, WINDOWS, WRITABLE, GlobalMemory
from .slots import Place, literal_bits
from .syntax import AddressOf, Function, FunctionBody, Module, Variable

#: NVIDIA's system keeps the first KiB of shared memory to itself since sm_80; an address of 0 is an error that way.
SHARED_START_NBYTES = 1024
GAP_NBYTES = 16
#: Depots start at multiples of this, the largest alignment of a PTX variable.
LOCAL_ALIGN_NBYTES = 128
CODE_STRIDE_NBYTES = 16


@dataclass
class StaticMemory:
    """Places of module variables and functions. shared_flags: one flag byte for each byte of static shared memory.

    dynamic_names: extern shared arrays, which begin where the static ones end.
    """

    places: dict[str, Place] = field(default_factory=dict)
    shared_flags: np.ndarray = field(default_factory=lambda: np.zeros(SHARED_START_NBYTES, np.uint8))
    dynamic_names: list[str] = field(default_factory=list)
    function_names: dict[int, str] = field(default_factory=dict)

    def with_dynamic(self, nbytes: int) -> np.ndarray:
        """The flags of shared memory with `nbytes` of dynamic memory at its end."""
        dynamic = np.full(nbytes, READABLE | WRITABLE, np.uint8)
        return np.concatenate([self.shared_flags, dynamic])


def lay_out_statics(module: Module, memory: GlobalMemory) -> StaticMemory:
    """Allocate and initialise module variables. Raises PtxError for extern variables that nobody defines."""
    statics = StaticMemory()
    for number, name in enumerate(module.functions, 1):
        address = (WINDOWS["code"] << WINDOW_BITS) + number * CODE_STRIDE_NBYTES
        statics.places[name] = Place("code", address)
        statics.function_names[address] = name
    shared = [variable for variable in module.variables.values() if variable.space == "shared"]
    shared += [v for f in module.functions.values() if f.body for v in f.body.variables.values() if v.space == "shared"]
    _lay_out_shared(statics, shared)
    in_memory = [variable for variable in module.variables.values() if variable.space in ("global", "const")]
    for variable in in_memory:
        if variable.is_extern:
            raise PtxError(f"extern variable {variable.name} is defined nowhere")
        address = memory.allocate(variable.nbytes, max(variable.align_nbytes, 16))
        statics.places[variable.name] = Place("global", address)
    for variable in in_memory:
        address = statics.places[variable.name].address
        memory.write(address, initial_bytes(variable, statics.places))
        if variable.space == "const":
            memory.protect(address)
    return statics


def _lay_out_shared(statics: StaticMemory, variables: Iterable[Variable]) -> None:
    top = SHARED_START_NBYTES
    ranges: list[tuple[int, int]] = []
    dynamic_align = 16
    for variable in variables:
        if variable.count is None or (variable.is_extern and variable.nbytes == 0):
            statics.dynamic_names.append(variable.name)
            dynamic_align = max(dynamic_align, variable.align_nbytes)
            continue
        start = _round_up(top, variable.align_nbytes)
        statics.places[variable.name] = Place("shared", start)
        ranges.append((start, variable.nbytes))
        top = start + variable.nbytes + GAP_NBYTES
    end = _round_up(top, dynamic_align)
    statics.shared_flags = np.zeros(end, np.uint8)
    for start, nbytes in ranges:
        statics.shared_flags[start : start + nbytes] = READABLE | WRITABLE
    for name in statics.dynamic_names:
        statics.places[name] = Place("shared", end)


def initial_bytes(variable: Variable, places: dict[str, Place]) -> np.ndarray:
    """The variable's bytes: its initialisers, then zeros."""
    nbytes = variable.type.nbytes
    octets = bytearray()
    for item in variable.initial:
        if isinstance(item, AddressOf):
            octets += (_address_value(item, places) & ((1 << 8 * nbytes) - 1)).to_bytes(nbytes, "little")
        else:
            octets += literal_bits(item, variable.type).to_bytes(nbytes, "little")
    return np.frombuffer(bytes(octets).ljust(variable.nbytes, b"\0"), np.uint8)


def _address_value(item: AddressOf, places: dict[str, Place]) -> int:
    """PTX ISA, "Initializers": `0xFF00(symbol)` is the byte under the mask."""
    place = places[item.symbol]
    address = place.address + item.offset
    if item.is_generic and place.space == "shared":
        address += WINDOWS["shared"] << WINDOW_BITS
    if item.mask is None:
        return address
    shift = (item.mask & -item.mask).bit_length() - 1
    return (address & item.mask) >> shift


@dataclass(frozen=True)
class FunctionLayout:
    """Ranges are (start, nbytes): of parameters and results in the frame's parameters, local ones in its depot."""

    places: dict[str, Place]
    param_ranges: dict[str, tuple[int, int]]
    argument_ranges: tuple[tuple[int, int], ...]
    result_ranges: tuple[tuple[int, int], ...]
    params_nbytes: int
    local_ranges: tuple[tuple[int, int], ...]
    local_nbytes: int


def lay_out_function(function: Function, body: FunctionBody) -> FunctionLayout:
    """Parameters of a kernel lie in the launch's parameter block; all others in the frame, a row for each lane."""
    places: dict[str, Place] = {}
    ranges: dict[str, tuple[int, int]] = {}
    kernel_params = function.params if function.is_entry else ()
    for variable, start in lay_out_in_order(kernel_params):
        places[variable.name] = Place("kernel_param", start)
    declared = body.variables.values()
    in_frame = [] if function.is_entry else [*function.returns, *function.params]
    in_frame += [variable for variable in declared if variable.space == "param"]
    top = 0
    for variable, start in lay_out_in_order(in_frame):
        places[variable.name] = Place("frame_param", start)
        ranges[variable.name] = (start, variable.nbytes)
        top = start + variable.nbytes
    local_ranges: list[tuple[int, int]] = []
    local_top = 0
    for variable in declared:
        if variable.space == "local":
            start = _round_up(local_top, variable.align_nbytes)
            places[variable.name] = Place("local", start)
            local_ranges.append((start, variable.nbytes))
            local_top = start + variable.nbytes + GAP_NBYTES
    of = ranges.__getitem__
    return FunctionLayout(
        places,
        ranges,
        () if function.is_entry else tuple(of(variable.name) for variable in function.params),
        tuple(of(variable.name) for variable in function.returns),
        top,
        tuple(local_ranges),
        _round_up(local_top, LOCAL_ALIGN_NBYTES),
    )


def lay_out_in_order(variables: Iterable[Variable]) -> list[tuple[Variable, int]]:
    """Each variable with its offset: the next multiple of its alignment."""
    placed: list[tuple[Variable, int]] = []
    end = 0
    for variable in variables:
        start = _round_up(end, variable.align_nbytes)
        placed.append((variable, start))
        end = start + variable.nbytes
    return placed


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
