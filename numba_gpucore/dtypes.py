"""Number types as users name them in kernels and signatures. Before: nothing. After: decorators, language, typing.

`float32` and its likes work as a NumPy dtype (`np.zeros(3, float32)`), as a conversion on the host and in kernels
(`float32(x)`), and in signatures (`float32[:, ::1]`, `void(int32[::1], float32)`), all without Numba.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numba_gpucore.base.argtypes import ArgType, ArrayType, ScalarType
from numba_gpucore.base.records import dataclass

_ARG_TYPES = ArgType.__args__  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Signature:
    """Argument types of a kernel or device function; `result` is None for `void`.

    Where a program mixes our types with Numba's, `args` holds the latter as they are: `launch.eager` asks Numba."""

    args: tuple[Any, ...]
    result: ArgType | None = None

    def __str__(self) -> str:
        return f"{self.result or 'void'}({', '.join(map(str, self.args))})"


def as_arg_type(value: object) -> Any:
    """The argument type that a part of a signature stands for; Numba's types stay. Raises TypeError for the rest."""
    if isinstance(value, DType):
        return value.arg_type
    if isinstance(value, _ARG_TYPES) or is_numba_type(value):
        return value
    raise TypeError(f"{value!r} is not a type that a signature can name")


def names_type(value: object) -> bool:
    """True for what a signature can name a type by."""
    return isinstance(value, (DType, *_ARG_TYPES)) or is_numba_type(value)


def is_numba_type(value: object) -> bool:
    """True for Numba's types; told by the module of their class, so that Numba is not loaded to ask."""
    return type(value).__module__.startswith(("numba.core.types", "numba.np.types"))


BFLOAT16_NAME = "bfloat16"


def bfloat16_dtype() -> np.dtype[Any]:
    """NumPy's dtype for bfloat16, which the package ml_dtypes brings. Raises ImportError."""
    try:
        import ml_dtypes  # noqa: PLC0415  optional: only programs with bfloat16 need it
    except ImportError as error:
        raise ImportError("bfloat16 needs the package ml_dtypes: pip install ml_dtypes") from error
    return np.dtype(ml_dtypes.bfloat16)


@dataclass(frozen=True)
class DType:
    """A number type by its NumPy name. Equal to the argument type that it stands for."""

    name: str

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ScalarType):
            return self.name == other.name
        return self.name == other.name if isinstance(other, DType) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.arg_type)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype; NumPy itself looks here when it is given a DType. Raises ImportError (`bfloat16_dtype`)."""
        return bfloat16_dtype() if self.name == BFLOAT16_NAME else np.dtype(self.name)

    @property
    def arg_type(self) -> ScalarType:
        if self.name == BFLOAT16_NAME:
            return ScalarType(BFLOAT16_NAME, 2)
        return ScalarType(self.dtype.name, self.dtype.itemsize)

    def __call__(self, *args: Any) -> Any:
        """`float32(1)` is a NumPy scalar, `float32(int32, int32)` the signature of a function that returns float32."""
        if args and all(map(names_type, args)):
            return Signature(tuple(map(as_arg_type, args)), self.arg_type)
        return self.dtype.type(*args)

    def __getitem__(self, index: slice | tuple[slice, ...]) -> ArrayType:
        """The type of arrays: one `:` a dimension; `::1` in the last place means C order, in the first F order."""
        axes = index if isinstance(index, tuple) else (index,)
        steps = [_step_of(axis) for axis in axes]
        if steps.count(1) > 1 or 1 in steps[1:-1]:
            raise TypeError(f"{self.name}{list(axes)}: only the first or the last axis can be '::1'")
        layout = "C" if steps[-1] == 1 else "F" if steps[0] == 1 else "A"
        return ArrayType(self.arg_type, len(axes), layout)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


def _step_of(axis: object) -> int | None:
    if not isinstance(axis, slice) or axis.start is not None or axis.stop is not None or axis.step not in (None, 1):
        raise TypeError(f"an axis of an array type is ':' or '::1', not {axis!r}")
    return axis.step


class Void:
    """The result of a kernel: `void(float32[::1], int32)` is a signature."""

    def __call__(self, *args: object) -> Signature:
        return Signature(tuple(map(as_arg_type, args)))

    def __repr__(self) -> str:
        return "void"


int8, int16, int32, int64 = map(DType, ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(DType, ("uint8", "uint16", "uint32", "uint64"))
float16, float32, float64 = map(DType, ("float16", "float32", "float64"))
#: Needs the package ml_dtypes where arrays or values of it are made.
bfloat16 = DType(BFLOAT16_NAME)
complex64, complex128 = map(DType, ("complex64", "complex128"))
bool_ = boolean = DType("bool")
intp, uintp = int64, uint64
void = Void()

# Numba's short names, and C's on 64-bit systems.
b1, byte, char, uchar = bool_, uint8, int8, uint8
i1, i2, i4, i8 = int8, int16, int32, int64
u1, u2, u4, u8 = uint8, uint16, uint32, uint64
f2, f4, f8, c8, c16 = float16, float32, float64, complex64, complex128
short, ushort, intc, uintc, longlong, ulonglong = int16, uint16, int32, uint32, int64, uint64
int_, uint, long_, ulong, size_t, ssize_t, double = int64, uint64, int64, uint64, uint64, int64, float64

DTYPES: tuple[DType, ...] = (
    int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64, complex64, complex128, bool_,
)  # fmt: skip


def signature_of(value: object) -> Signature | None:
    """A signature from `void(...)`, `float32(...)` or a tuple of argument types; None if it is none of these."""
    if isinstance(value, Signature):
        return value
    if isinstance(value, tuple) and all(map(names_type, value)):
        return Signature(tuple(map(as_arg_type, value)))
    return None
