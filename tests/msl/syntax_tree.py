"""Clang's JSON syntax tree: nodes, types and places. Before: toolchain.py. After: lint_tree.py, lint_kernel.py."""

from __future__ import annotations

import bisect
import json
import sys
from collections.abc import Iterator
from typing import Any

from tests.msl.findings import Finding

Node = dict[str, Any]

#: OpenCL's words in clang's spelling of types -> MSL's.
SPACES = {
    "__global": "device",
    "__constant": "constant",
    "__local": "threadgroup",
    "__private": "thread",
    "__generic": "generic",
}
FUNCTION_KINDS = ("FunctionDecl", "CXXMethodDecl")


def parse_tree(text: bytes) -> Node:
    """The translation unit. json.loads recurses once a level, and emitted text may nest deeply."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20000)
    try:
        return json.loads(text)
    finally:
        sys.setrecursionlimit(limit)


def children(node: Node) -> Iterator[Node]:
    """Clang writes an absent child, such as a missing `for` condition, as an empty object."""
    return (child for child in node.get("inner", ()) if child)


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything under it, in source order."""
    stack = [node]
    while stack:
        found = stack.pop()
        yield found
        stack.extend(reversed(list(children(found))))


def functions(unit: Node) -> Iterator[Node]:
    """Declarations and definitions that the user wrote."""
    return (node for node in walk(unit) if node.get("kind") in FUNCTION_KINDS and not node.get("isImplicit"))


def written_type(node: Node) -> str:
    return str(node.get("type", {}).get("qualType", ""))


def real_type(node: Node) -> str:
    """With typedefs looked through."""
    type_ = node.get("type", {})
    return str(type_.get("desugaredQualType") or type_.get("qualType", ""))


class Notes:
    """Collects findings about one source."""

    def __init__(self, source: str):
        self.source = source.encode()
        self.findings: list[Finding] = []
        self._line_ends = [i for i, byte in enumerate(self.source) if byte == 10]

    def line(self, node: Node) -> int:
        """Counted from 1; 0 if unknown. Clang leaves out files and lines that repeat, but never offsets."""
        for place in (node.get("loc", {}), node.get("range", {}).get("begin", {})):
            place = place.get("expansionLoc", place)
            if "offset" in place:
                return bisect.bisect_left(self._line_ends, place["offset"]) + 1
        return 0

    def add(self, node: Node, rule: str, text: str) -> None:
        finding = Finding(self.line(node), rule, text)
        if finding not in self.findings:
            self.findings.append(finding)

    def text_of_last_token(self, node: Node) -> str:
        end = node["range"]["end"]
        end = end.get("spellingLoc", end)
        return self.source[end.get("offset", 0) : end.get("offset", 0) + end.get("tokLen", 0)].decode()
