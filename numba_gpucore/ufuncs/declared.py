"""Which declared signature fits a call, and which types decide where none is declared. Before: arguments. After: the
kernel of that signature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from numba_gpucore.base.argtypes import ArrayType, ScalarType
from numba_gpucore.base.errors import OptionError
from numba_gpucore.dtypes import DType, Signature
from numba_gpucore.elements import dtype_of
from numba_gpucore.ufuncs.operands import dtype_of_value, is_scalar

Dtypes = tuple[np.dtype, ...]
Casting = Literal["no", "safe", "same_kind"]


def element_dtype(type_: Any) -> np.dtype:
    """The dtype of a number or of an array's elements. Raises OptionError for what a ufunc cannot take."""
    element = type_.dtype if isinstance(type_, ArrayType) else type_
    if not isinstance(element, ScalarType):
        raise OptionError(f"a ufunc works on numbers and arrays of numbers, not on {type_}")
    return dtype_of(element)


def given_dtypes(arguments: Sequence[Any], weak_numbers: bool) -> Dtypes:
    """Types as numbers and arrays have them. weak_numbers: Python's floats and complex numbers take that of the other
    arguments (NEP 50), and are in single precision where that is no float."""
    if not weak_numbers:
        return tuple(map(dtype_of_value, arguments))
    strong = [dtype_of_value(one) for one in arguments if type(one) not in (float, complex)]
    return tuple(
        _weak_dtype(one, strong) if type(one) in (float, complex) else dtype_of_value(one) for one in arguments
    )


def _weak_dtype(number: float | complex, strong: Sequence[np.dtype]) -> np.dtype:
    single = np.dtype(np.complex64 if isinstance(number, complex) else np.float32)
    return np.result_type(single if not any(one.kind in "fc" for one in strong) else np.result_type(*strong), number)


def choose_signature(
    name: str, declared: Sequence[Dtypes], arguments: Sequence[Any], last_casting: Casting = "safe"
) -> Dtypes:
    """The first of the declared input types that fits, by the strictest of these rules that one fits by.

    1. All types are equal. 2. Those of arrays are, and numbers are converted within their kind ("same_kind"), as in
    numba.cuda. 3. All can be converted safely, as in NumPy. 4. All can be by `last_casting`. Where all arguments are
    numbers, 3 comes before 2, so that none loses digits. Raises TypeError where none fits.
    """
    given = tuple(map(dtype_of_value, arguments))
    if given in declared:
        return given
    numbers = tuple(map(is_scalar, arguments))
    array_castings: list[Casting] = ["safe", "same_kind"] if all(numbers) else ["no", "safe", last_casting]
    for casting in array_castings:
        for types in declared:
            if all(
                np.can_cast(source, target, "same_kind" if is_number and casting == "no" else casting)
                for source, target, is_number in zip(given, types, numbers, strict=True)
            ):
                return types
    raise TypeError(
        f"No matching version of ufunc '{name}' for {_listed(given)}: declared are "
        f"{', '.join(map(_listed, declared))}, and arguments are converted only where no value can change; "
        "convert the arrays with astype, or declare another signature"
    )


def _listed(types: Dtypes) -> str:
    return f"({', '.join(map(str, types))})"


def conversion_to(dtype: np.dtype) -> Any:
    """What converts a number to a dtype in a kernel. Raises TypeError for dtypes that have no such function."""
    if dtype.kind not in "biufc":
        raise TypeError(f"numbers cannot be converted to {dtype} in a kernel; pass an array of {dtype}")
    return DType(dtype.name)


def require_count(name: str, signature: Signature, count: int) -> None:
    """Raise OptionError unless a signature has that many arguments."""
    if len(signature.args) != count:
        raise OptionError(f"'{name}' takes {count} arguments, signature {signature} has {len(signature.args)}")
