"""Typing of CUDA's names for operations on float16: halves in, a half or a bool out."""

from __future__ import annotations

import inspect

from numba_gpucore import fp16
from numba_gpucore.compile.numba_api import templates, types
from numba_gpucore.compile.typing.registry import declare_cases

FUNCTIONS = {name: function for name, function in vars(fp16).items() if name.startswith("h")}
_RESULTS = {"float": types.float16, "bool": types.boolean}

for _function in FUNCTIONS.values():
    _signature = inspect.signature(_function)
    declare_cases(
        _function,
        templates.signature(_RESULTS[_signature.return_annotation], *[types.float16] * len(_signature.parameters)),
    )
