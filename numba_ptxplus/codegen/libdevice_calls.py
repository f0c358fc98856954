"""`gpu.libdevice.*` as calls of NVIDIA's functions. Before: definitions.py asks. After: libdevice.py links `__nv_*`."""

from __future__ import annotations

from numba_gpucore import libdevice
from numba_gpucore.compile.intrinsics import libdevice_symbol, parse_libdevice_symbol

_LLVM_TYPES = {
    "int16": "i16", "int32": "i32", "uint32": "i32", "int64": "i64", "uint64": "i64", "float32": "float",
    "float64": "double", "void": "void",
}  # fmt: skip


def define_libdevice_call(symbol: str) -> str:
    """Give what C stores through pointers as further results: the memory for it goes when it is inlined."""
    function = libdevice.functions()[parse_libdevice_symbol(symbol) or ""]
    params = [_LLVM_TYPES[name] for name in function.params]
    results = [_LLVM_TYPES[name] for name in function.results]
    value, outs = _LLVM_TYPES[function.value], [_LLVM_TYPES[name] for name in function.outs]
    operands = [f"{type_} %p{i}" for i, type_ in enumerate(params)] + [f"ptr %o{i}" for i in range(len(outs))]
    lines = [f"%o{i} = alloca {type_}" for i, type_ in enumerate(outs)]
    lines.append(f"{'' if value == 'void' else '%value = '}call {value} @{function.c_name}({', '.join(operands)})")
    lines += [f"%r{i} = load {type_}, ptr %o{i}" for i, type_ in enumerate(outs)]
    items = [*(() if value == "void" else ("%value",)), *(f"%r{i}" for i in range(len(outs)))]
    type_ = results[0] if len(results) == 1 else f"{{ {', '.join(results)} }}"
    given = items[0]
    if len(items) > 1:
        given = "poison"
        for i, (item, item_type) in enumerate(zip(items, results, strict=True)):
            lines.append(f"%s{i} = insertvalue {type_} {given}, {item_type} {item}, {i}")
            given = f"%s{i}"
    lines.append(f"ret {type_} {given}")
    body = "\n ".join(lines)
    header = ", ".join(["ptr %context", *operands[: len(params)]])
    return f"define {type_} @{libdevice_symbol(function.name)}({header}) alwaysinline nounwind {{\n {body}\n}}"
