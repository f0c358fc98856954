"""Holds device IR as Numba lowers it, function by function. Before: lowering. After: linking.

Nothing is optimised here: a kernel is optimised once, whole, by its back-end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from llvmlite import ir

from numba_gpucore.base.digest import id_of_text
from numba_gpucore.base.errors import Fault
from numba_gpucore.base.linked_code import LinkedCode
from numba_gpucore.base.print_line import PrintLine
from numba_gpucore.base.records import dataclass
from numba_gpucore.base.site import Frame, Site
from numba_gpucore.compile.module_text import remove_environments
from numba_gpucore.compile.numba_api import Codegen, CodeLibrary

#: Sizes and alignments that x86-64, arm64 and NVPTX share; little-endian, 64-bit pointers in every address space.
DATA_LAYOUT = "e-p:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f16:16:16-f32:32:32-f64:64:64"

UNKNOWN_FRAME = Frame(function="<unknown>", filename="<unknown>", first_line=0, line_offset=0)


@dataclass(frozen=True)
class Call:
    """A call that was lowered: symbols of the two functions and the caller's line."""

    caller: str
    callee: str
    frame: Frame


class DeviceLibrary(CodeLibrary):
    """The modules of one compiled function, the libraries it calls into, and its exception sites."""

    def __init__(self, codegen: DeviceCodegen, name: str):
        super().__init__(codegen, name)
        self._modules: list[ir.Module] = []
        self._linked: list[DeviceLibrary] = []
        self._late_callees: list[str] = []
        self._sites: dict[int, tuple[Site, tuple[str, ...]]] = {}
        self._calls: dict[Call, None] = {}
        self._print_lines: dict[int, PrintLine] = {}
        self._captured: list[Any] = []
        self._promises: dict[int, tuple[Frame, str]] = {}
        self._symbol_frames: dict[str, Frame] = {}
        self._linked_code: dict[LinkedCode, None] = {}
        self.current_frame = UNKNOWN_FRAME
        self.overload_modules: frozenset[str] = frozenset()
        #: What the function uses that its target does not have.
        self.rule_faults: tuple[Fault, ...] = ()
        #: Python floats that widen single-precision numbers.
        self.double_literals: tuple[Fault, ...] = ()
        #: Lines of `return` statements with a value.
        self.returning_lines: tuple[int, ...] = ()

    def add_ir_module(self, module: ir.Module) -> None:
        self._raise_if_finalized()
        self._modules.append(module)

    def add_linking_library(self, library: DeviceLibrary) -> None:
        library._ensure_finalized()
        if library not in self._linked:
            self._linked.append(library)

    def finalize(self) -> None:
        self._finalized = True

    def add_site(self, site: Site, owner: str) -> int:
        """Note an exception site in the function `owner` and return its content id.

        Raises ValueError if another site has the same id.
        """
        content_id = site.content_id
        known, owners = self._sites.get(content_id, (site, ()))
        if (known.arguments, known.exception) != (site.arguments, site.exception):
            raise ValueError(f"exception sites {known} and {site} have the same id {content_id:#x}")
        self._sites[content_id] = known, tuple(dict.fromkeys((*owners, owner)))
        return content_id

    def add_print_line(self, line: PrintLine) -> int:
        """Note a printed line and return its content id. Raises ValueError if another line has the same id."""
        known = self._print_lines.setdefault(line.content_id, line)
        if known != line:
            raise ValueError(f"printed lines {known} and {line} have the same id {line.content_id:#x}")
        return line.content_id

    def note_symbols(self, symbols: list[str]) -> None:
        """Note that the current line was the first to need these symbols."""
        for symbol in symbols:
            self._symbol_frames.setdefault(symbol, self.current_frame)

    def add_promise(self, text: str) -> int:
        """Note a static_assert at the current line and return an id for it."""
        frame = self.current_frame
        content_id = id_of_text(f"{frame.place} {text}")
        self._promises[content_id] = frame, text
        return content_id

    def hold(self, captured: Any) -> None:
        """Keep a device array whose address stands in the code alive as long as the code."""
        self._captured.append(captured)

    def all_captured(self) -> tuple[Any, ...]:
        return tuple(captured for library in self.walk() for captured in library._captured)

    def add_late_callee(self, symbol: str) -> None:
        """Note a call to a function that is still being compiled; its library is looked up when linking."""
        self._late_callees.append(symbol)

    def add_call(self, caller: str, callee: str) -> None:
        """Note that the current line calls a function."""
        self._calls[Call(caller, callee, self.current_frame)] = None

    def walk(self) -> Iterator[DeviceLibrary]:
        """This library, then all that it needs, each once."""
        seen: set[int] = set()
        pending = [self]
        while pending:
            library = pending.pop()
            if id(library) not in seen:
                seen.add(id(library))
                yield library
                late = [self.codegen.library_of(symbol) for symbol in library._late_callees]
                pending.extend(reversed((*library._linked, *late)))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """LLVM assembly of this library's own modules. Printing costs as much as parsing, so it is done once."""
        self._ensure_finalized()
        return tuple(remove_environments(str(module)) for module in self._modules)

    def module_texts(self) -> Iterator[str]:
        for library in self.walk():
            yield from library.texts

    def all_sites(self) -> dict[int, tuple[Site, tuple[str, ...]]]:
        """Exception sites by content id, each with the functions that hold it."""
        merged: dict[int, tuple[Site, tuple[str, ...]]] = {}
        for library in self.walk():
            for content_id, (site, owners) in library._sites.items():
                _site, known = merged.get(content_id, (site, ()))
                merged[content_id] = site, tuple(dict.fromkeys((*known, *owners)))
        return merged

    def all_print_lines(self) -> dict[int, PrintLine]:
        """Printed lines by content id."""
        return {content_id: line for library in self.walk() for content_id, line in library._print_lines.items()}

    def all_promises(self) -> dict[int, tuple[Frame, str]]:
        """Line and text of each static_assert by id."""
        return {content_id: promise for library in self.walk() for content_id, promise in library._promises.items()}

    def needs_of(self, symbol: str) -> Iterator[tuple[Frame, list[str]]]:
        """The lines that need a symbol, library by library, each with the functions that its library defines."""
        for library in self.walk():
            if symbol in library._symbol_frames:
                yield library._symbol_frames[symbol], library.defined_functions()

    def defined_functions(self) -> list[str]:
        """Symbols of the functions in this library's own modules."""
        functions = (function for module in self._modules for function in module.functions)
        return [function.name for function in functions if not function.is_declaration]

    def add_linked_code(self, codes: Iterable[LinkedCode]) -> None:
        """Note code of other compilers that this function needs."""
        self._linked_code.update(dict.fromkeys(codes))

    def all_linked_code(self) -> Iterator[LinkedCode]:
        for library in self.walk():
            yield from library._linked_code

    def all_symbols(self) -> Iterator[str]:
        """Symbols that this function and what it calls need."""
        for library in self.walk():
            yield from library._symbol_frames

    def all_calls(self) -> Iterator[Call]:
        for library in self.walk():
            yield from library._calls

    def all_rule_faults(self) -> Iterator[Fault]:
        """What this function and what it calls use that the target does not have."""
        for library in self.walk():
            yield from library.rule_faults

    def all_double_literals(self) -> Iterator[Fault]:
        """Literals of this function and of what it calls that widen single-precision numbers."""
        for library in self.walk():
            yield from library.double_literals

    def all_overload_modules(self) -> frozenset[str]:
        """Users' modules whose overloads took part in this function or in what it calls."""
        return frozenset(module for library in self.walk() for module in library.overload_modules)

    def get_llvm_str(self) -> str:
        return "\n".join(map(str, self._modules))

    def get_asm_str(self) -> str:
        raise NotImplementedError("device IR has no assembly before a back-end has compiled it")

    def get_function(self, name: str) -> ir.Function:
        for module in self._modules:
            if name in module.globals:
                return module.globals[name]
        raise KeyError(name)


class DeviceCodegen(Codegen):
    """Makes empty modules and libraries; the machine code comes from a back-end, later."""

    _library_class = DeviceLibrary

    def __init__(self, target_name: str):
        self._target_name = target_name
        self._libraries: dict[str, DeviceLibrary] = {}

    def note_library(self, symbol: str, library: DeviceLibrary) -> None:
        """Remember which library defines a function."""
        self._libraries[symbol] = library

    def library_of(self, symbol: str) -> DeviceLibrary:
        """The library that defines a function. Raises KeyError."""
        return self._libraries[symbol]

    def _create_empty_module(self, name: str) -> ir.Module:
        module = ir.Module(name)
        module.data_layout = DATA_LAYOUT
        return module

    def _add_module(self, module: ir.Module) -> None:
        pass

    def magic_tuple(self) -> tuple[str, ...]:
        return (self._target_name,)
