"""Lint by words: what MSL lacks, and OpenCL words that clang would take. Before: source text. After: checker.py.

MSL spec, "Restrictions" under "Metal and C++", is the list of what Metal takes out of C++; "Preprocessing Directives"
that of directives; "Floating-point pragmas" that of `#pragma METAL fp`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tests.msl.findings import Finding

_TOKEN = re.compile(
    r"""
    (?P<space>\s+) | (?P<line_comment>//[^\n]*) | (?P<comment>/\*.*?\*/)
  | (?P<directive>(?m:^)[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<string>"(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*')
  | (?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)
  | (?P<word>[A-Za-z_]\w*) | (?P<operator>::|->|\[\[|\]\]|.)
""",
    re.VERBOSE | re.DOTALL | re.MULTILINE | re.ASCII,
)

#: words -> (rule, why)
_BANNED_GROUPS = {
    "goto": ("no-goto", "goto statement"),
    "try catch throw": ("no-exceptions", "exception handling"),
    "new delete": ("no-new", "new and delete"),
    "dynamic_cast typeid": ("no-rtti", "run-time type information"),
    "virtual": ("no-virtual", "virtual functions"),
    "noexcept": ("no-noexcept", "the noexcept operator"),
    "thread_local register": ("no-storage-class", "storage class"),
    "double": ("no-double", "64-bit floating point"),
    "asm __asm __asm__": ("no-asm", "inline assembly"),
    "std": ("no-std", "the C++ standard library"),
    "co_await co_yield co_return concept requires": ("no-c++20", "C++20"),
    # OpenCL keywords: clang would take them, or choke on them as names; Metal would not
    "__kernel __global __local __private __constant __generic global local generic pipe read_only write_only "
    "read_write addrspace_cast event_t queue_t ndrange_t clk_event_t reserve_id_t image1d_t image2d_t image3d_t "
    "sampler_t vec_step": ("opencl-word", "an OpenCL keyword; as a name, rename it"),
}
BANNED = {word: reason for words, reason in _BANNED_GROUPS.items() for word in words.split()}
_HEADER = re.compile(r"<(metal_\w+|metal|simd/simd\.h)>")
_DIRECTIVE = re.compile(r"\s*#\s*(pragma|if|ifdef|ifndef|else|elif|endif|define|undef|line|error)\b")
_PRAGMA = re.compile(r"\s*#\s*pragma\s+(.*?)\s*$")
#: MSL spec, "Floating-point pragmas"; `clang fp` is what the front end that Apple's compiler is built on takes.
_KNOWN_PRAGMA = re.compile(
    r"METAL fp (math_mode\((safe|relaxed|fast)\)|contract\((off|on|fast)\))"
    r"|clang fp contract\((off|on|fast)\)|(clang loop )?unroll(\(.*\))?|once"
)
_VECTOR = re.compile(r"(u?char|u?short|u?int|u?long|half|float)[234]$")
_INTERNAL_NAMES_ALLOWED = {"__METAL_VERSION__", "__METAL__", "__FILE__", "__LINE__", "__restrict", "__attribute__"}


class Token(NamedTuple):
    kind: str
    text: str
    line: int


def tokens(source: str) -> Iterator[Token]:
    """Everything but white space and comments."""
    line, position = 1, 0
    for match in _TOKEN.finditer(source):
        line += source.count("\n", position, match.start())
        position = match.start()
        kind = match.lastgroup or ""
        if kind not in ("space", "line_comment", "comment"):
            yield Token(kind, match.group(), line)


def lint_tokens(source: str) -> list[Finding]:
    """Findings in the order of the source."""
    findings: list[Finding] = []
    all_tokens = list(tokens(source))
    nothing = Token("", "", 0)
    for before, token, after in zip([nothing, *all_tokens], all_tokens, [*all_tokens[1:], nothing], strict=False):
        check = _CHECKS.get(token.kind)
        if check and (found := check(before.text, token.text, after.text)):
            findings.append(Finding(token.line, *found))
    includes = [token for token in all_tokens if token.kind == "directive" and "include" in token.text]
    if not includes:
        findings.append(Finding(1, "include", "no #include <metal_stdlib>"))
    return findings


Found = tuple[str, str] | None


def _check_directive(_before: str, text: str, _after: str) -> Found:
    if include := re.match(r"\s*#\s*include\s*(\S+)", text):
        return None if _HEADER.fullmatch(include[1]) else ("include", f"{include[1]} is not a Metal header")
    if pragma := _PRAGMA.match(text):
        return None if _KNOWN_PRAGMA.fullmatch(pragma[1]) else ("pragma", f"'{pragma[1]}' is no pragma of Metal")
    return None if _DIRECTIVE.match(text) else ("directive", f"'{text.strip()}' is no directive of Metal")


def _check_word(before: str, word: str, after: str) -> Found:
    if word in BANNED and not (word == "std" and after != "::"):
        rule, why = BANNED[word]
        return rule, f"'{word}' is not available in Metal: {why}"
    if word == "long" and after in ("long", "double"):
        return "no-long-long", f"'long {after}' is not available in Metal"
    if (word.startswith("__") and word not in _INTERNAL_NAMES_ALLOWED) or re.match(r"_[A-Z]", word):
        return "reserved", f"'{word}': reserved for the compiler"
    if _VECTOR.match(word) and before == "(" and after == ")":
        return (
            "vector-cast",
            f"({word})(...) is an OpenCL vector literal here and a comma expression in Metal; write {word}(...)",
        )
    return None


def _check_number(_before: str, text: str, _after: str) -> Found:
    if re.fullmatch(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)[uU]?(ll|LL)[uU]?", text):
        return "no-long-long", f"'{text}': long long is not available in Metal"
    return None


def _check_string(_before: str, text: str, _after: str) -> Found:
    return ("string", f"{text}: Metal has no strings outside os_log") if text.startswith('"') else None


def _check_operator(_before: str, text: str, _after: str) -> Found:
    return None if text.isascii() else ("ascii", f"character {text!r} outside a comment")


_CHECKS = {
    "directive": _check_directive,
    "word": _check_word,
    "number": _check_number,
    "string": _check_string,
    "operator": _check_operator,
}
