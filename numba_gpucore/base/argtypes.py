"""The types of kernel arguments as plain records. Before: a Python value. After: ABI layout, cache key, Numba type.

`launch.signature` makes them from values and from signature strings without Numba; `compile.numba_types` turns them
into Numba types. `str(t)` is canonical: equal texts mean equal types, so it can stand in a cache key. `repr(t)` is the
same, since programs print `kernel.signatures`.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, Literal, Union

from numba_gpucore.base.records import dataclass, field

Layout = Literal["C", "F", "A"]


@dataclass(frozen=True)
class ScalarType:
    """A number by NumPy's name: "int32", "float16", "bool", "complex64", "datetime64[s]"; characters as "U5", "S5".

    is_weak: a Python float or complex, passed with this many bytes, that takes the other operand's type (NEP 50).
    """

    name: str
    nbytes: int
    is_weak: bool = False

    def __str__(self) -> str:
        return f"weak {self.name}" if self.is_weak else self.name

    __repr__ = __str__


@dataclass(frozen=True)
class FieldType:
    """One field of a record; a non-empty `shape` makes it a nested array."""

    name: str
    type: ScalarType | RecordType
    offset_nbytes: int
    shape: tuple[int, ...] = ()

    def __str__(self) -> str:
        shape = "x".join(map(str, self.shape))
        return f"{self.name}:{self.type}{f'[{shape}]' if shape else ''}@{self.offset_nbytes}"

    __repr__ = __str__


@dataclass(frozen=True)
class RecordType:
    """A NumPy structured scalar, passed by address so that a kernel can write its fields."""

    fields: tuple[FieldType, ...]
    nbytes: int
    aligned: bool

    def __str__(self) -> str:
        fields = ", ".join(map(str, self.fields))
        return f"Record({fields}; {self.nbytes}{', aligned' if self.aligned else ''})"

    __repr__ = __str__


@dataclass(frozen=True)
class StructType:
    """A type of the user's own with a struct data model (numba.extending), as items of arrays in eager signatures.

    layout: where its members lie; arrays of such records can be passed. numba_type: decides what is equal, since the
    registries of this process alone know what it means.
    """

    name: str
    layout: RecordType
    numba_type: Any = field(repr=False)

    def __eq__(self, other: object) -> bool:
        return bool(self.numba_type == (other.numba_type if isinstance(other, StructType) else other))

    def __hash__(self) -> int:
        return hash(self.numba_type)

    @property
    def nbytes(self) -> int:
        return self.layout.nbytes

    def __str__(self) -> str:
        return f"{self.name} as {self.layout}"

    __repr__ = __str__


@dataclass(frozen=True)
class ArrayType:
    dtype: ScalarType | RecordType | StructType
    ndim: int
    layout: Layout
    readonly: bool = False
    aligned: bool = True

    @property
    def item(self) -> ScalarType | RecordType:
        """What an item is to the host."""
        return self.dtype.layout if isinstance(self.dtype, StructType) else self.dtype

    def __str__(self) -> str:
        marks = f"{', readonly' if self.readonly else ''}{'' if self.aligned else ', unaligned'}"
        return f"array({self.dtype}, {self.ndim}d, {self.layout}{marks})"

    __repr__ = __str__


@dataclass(frozen=True)
class TupleType:
    items: tuple[ArgType, ...]

    def __str__(self) -> str:
        return f"Tuple({', '.join(map(str, self.items))})"

    __repr__ = __str__


@dataclass(frozen=True)
class ClassRef:
    """A Python class that takes part in typing. Equality is by name, so that keys are stable between processes; `cls`
    is there when the class is at hand, since one defined inside a function cannot be imported."""

    module: str
    qualname: str
    cls: type | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.module}.{self.qualname}"

    __repr__ = __str__


@dataclass(frozen=True)
class NamedTupleType:
    cls: ClassRef
    names: tuple[str, ...]
    items: tuple[ArgType, ...]

    def __str__(self) -> str:
        fields = ", ".join(f"{n}: {t}" for n, t in zip(self.names, self.items, strict=True))
        return f"{self.cls}({fields})"

    __repr__ = __str__


def texts_of_member(member: Any) -> str:
    """What is written for an enum's member by methods of its class, which kernels do when they print it; empty where
    the class has none of its own, so that name and value tell it."""
    methods = (getattr(type(member), name) for name in ("__str__", "__repr__", "__format__"))
    if not any(isinstance(method, FunctionType) and method.__module__ != "enum" for method in methods):
        return ""
    try:
        return f" {str(member)!r} {member!r} {format(member)!r}"
    except Exception as error:  # whatever they raise: a kernel that prints the member is refused with it
        return f" {type(error).__name__}"


@dataclass(frozen=True)
class EnumType:
    """A member of an enum whose values all have type `dtype`, numbers or tuples of them; passed as its value.

    members: names and values, and what the class's own methods write, which kernels can print, as text."""

    cls: ClassRef
    dtype: ScalarType | TupleType
    is_int: bool
    members: str

    @classmethod
    def of(cls, enum_class: Any, dtype: ScalarType | TupleType, is_int: bool) -> EnumType:
        members = ", ".join(
            f"{name}={member.value!r}{texts_of_member(member)}" for name, member in enum_class.__members__.items()
        )
        return cls(ClassRef(enum_class.__module__, enum_class.__qualname__, enum_class), dtype, is_int, members)

    def __str__(self) -> str:
        return f"{'IntEnum' if self.is_int else 'Enum'}({self.cls}[{self.members}]: {self.dtype})"

    __repr__ = __str__


@dataclass(frozen=True)
class NoneArgType:
    def __str__(self) -> str:
        return "none"

    __repr__ = __str__


@dataclass(frozen=True)
class PointerType:
    """The address of numbers or records on the device, as an eager signature can declare it; passed as an integer."""

    item: ScalarType | RecordType

    def __str__(self) -> str:
        return f"{self.item}*"

    __repr__ = __str__


@dataclass(frozen=True)
class OptionalType:
    """A value or None, as an eager signature can declare it; passed as the value and one byte "is valid"."""

    item: ArgType

    def __str__(self) -> str:
        return f"Optional({self.item})"

    __repr__ = __str__


def is_of_one_process(type_: ArgType) -> bool:
    """True for what other processes need not know by the same name, at any depth: users' own types."""
    match type_:
        case ArrayType(dtype=dtype):
            return isinstance(dtype, StructType)
        case TupleType(items=items) | NamedTupleType(items=items):
            return any(map(is_of_one_process, items))
        case OptionalType(item=item):
            return is_of_one_process(item)
    return False


ArgType = Union[
    ScalarType, RecordType, ArrayType, TupleType, NamedTupleType, EnumType, NoneArgType, PointerType, OptionalType
]
