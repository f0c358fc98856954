"""Every name that we take from inside Numba, so that a new Numba version is checked in one place.

Before: numba_modules, targets, which load parts of Numba before this one can. After: the rest of `compile`, and
`runtime`. Public Numba API (`numba.extending`) is imported where used.
"""

from numba.core import (
    byteflow,
    callconv,
    cgutils,
    compiler,
    config,
    consts,
    datamodel,
    debuginfo,
    entrypoints,
    errors,
    funcdesc,
    imputils,
    interpreter,
    ir,
    itanium_mangler,
    lowering,
    postproc,
    sigutils,
    targetconfig,
    typeinfer,
    types,
    typing,
)
from numba.core.base import BaseContext
from numba.core.callconv import MinimalCallConv
from numba.core.codegen import Codegen, CodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import FunctionPass, LoweringPass, PassManager, register_pass
from numba.core.descriptors import TargetDescriptor
from numba.core.dispatcher import Dispatcher
from numba.core.dispatcher import _FunctionCompiler as FunctionCompiler
from numba.core.imputils import Registry as LoweringRegistry
from numba.core.ir_utils import build_definitions
from numba.core.options import TargetOptions
from numba.core.runtime.context import NRTContext
from numba.core.target_extension import target_override, target_registry
from numba.core.targetconfig import Option as FlagOption
from numba.core.transforms import canonicalize_cfg
from numba.core.typeconv import Conversion
from numba.core.typed_passes import (
    AnnotateTypes,
    BaseNativeLowering,
    NopythonTypeInference,
)
from numba.core.typing import enumdecl, mathdecl, npydecl, templates
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, make_concrete_template
from numba.core.typing.templates import Registry as TypingRegistry
from numba.core.unsafe import eh
from numba.core.untyped_passes import InlineClosureLikes
from numba.np import numpy_support, ufunc_db

from numba_gpucore.compile.numba_modules import arrayobj

__all__ = [
    "AbstractTemplate",
    "AnnotateTypes",
    "AttributeTemplate",
    "BaseContext",
    "BaseNativeLowering",
    "CodeLibrary",
    "Codegen",
    "CompilerBase",
    "Conversion",
    "DefaultPassBuilder",
    "Dispatcher",
    "FlagOption",
    "Flags",
    "FunctionCompiler",
    "FunctionPass",
    "InlineClosureLikes",
    "LoweringPass",
    "LoweringRegistry",
    "MinimalCallConv",
    "NRTContext",
    "NopythonTypeInference",
    "PassManager",
    "TargetDescriptor",
    "TargetOptions",
    "TypingRegistry",
    "arrayobj",
    "build_definitions",
    "byteflow",
    "callconv",
    "canonicalize_cfg",
    "cgutils",
    "compiler",
    "config",
    "consts",
    "datamodel",
    "debuginfo",
    "eh",
    "entrypoints",
    "enumdecl",
    "errors",
    "funcdesc",
    "global_compiler_lock",
    "imputils",
    "interpreter",
    "ir",
    "itanium_mangler",
    "lowering",
    "make_concrete_template",
    "mathdecl",
    "npydecl",
    "numpy_support",
    "postproc",
    "register_pass",
    "sigutils",
    "target_override",
    "target_registry",
    "targetconfig",
    "templates",
    "typeinfer",
    "types",
    "typing",
    "ufunc_db",
]
