"""base.late_pattern: patterns behave as those of `re.compile`, and modules leave compiling to the first use."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from numba_gpucore.base.late_pattern import late_pattern

ROOT = Path(__file__).resolve().parents[2]


def test_behaves_as_a_compiled_pattern() -> None:
    arguments = (r"^(\w)=(?P<value>\d+)$", re.MULTILINE)
    ours, compiled = late_pattern(*arguments), re.compile(*arguments)
    text = "a=1\nb=22\nc=x"
    for pattern in (ours, ours, compiled):
        assert pattern.findall(text) == [("a", "1"), ("b", "22")]
        assert pattern.sub(r"\g<value>", text) == "1\n22\nc=x"
        assert pattern.search("c=x") is None
    assert (ours.pattern, ours.flags) == (compiled.pattern, compiled.flags)
    assert late_pattern(rb"\d").findall(b"1a2") == [b"1", b"2"]


def test_is_compiled_when_first_used() -> None:
    pattern = late_pattern("(")
    with pytest.raises(re.error, match="unterminated subpattern"):
        pattern.search("")


def compiled_at_import(tree: ast.Module) -> list[int]:
    """Lines outside functions that call re.compile."""
    found = []
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
            found.append(node.lineno)
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))
    return found


def test_no_module_compiles_patterns_when_it_is_imported() -> None:
    assert compiled_at_import(ast.parse("import re\nX = [re.compile('a')]\ndef f(): re.compile('b')")) == [2]
    sources = [path for package in ROOT.glob("numba_*") for path in package.rglob("*.py")]
    assert len(sources) > 300
    assert not {
        str(path): lines for path in sources if (lines := compiled_at_import(ast.parse(path.read_text("utf-8"))))
    }
