"""Decides whether Metal would take a source. Before: an emitter's text. After: library.py, tests over emitted text."""

from __future__ import annotations

import functools
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.msl.findings import Finding, KernelSignature
from tests.msl.lint_kernel import is_kernel, read_signature
from tests.msl.lint_tokens import lint_tokens
from tests.msl.lint_tree import callees, lint_calls, lint_tree
from tests.msl.syntax_tree import Node, Notes, functions, parse_tree
from tests.msl.toolchain import FOLDER, CompileError, Toolchain, find_toolchain


class MslError(Exception):
    """The source breaks a rule of MSL; the text lists what clang and the lint say."""


@dataclass(frozen=True)
class Report:
    """clang: its diagnostics, empty if it has none. findings: the lint's. kernels: in source order, if clang parsed."""

    clang: str
    findings: tuple[Finding, ...]
    kernels: tuple[KernelSignature, ...]

    @property
    def ok(self) -> bool:
        return not self.clang and not self.findings

    def __str__(self) -> str:
        return self.clang + "".join(f"{finding}\n" for finding in self.findings)


def translate_pragmas(source: str) -> str:
    """Metal's contraction pragma in clang's words, which are as long, so that places stay. MSL spec, "Floating-point
    pragmas"."""
    return re.sub(r"(?m)^([ \t]*#[ \t]*pragma[ \t]+)METAL([ \t]+fp[ \t]+contract\b)", r"\1clang\2", source)


@functools.lru_cache(maxsize=1024)  # the double's GPUs, and several tests, get the same texts
def check_msl(source: str, msl_version: tuple[int, int] = (3, 1), toolchain: Toolchain | None = None) -> Report:
    """Check MSL text against clang's type rules and the lint. msl_version: (major, minor).

    Reports are kept in the tool chain's folder, by a digest of the text, clang and this package's own source.
    """
    toolchain = toolchain or find_toolchain()
    digest = toolchain.digest(source, str(msl_version), _own_source())
    return toolchain.kept_report(digest, lambda: _check(source, msl_version, toolchain))


@functools.cache
def _own_source() -> str:
    return "".join(path.read_text() for path in sorted(FOLDER.glob("*.py")))


def _check(source: str, msl_version: tuple[int, int], toolchain: Toolchain) -> Report:
    findings = lint_tokens(source)
    with tempfile.NamedTemporaryFile("w", suffix=".metal", dir=toolchain.cache) as file:
        file.write(translate_pragmas(source))
        file.flush()
        try:
            unit = parse_tree(toolchain.syntax_tree(Path(file.name), msl_version))
        except CompileError as error:
            return Report(str(error).replace(file.name, "msl"), tuple(findings), ())
    notes = Notes(source)
    kernels = _lint_unit(notes, unit, msl_version)
    findings += [finding for finding in notes.findings if finding not in findings]
    return Report("", tuple(sorted(findings)), kernels)


def _lint_unit(notes: Notes, unit: Node, msl_version: tuple[int, int]) -> tuple[KernelSignature, ...]:
    first_declaration: dict[str, str] = {}
    declared: dict[str, Node] = {}
    calls: dict[str, set[str]] = {}
    kernel_ids: set[str] = set()
    kernels: list[KernelSignature] = []
    for function in functions(unit):
        id_ = first_declaration.get(function.get("previousDecl", ""), function["id"])
        first_declaration[function["id"]] = id_
        declared[id_] = function
        calls.setdefault(id_, set()).update(callees(function, first_declaration))
        if is_kernel(function):
            kernel_ids.add(id_)
            if any(child.get("kind") == "CompoundStmt" for child in function.get("inner", ())):
                kernels.append(read_signature(notes, function))
    lint_tree(notes, unit, msl_version)
    lint_calls(notes, declared, calls, kernel_ids)
    names = [kernel.name for kernel in kernels]
    for kernel in kernels:
        if names.count(kernel.name) > 1:
            notes.findings.append(Finding(kernel.line, "kernel-overload", f"kernel {kernel.name} is overloaded"))
    return tuple(kernels)
