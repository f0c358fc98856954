"""Accesses with a cache operator. Before: definitions marks them. After: legalize optimises, emit writes them out.

LLVM has no such accesses. They go through its optimiser as atomic ones of a scope that nobody else knows, so that each
one is kept, in order. Then, in the text, they become inline assembly, and here is where their address space is found
out: LLVM infers spaces while it selects instructions, and never for inline assembly.
Source: PTX ISA, "Cache Operators", "ld", "st".
"""

from __future__ import annotations

import re
from collections.abc import Callable

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.compile.intrinsics import define_cached_access

_SCOPE = "cache."
_MARK = rf'syncscope\("{re.escape(_SCOPE)}(?P<operator>\w+)"\) monotonic, align \d+'
_LOAD = late_pattern(
    rf"^  (?P<value>%\S+) = load atomic i(?P<bits>\d+), ptr (?P<address>[^\n]+?) {_MARK}", re.MULTILINE
)
_STORE = late_pattern(
    rf"^  store atomic i(?P<bits>\d+) (?P<value>[^,\n]+), ptr (?P<address>[^\n]+?) {_MARK}", re.MULTILINE
)
_FUNCTION = late_pattern(r"^define .*?^\}$", re.MULTILINE | re.DOTALL)
_DEFINITION = late_pattern(r"^  (?P<name>%\S+) = (?P<value>.*)$", re.MULTILINE)
_SPACE = late_pattern(r"\baddrspace\((\d)\)")
#: Where an address comes from, by what makes it: all that may be it.
_SOURCES = {
    "getelementptr": late_pattern(r", ptr (%[^\s,]+|addrspacecast \([^)]*\))"),
    "phi": late_pattern(r"\[ ([^,]+), %"),
    "select": late_pattern(r"ptr ([^,]+)"),
}
#: Registers for words of so many bits: PTX has none of 8. Source: LLVM, NVPTX, inline assembler constraints.
_REGISTERS = {8: "h", 16: "h", 32: "r", 64: "l"}


def mark_cached_access(name: str) -> str:
    """The definition of a `gpu.cached_load` or `gpu.cached_store`."""
    operator = name.split(".")[2]
    return define_cached_access(name, f'syncscope("{_SCOPE}{operator}") monotonic')


def write_cache_operators(text: str) -> str:
    """LLVM assembly with inline assembly in place of marked accesses. Values must have names."""
    if f'syncscope("{_SCOPE}' not in text:
        return text
    return _FUNCTION.sub(lambda found: _write_in_function(found[0]), text)


def _write_in_function(text: str) -> str:
    definitions = {found["name"]: found["value"] for found in _DEFINITION.finditer(text)}

    def space_of(found: re.Match[str]) -> str:
        spaces = _spaces_of(found["address"], definitions, set())
        return ".global" if spaces == {"1"} else "" if spaces & {"", "1"} else "other"

    return _STORE.sub(lambda found: _write_store(found, space_of), _LOAD.sub(lambda f: _write_load(f, space_of), text))


def _spaces_of(address: str, definitions: dict[str, str], seen: set[str]) -> set[str]:
    """The numbers of the address spaces that an address may be in; "" stands for one that nobody knows."""
    if address in seen:
        return set()
    seen.add(address)
    made = definitions.get(address, address)
    operation = made.split(" ", 1)[0]
    if operation in _SOURCES:
        return {
            space for source in _SOURCES[operation].findall(made) for space in _spaces_of(source, definitions, seen)
        }
    if operation == "addrspacecast" or operation.startswith("addrspace("):  # of a variable the space may be known
        return set(_SPACE.findall(made)[:1])
    return {"5" if operation == "alloca" else ""}


def _write_load(found: re.Match[str], space_of: Callable[[re.Match[str]], str]) -> str:
    value, address, bits = found["value"], found["address"], int(found["bits"])
    space = space_of(found)
    if space == "other":  # no cache is in front of it
        return f"  {value} = load i{bits}, ptr {address}, align {bits // 8}"
    word = max(bits, 16)
    loaded = value if word == bits else f"{value}.word"
    assembly = f'"ld{space}.{found["operator"]}.b{bits} $0, [$1];", "={_REGISTERS[bits]},l,~{{memory}}"'
    cast, pointer = _cast_address(found, space)
    call = f"{cast}  {loaded} = call i{word} asm sideeffect {assembly}({pointer})"
    return call if word == bits else f"{call}\n  {value} = trunc i{word} {loaded} to i{bits}"


def _write_store(found: re.Match[str], space_of: Callable[[re.Match[str]], str]) -> str:
    value, address, bits = found["value"], found["address"], int(found["bits"])
    space = space_of(found)
    if space == "other":
        return f"  store i{bits} {value}, ptr {address}, align {bits // 8}"
    word = max(bits, 16)
    assembly = f'"st{space}.{found["operator"]}.b{bits} [$0], $1;", "l,{_REGISTERS[bits]},~{{memory}}"'
    cast, pointer = _cast_address(found, space)
    if word != bits:
        cast += f"  %word.{found.start()} = zext i{bits} {value} to i{word}\n"
        value = f"%word.{found.start()}"
    return f"{cast}  call void asm sideeffect {assembly}({pointer}, i{word} {value})"


def _cast_address(found: re.Match[str], space: str) -> tuple[str, str]:
    """A line that makes the address one of global memory, and the operand. Names hold the place in the text."""
    if not space or found["address"].startswith("addrspace("):
        return "", f"ptr {found['address']}"
    name = f"%global.{'store' if found.re is _STORE else 'load'}.{found.start()}"
    return f"  {name} = addrspacecast ptr {found['address']} to ptr addrspace(1)\n", f"ptr addrspace(1) {name}"
