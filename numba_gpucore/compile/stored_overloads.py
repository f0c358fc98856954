"""Implementations of Numba's functions, typed and lowered in another process. Before: dispatcher. After: linking.

A kernel that sums an array needs Numba's `array_sum` for its type: most of the time of such a kernel goes into typing
and lowering it, and the result is the same in every process. It is kept as LLVM assembly, with its signature and what
is needed to explain its exceptions. Only what lies wholly in Numba and our runtime library is kept.
"""

from __future__ import annotations

import json
import os
from typing import Any

import llvmlite.binding as llvm
import numba

from numba_gpucore.base.digest import blake2b
from numba_gpucore.base.overload_store import OverloadStore
from numba_gpucore.base.records import dataclass
from numba_gpucore.base.site import Frame
from numba_gpucore.base.site_json import site_from_json, site_to_json
from numba_gpucore.compile.code_library import Call, DeviceLibrary
from numba_gpucore.compile.implementation_key import describe_implementation
from numba_gpucore.compile.module_text import link_texts, make_internal
from numba_gpucore.compile.numba_api import funcdesc, typing
from numba_gpucore.compile.type_text import NotExpressible, decode_type, encode_type

#: Paths in what is kept start here: Numba and our packages may lie elsewhere in the next process.
_ROOTS = {
    "numba": os.path.dirname(os.path.dirname(numba.__file__)),
    "numba_gpucore": os.path.dirname(os.path.dirname(os.path.dirname(__file__))),
}


@dataclass(frozen=True)
class StoredResult:
    """What callers read of Numba's CompileResult."""

    signature: Any
    fndesc: Any
    library: DeviceLibrary
    target_context: Any
    entry_point: Any


class StoredLibrary(DeviceLibrary):
    """The library of an implementation that was lowered before, with all that it calls."""

    def __init__(self, codegen: Any, symbol: str, text: str):
        super().__init__(codegen, symbol)
        self.__dict__["texts"] = (text,)
        self.finalize()


def implementation_key(dispatcher: Any, args: tuple, flags: str) -> str:
    """The key of what `dispatcher` makes for these types under a caller's flags. Raises NotExpressible."""
    return json.dumps(
        {
            "function": describe_implementation(dispatcher.py_func),
            "arguments": [encode_type(type_) for type_ in args],
            "flags": flags,
            "options": sorted((name, repr(value)) for name, value in dispatcher.targetoptions.items()),
            "target": dispatcher.targetdescr._target_name,
        }
    )


def find_implementation(store: OverloadStore, key: str, target_context: Any) -> StoredResult | None:
    """The implementation that was kept under `key`; None if there is none that can be used."""
    text = store.find(key)
    if text is None:
        return None
    data = json.loads(text)
    symbol, codegen = data["symbol"], target_context.codegen()
    try:
        # Numba makes several dispatchers for one implementation, such as one for each place that it is called from.
        library = codegen.library_of(symbol)
    except KeyError:
        library = _make_library(codegen, data)
        codegen.note_library(symbol, library)
    args, result = tuple(map(decode_type, data["arguments"])), decode_type(data["result"])
    fndesc = _describe_symbol(symbol, args, result)
    return StoredResult(typing.signature(result, *args), fndesc, library, target_context, (symbol, id(library)))


def _make_library(codegen: Any, data: dict[str, Any]) -> StoredLibrary:
    library = StoredLibrary(codegen, data["symbol"], data["text"])
    for site, owners in data["sites"]:
        restored = site_from_json({**site, "frame": _absolute(site["frame"])})
        for owner in owners:
            library.add_site(restored, owner)
    for caller, callee, frame in data["calls"]:
        library._calls[Call(caller, callee, Frame(**_absolute(frame)))] = None
    return library


def _describe_symbol(symbol: str, args: tuple, result: Any) -> Any:
    return funcdesc.FunctionDescriptor(
        native=True,
        modname="stored",
        qualname=symbol,
        unique_name=symbol,
        doc="",
        typemap={},
        restype=result,
        calltypes={},
        args=[f"a{i}" for i in range(len(args))],
        kws=(),
        mangler=lambda name, argtypes, **_: symbol,
        argtypes=args,
    )


def keep_implementation(store: OverloadStore, key: str, result: Any) -> bool:
    """Keep an implementation, if all that it consists of can be told; False if not."""
    libraries = list(result.library.walk())
    if not all(map(_can_be_kept, libraries)):
        return False
    try:
        result_type = encode_type(result.signature.return_type)
        arguments = [encode_type(type_) for type_ in result.signature.args]
        names, text = _merge(result, key)
        sites = [
            ({**site_to_json(site), "frame": _relative(site.frame)}, [names[owner] for owner in owners])
            for library in libraries
            for site, owners in library._sites.values()
        ]
        calls = [
            (names[call.caller], names[call.callee], _relative(call.frame))
            for library in libraries
            for call in library._calls
            if call.caller in names and call.callee in names
        ]
    except (NotExpressible, KeyError):
        return False
    symbol = names[result.fndesc.llvm_func_name]
    data = {"symbol": symbol, "arguments": arguments, "result": result_type, "text": text, "sites": sites}
    store.keep(key, json.dumps({**data, "calls": calls}))
    return True


def _can_be_kept(library: DeviceLibrary) -> bool:
    """False for what refers to the user's program, or to this process."""
    return not (
        library._print_lines
        or library._captured
        or library._promises
        or library._late_callees
        or library.overload_modules
        or library.rule_faults
        or library.double_literals
    )


def _merge(result: Any, key: str) -> tuple[dict[str, str], str]:
    """One module of all that an implementation calls, and the new names of its functions.

    Numba's names count the functions of a process, so that they would meet others of the same name in the next one.
    """
    entry = result.fndesc.llvm_func_name
    module = link_texts(list(result.library.module_texts()))
    make_internal(module, entry)
    defined = [function.name for function in module.functions if not function.is_declaration]
    prefix = f"stored.{blake2b(key.encode(), digest_size=10).hexdigest()}"
    names = {name: f"{prefix}.{number}" for number, name in enumerate((entry, *sorted(set(defined) - {entry})))}
    for name, new in names.items():
        module.get_function(name).name = new
    for number, variable in enumerate(list(module.global_variables)):
        if not variable.is_declaration:
            variable.name = f"{prefix}.data.{number}"
    _simplify(module)
    return names, str(module)


def _simplify(module: llvm.ModuleRef) -> None:
    """What every back-end would do anyway, done once: kernels that use the implementation have less to optimise."""
    tuning = llvm.create_pipeline_tuning_options(speed_level=1)
    llvm.initialize_native_target()
    machine = llvm.Target.from_default_triple().create_target_machine()
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, llvm.create_pass_builder(machine, tuning))


def _relative(frame: Frame) -> dict[str, Any]:
    for package, root in _ROOTS.items():
        if frame.filename.startswith(os.path.join(root, package) + os.sep):
            filename = os.path.relpath(frame.filename, root)
            fields = {**vars(frame), "filename": filename.replace(os.sep, "/"), "package": package}
            del fields["function_number"]  # a user's function has one
            return fields
    raise NotExpressible(f"a frame of {frame.filename}")


def _absolute(frame: dict[str, Any]) -> dict[str, Any]:
    fields = dict(frame)
    root = _ROOTS[fields.pop("package")]
    return {**fields, "filename": os.path.join(root, *fields["filename"].split("/"))}
