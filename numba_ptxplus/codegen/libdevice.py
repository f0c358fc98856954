"""NVIDIA's library of real functions, one function at a time. Before: `__nv_*` names. After: legalize links the text.

libdevice is one bitcode file of about 500 functions; linking all of it costs a kernel about 100 ms. Functions are taken
out as LLVM assembly, with the internal functions and tables that they use, and each is kept.

`__nvvm_reflect` is how libdevice asks its compiler about the target; the answers are put in here. LLVM's own pass
answers 0 to all but two questions, which would make square roots inexact. Source: libNVVM, "libdevice User's Guide".
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path

import llvmlite.binding as llvm

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.base.records import dataclass
from numba_ptxplus.codegen.rewrites import KEPT_ROUNDING

_NAME = late_pattern(r"@([\w.$]+)")
_ATTRIBUTE_GROUP = late_pattern(r" #\d+")
_STRUCT = late_pattern(r"%struct\.\w+")
_METADATA = late_pattern(r", ![\w.]+ !\d+")
_REFLECT = late_pattern(r"call i32 @__nvvm_reflect\(ptr (?:\w+ )*@([\w.]+)\)")
#: What LLVM 22 cannot select, selects for "afn" calls only, or rounds otherwise, in other words that mean the same.
_REPLACEMENTS = (
    # libdevice says itself which products are fused; others must round, since the rest is taken up elsewhere. LLVM
    # makes plain arithmetic of nvvm's add.rn and mul.rn (NVPTXTargetTransformInfo.cpp, simplifyNvvmIntrinsic), which
    # rewrites.py would let it contract: powf erred by 36 ulp so, instead of 1. "arcp" says nothing about sums and
    # products, stays with them through the optimiser, and tells them from the kernel's own.
    (late_pattern(r"= f(add|sub|mul) (?=float|double)"), rf"= f\1 {KEPT_ROUNDING} "),
    (
        late_pattern(r"call (float|double) @llvm\.nvvm\.(add|mul)\.rn\.[fd]\(\w+ ([^,]+), \w+ ([^)]+)\)"),
        rf"f\2 {KEPT_ROUNDING} \1 \3, \4",
    ),
    (
        late_pattern(r"(%[\w.]+) = call float @llvm\.convert\.from\.fp16\.f32\(i16 (%[\w.]+)\)"),
        r"\1.half = bitcast i16 \2 to half\n  \1 = fpext half \1.half to float",
    ),
    (
        late_pattern(r"call afn float @llvm\.tanh\.f32\("),
        'call float asm "tanh.approx.f32 $0,$1;", "=f,f"(',
    ),
)
_STRING = late_pattern(r'c"(\w+)\\00"')


@dataclass(frozen=True)
class ReflectAnswers:
    """What `__nvvm_reflect` is told. arch: compute capability times 100, as in `__CUDA_ARCH__`."""

    flushes_to_zero: bool
    has_exact_sqrt: bool
    arch: int

    def answer(self, question: str) -> int:
        match question:
            case "__CUDA_FTZ":
                return int(self.flushes_to_zero)
            case "__CUDA_PREC_SQRT" | "__CUDA_PREC_DIV":
                return int(self.has_exact_sqrt)
            case "__CUDA_ARCH":
                return self.arch
        raise KeyError(f"libdevice asks for {question!r}")


class Libdevice:
    """One libdevice file, read when the first function is asked for."""

    def __init__(self, path: Path):
        self.path = path
        self._texts: dict[str, str] = {}

    @functools.cached_property
    def _module(self) -> llvm.ModuleRef:
        return llvm.parse_bitcode(self.path.read_bytes())

    @functools.cached_property
    def _globals(self) -> dict[str, str]:
        return {variable.name: str(variable) for variable in self._module.global_variables}

    @functools.cached_property
    def _structs(self) -> dict[str, str]:
        return {f"%{type_.name}": str(type_) for type_ in self._module.struct_types}

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """The public functions."""
        return frozenset(f.name for f in self._module.functions if f.name.startswith("__nv_") and not f.is_declaration)

    def _text(self, name: str) -> str:
        """A function or variable in LLVM assembly, free of the file's attribute groups and metadata."""
        if name not in self._texts:
            self._texts[name] = self._globals[name] if name in self._globals else self._function_text(name)
        return self._texts[name]

    def _function_text(self, name: str) -> str:
        function = self._module.get_function(name)
        text = "\n".join(line for line in str(function).splitlines() if not line.startswith(";"))
        text = _METADATA.sub("", _ATTRIBUTE_GROUP.sub("", text))
        if function.is_declaration:
            return text
        for pattern, words in _REPLACEMENTS:
            text = pattern.sub(words, text)
        # The slow paths of argument reduction are meant to stay functions: they are large and seldom taken.
        keep_apart = any(b"noinline" in attribute for attribute in function.attributes)
        marks = "noinline nounwind" if keep_apart else "alwaysinline nounwind"
        return text.replace(") {\n", f") {marks} {{\n", 1)

    def extract(self, names: Iterable[str], answers: ReflectAnswers) -> str:
        """LLVM assembly of these functions and all that they use. Raises KeyError for one that libdevice lacks."""
        pending, texts = sorted(names, reverse=True), dict[str, str]()
        while pending:
            name = pending.pop()
            if name in texts:
                continue
            text = _REFLECT.sub(lambda call: f"add i32 {self._reflect(call[1], answers)}, 0", self._text(name))
            texts[name] = text
            pending += [used for used in dict.fromkeys(_NAME.findall(text)) if used != name]
        functions = "\n".join(texts.values())
        structs = sorted(self._structs[name] for name in set(_STRUCT.findall(functions)))
        return "\n".join([*structs, functions])

    def _reflect(self, variable: str, answers: ReflectAnswers) -> int:
        question = _STRING.search(self._text(variable))
        assert question, f"{variable} is no string"
        return answers.answer(question[1])


@functools.cache
def open_libdevice(path: Path) -> Libdevice:
    """The reader of a file; kept, because parsing it takes 30 ms."""
    return Libdevice(path)
