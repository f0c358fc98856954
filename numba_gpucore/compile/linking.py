"""One module from a kernel and all that it calls. Before: lowering, kernel_entry. After: validate, Codegen.legalize.

Works on the text of Numba's modules: what the entry reaches is found, placeholders get short names that do not depend
on the process, then LLVM parses and links.
"""

from __future__ import annotations

from collections.abc import Iterable

import llvmlite.binding as llvm

from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.params import ParamSlot
from numba_gpucore.base.print_line import PrintLine
from numba_gpucore.base.records import dataclass
from numba_gpucore.base.site import Site
from numba_gpucore.compile.intrinsics import (
    INTRINSICS,
    SharedArray,
    line_symbol,
    parse_foreign_symbol,
    parse_libdevice_symbol,
    parse_line_symbol,
    parse_shared_symbol,
    parse_site_symbol,
    shared_symbol,
)
from numba_gpucore.compile.job import Job
from numba_gpucore.compile.module_text import SYMBOL, link_texts, make_internal, read_functions
from numba_gpucore.compile.quiet_functions import define_quiet_functions


@dataclass(frozen=True)
class CallGraph:
    """Functions that the entry reaches, in the order of a depth-first walk, and what each one mentions."""

    order: tuple[str, ...]
    mentions: dict[str, tuple[str, ...]]

    @property
    def symbols(self) -> tuple[str, ...]:
        """Every symbol that a reached function mentions, once, in that order."""
        return tuple(dict.fromkeys(symbol for name in self.order for symbol in self.mentions[name]))

    def has_cycle(self) -> bool:
        """True if a function can call itself, directly or through others."""
        done: set[str] = set()
        active: set[str] = set()

        def visit(name: str) -> bool:
            if name in active:
                return True
            if name in done or name not in self.mentions:
                return False
            active.add(name)
            found = any(visit(callee) for callee in self.mentions[name])
            active.discard(name)
            done.add(name)
            return found

        return visit(self.order[0])


def walk_calls(texts: Iterable[str], entry: str) -> CallGraph:
    """Read the definitions in LLVM assembly texts and walk them from `entry`."""
    bodies: dict[str, str] = {}
    for text in texts:
        for name, body in read_functions(text):
            bodies.setdefault(name, body)
    mentions: dict[str, tuple[str, ...]] = {}
    order: list[str] = []
    pending = [entry]
    while pending:
        name = pending.pop()
        if name in mentions:
            continue
        order.append(name)
        found = dict.fromkeys(SYMBOL.findall(bodies[name]))
        found.pop(name, None)
        # A pattern of its own for each function would take 50 to 150 µs.
        if bodies[name].count(f"@{name}(") + bodies[name].count(f'@"{name}"(') > 1:
            found[name] = None  # it calls itself
        mentions[name] = tuple(found)
        pending.extend(callee for callee in reversed(mentions[name]) if callee in bodies)
    return CallGraph(tuple(order), mentions)


def link_kernel(
    request: CompileRequest,
    entry: str,
    slots: tuple[ParamSlot, ...],
    texts: list[str],
    sites: dict[int, Site],
    print_lines: dict[int, PrintLine],
) -> tuple[llvm.ModuleRef, Job]:
    """Link the modules in `texts`; all functions but `entry` become internal."""
    # Back-ends decide what stays a function. Numba marks all so under debug, and llvmlite cannot take marks away.
    texts = define_quiet_functions([text.replace(") noinline ", ") ") for text in texts])
    graph = walk_calls(texts, entry)
    renamed, shared_arrays = _number_shared_arrays(graph.symbols)
    for old, new in renamed.items():
        texts = [text.replace(old, new) for text in texts]
    used_ids = [content_id for symbol in graph.symbols if (content_id := parse_site_symbol(symbol)) is not None]
    line_ids = [content_id for symbol in graph.symbols if (content_id := parse_line_symbol(symbol)) is not None]
    if line_ids:
        texts.append(_define_lines(line_ids))
    job = Job(
        request=request,
        entry=entry,
        slots=slots,
        intrinsics=frozenset(symbol for symbol in graph.symbols if _is_intrinsic(symbol, graph)),
        shared_arrays=shared_arrays,
        sites=tuple(sites[content_id] for content_id in used_ids),
        print_lines=tuple(print_lines[content_id] for content_id in line_ids),
        has_recursion=graph.has_cycle(),
    )
    linked = link_texts(texts)
    make_internal(linked, entry)
    linked.verify()
    return linked, job


def _is_intrinsic(symbol: str, graph: CallGraph) -> bool:
    if parse_libdevice_symbol(symbol) is not None or parse_foreign_symbol(symbol) is not None:
        return symbol not in graph.mentions
    return symbol in INTRINSICS


def _define_lines(line_ids: list[int]) -> str:
    """The index of each printed line as a function."""
    return "\n".join(
        f"define i32 @{line_symbol(content_id)}() alwaysinline nounwind {{\n  ret i32 {index}\n}}"
        for index, content_id in enumerate(line_ids)
    )


def _number_shared_arrays(symbols: Iterable[str]) -> tuple[dict[str, str], tuple[SharedArray, ...]]:
    """Short names for shared arrays: theirs hold mangled names, which vary from process to process."""
    renamed: dict[str, str] = {}
    arrays: list[SharedArray] = []
    for symbol in symbols:
        array = parse_shared_symbol(symbol)
        if array is not None:
            new = shared_symbol(str(len(arrays)), array.nbytes, array.align_nbytes)
            # The trailing quote keeps a name from matching as the start of a longer one.
            renamed[f'@"{symbol}"'] = f'@"{new}"'
            arrays.append(SharedArray(new, array.nbytes, array.align_nbytes))
    return renamed, tuple(arrays)
