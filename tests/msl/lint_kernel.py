"""Signatures of kernels: their parameters' attributes. Before: syntax_tree.py. After: checker.py, library.py.

MSL spec, "Functions", "Attributes to Locate Buffers, Textures, and Samplers" and "Kernel Function Input Attributes".
"""

from __future__ import annotations

import re

from tests.msl.findings import KernelParam, KernelSignature
from tests.msl.syntax_tree import SPACES, Node, Notes, children, written_type

#: Positions and sizes may be scalars or vectors of 2 or 3, indices are scalars.
POSITION_ATTRIBUTES = (
    "thread_position_in_grid",
    "thread_position_in_threadgroup",
    "threadgroup_position_in_grid",
    "threads_per_grid",
    "threads_per_threadgroup",
    "threadgroups_per_grid",
    "dispatch_threads_per_threadgroup",
)
INDEX_ATTRIBUTES = (
    "thread_index_in_threadgroup",
    "thread_index_in_simdgroup",
    "simdgroup_index_in_threadgroup",
    "simdgroups_per_threadgroup",
    "dispatch_simdgroups_per_threadgroup",
    "threads_per_simdgroup",
    "thread_execution_width",
)
_SAME_TYPE_GROUPS = (
    ("thread_position_in_grid", "threads_per_grid"),
    ("thread_position_in_threadgroup", "threads_per_threadgroup", "dispatch_threads_per_threadgroup"),
)
MAX_BUFFER_INDEX = 30
_UNSIGNED = re.compile(r"(ushort|uint)([23]?)$")


def is_kernel(function: Node) -> bool:
    kinds = [child.get("kind") for child in children(function)]
    return "device_kernel" in written_type(function) or "DeviceKernelAttr" in kinds or "OpenCLKernelAttr" in kinds


def read_signature(notes: Notes, function: Node) -> KernelSignature:
    """The kernel's parameters; those that break a rule are noted, and left out if they cannot be bound."""
    name = function["name"]
    if not written_type(function).startswith("void "):
        notes.add(function, "kernel-result", f"kernel {name} must return void")
    params = []
    used: dict[tuple[str, int | None], str] = {}
    for node in children(function):
        if node.get("kind") != "ParmVarDecl":
            continue
        param = _read_param(notes, node)
        if param is None:
            continue
        key = (param.attribute, param.index)
        if key in used:
            shown = param.attribute + ("" if param.index is None else f"({param.index})")
            notes.add(node, "kernel-param", f"'{param.name}': [[{shown}]] already used by '{used[key]}'")
        used[key] = param.name
        params.append(param)
    _check_types_together(notes, function, {p.attribute: p.type for p in params})
    return KernelSignature(name, notes.line(function), tuple(params))


def _read_param(notes: Notes, node: Node) -> KernelParam | None:
    name = node.get("name", "")
    type_ = re.sub(r"\s*(__restrict|__private)(?=\s|$)", "", re.sub(r"^__private ", "", written_type(node)))
    attributes = _attributes_after(notes, node) if name else []
    if len(attributes) != 1:
        notes.add(node, "kernel-param", f"'{name}': needs exactly one [[attribute]], has {len(attributes)}")
        return None
    attribute, index_text = attributes[0]
    pointee = type_.rsplit("*", 1)[0].rsplit("&", 1)[0]
    space = re.search(r"__global|__constant|__local|__generic", pointee)
    param = KernelParam(
        name=name,
        type=type_,
        attribute=attribute,
        index=int(index_text) if index_text and index_text.isdigit() else None,
        space=SPACES[space[0]] if space else None,
        is_reference=type_.endswith("&"),
    )
    if attribute in ("buffer", "threadgroup"):
        _check_binding(notes, node, param, index_text)
    elif attribute in POSITION_ATTRIBUTES or attribute in INDEX_ATTRIBUTES:
        shape = _UNSIGNED.match(type_)
        if not shape or (attribute in INDEX_ATTRIBUTES and shape[2]):
            notes.add(node, "kernel-param", f"'{name}': type {type_} is not valid for [[{attribute}]]")
    else:
        notes.add(node, "kernel-param", f"'{name}': unknown attribute [[{attribute}]]")
    return param


def _check_binding(notes: Notes, node: Node, param: KernelParam, index_text: str | None) -> None:
    what = f"'{param.name}': [[{param.attribute}"
    spaces = ("device", "constant") if param.attribute == "buffer" else ("threadgroup",)
    is_pointer = param.type.rstrip(" const").endswith("*")
    if not (param.is_reference or is_pointer) or param.space not in spaces:
        wanted = " or ".join(spaces)
        notes.add(node, "kernel-param", f"{what}]] needs a pointer or reference to {wanted} memory, is {param.type}")
    if param.index is None or param.index > MAX_BUFFER_INDEX:
        notes.add(node, "kernel-param", f"{what}(n)]] needs an index from 0 to {MAX_BUFFER_INDEX}, has {index_text}")
    if param.type.count("*") > 1:
        notes.add(node, "pointer-to-pointer", f"'{param.name}': buffer of pointers; put the pointer in a struct")


def _attributes_after(notes: Notes, node: Node) -> list[tuple[str, str | None]]:
    """(name, argument) of each [[attribute]] between the parameter's name and the next comma or parenthesis."""
    place = node.get("loc", {})
    start = end = place.get("offset", 0) + place.get("tokLen", 0)
    depth = 0
    for end in range(start, len(notes.source)):
        character = chr(notes.source[end])
        if character in "([":
            depth += 1
        elif depth and character in ")]":
            depth -= 1
        elif character in "),":
            if depth == 0:
                break
    text = notes.source[start:end].decode()
    return [
        (name, argument or None)
        for body in re.findall(r"\[\[(.*?)\]\]", text)
        for name, argument in re.findall(r"([A-Za-z_]\w*)\s*(?:\(\s*([^)]*?)\s*\))?", body)
    ]


def _check_types_together(notes: Notes, function: Node, types: dict[str, str]) -> None:
    """Notes under the table of kernel input attributes: widths and the types of pairs must match."""
    name = function["name"]
    positions = {attribute: type_ for attribute, type_ in types.items() if attribute in POSITION_ATTRIBUTES}
    if len({re.sub(r"[a-z]", "", type_) for type_ in positions.values()}) > 1:
        notes.add(function, "kernel-param", f"kernel {name}: position arguments differ in width: {positions}")
    for group in _SAME_TYPE_GROUPS:
        if len({types[attribute] for attribute in group if attribute in types}) > 1:
            notes.add(function, "kernel-param", f"kernel {name}: types of {', '.join(group)} must match")
    position, index = "thread_position_in_threadgroup", "thread_index_in_threadgroup"
    if types.get(position, "").startswith("uint") and types.get(index, "uint") != "uint":
        notes.add(function, "kernel-param", f"kernel {name}: {index} must be uint, as {position} is")
