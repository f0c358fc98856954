"""What a kernel's result depends on, as one digest. Before: kernel. After: the cache key.

Follows everything that the bytecode can reach: constants, defaults, closure, globals along the attribute chains that
are read, and the same of every callee in any file. Only content that is equal in every process goes in: never
`marshal`, `repr` of unknown objects, ids, paths or absolute lines.

Not reachable from bytecode are bodies of users' `@overload`s and `@intrinsic`s. The compile half reports those by
module; whose functions they are, and which modules have overloads of them, goes in here.
"""

from __future__ import annotations

import builtins
import dis
import enum
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from numba_gpucore.array_interface import is_foreign_array
from numba_gpucore.base.argtypes import texts_of_member
from numba_gpucore.base.digest import blake2b
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.records import dataclass, field
from numba_gpucore.base.versions import KNOWN_PACKAGES, VERSIONED_PACKAGES
from numba_gpucore.launch.registered_overloads import RegisteredOverloads, name_of_module

_ATTRIBUTE_READS = frozenset({"LOAD_ATTR", "LOAD_METHOD"})


@dataclass(frozen=True)
class Fingerprint:
    """`digest` is None when the kernel cannot be cached; `obstacle` then says which object stands in the way.

    functions: the Python functions that were reached, the kernel first, for the lines of exceptions.
    """

    digest: str | None
    obstacle: str = ""
    functions: tuple[Callable[..., Any], ...] = field(default=(), compare=False, repr=False)


class _UnknownObject(Exception):
    """An object whose content cannot be told; the text names it."""


def take_fingerprint(py_func: Callable[..., Any], overloads: RegisteredOverloads | None = None) -> Fingerprint:
    """The fingerprint of a Python function and of all that it reaches. overloads: what the caller keeps of them from
    kernel to kernel, which is brought up to date."""
    overloads = overloads or RegisteredOverloads()
    overloads.refresh()
    encoder = _Encoder(overloads)
    encoder.add_overloads(overloads.modules_before_numba)
    try:
        encoder.add_function(py_func)
    except _UnknownObject as unknown:
        return Fingerprint(None, str(unknown))
    return Fingerprint(encoder.hexdigest(), functions=tuple(encoder.functions))


class _Encoder:
    """Feeds a prefix-free encoding of Python objects to a hash: a tag, a length, then the content."""

    def __init__(self, overloads: RegisteredOverloads) -> None:
        self._hash = blake2b(digest_size=20)
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        self._overloads = overloads
        self.functions: list[Callable[..., Any]] = []

    def hexdigest(self) -> str:
        return self._hash.hexdigest()

    def _put(self, tag: str, content: str | bytes = b"") -> None:
        data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        self._hash.update(f"{tag} {len(data)}:".encode())
        self._hash.update(data)

    def _is_repeated(self, obj: Any) -> bool:
        """True for an object met before, after a reference to it has been put: ends cycles."""
        number = self._numbers.get(id(obj))
        if number is not None:
            self._put("again", str(number))
            return True
        self._numbers[id(obj)] = len(self._numbers)
        self._kept.append(obj)
        return False

    def add_function(self, function: Callable[..., Any]) -> None:
        function = getattr(function, "py_func", function)
        if self._is_repeated(function):
            return
        self.functions.append(function)
        self._put("function", function.__qualname__)
        self._add_code(function.__code__)
        self.add(function.__defaults__, function.__qualname__)
        self.add(tuple(sorted((function.__kwdefaults__ or {}).items())), function.__qualname__)
        cells = dict(zip(function.__code__.co_freevars, map(_cell_contents, function.__closure__ or ()), strict=True))
        for name, value in cells.items():
            self._put("cell", name)
            self.add_overloads(self._overloads.modules_of(value))
            # What is read of a module comes below.
            self.add(value.__name__ if isinstance(value, types.ModuleType) else value, name)
        for chain, value in _names_read(function.__code__, function.__globals__, cells):
            self._put("global", ".".join(chain))
            self.add_overloads(self._overloads.modules_of(value))
            self.add(value, ".".join(chain))

    def add_overloads(self, modules: list[str]) -> None:
        # Nothing where there are none, as where Numba is not loaded.
        if modules:
            self._put("overloads", "\0".join(modules))

    def _add_code(self, code: types.CodeType) -> None:
        self._put("code", code.co_code)
        self._put("handlers", getattr(code, "co_exceptiontable", b""))  # from Python 3.11 on
        shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        self._put("shape", str(shape))
        for group in names:
            self._put("names", "\0".join(group))
        self.add_overloads(self._overloads.modules_of_attributes(code.co_names))
        # Relative lines are part of the program: exceptions and comments show them.
        lines = ",".join(f"{start}:{(line or 0) - code.co_firstlineno}" for start, _end, line in code.co_lines())
        self._put("lines", lines)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._add_code(constant)
            else:
                self.add(constant, "a constant")

    def add(self, value: Any, name: str) -> None:
        """Encode any object that a kernel can mention. `name` says what it is called where it was found."""
        for add in (self._add_plain, self._add_container, self._add_numpy, self._add_named):
            if add(value, name):
                return
        raise _UnknownObject(
            f"'{name}' is a {type(value).__module__}.{type(value).__qualname__}, whose content is unknown"
        )

    def _add_plain(self, value: Any, name: str) -> bool:
        kind = type(value)
        if value is None or value is Ellipsis or value is _EMPTY_CELL:
            self._put("unit", str(value))
        elif kind in (bool, int):
            self._put(kind.__name__, str(value))
        elif kind is float:
            self._put("float", value.hex())
        elif kind is complex:
            self._put("complex", f"{value.real.hex()},{value.imag.hex()}")
        elif kind is str:
            self._put("str", value)
        elif kind in (bytes, bytearray):
            self._put(kind.__name__, bytes(value))
        else:
            return False
        return True

    def _add_container(self, value: Any, name: str) -> bool:
        kind = type(value)
        if kind in (frozenset, set):
            digests = sorted(self._digest_alone(item, name) for item in value)
            self._put("set", b"".join(digests))
        elif isinstance(value, (tuple, list, dict)):
            # Equal tuples are one object in one process and several in another, to which the function was sent.
            if not isinstance(value, tuple) and self._is_repeated(value):
                return True
            self._put(f"{kind.__module__}.{kind.__qualname__}", str(len(value)))
            fields = getattr(kind, "_fields", ())
            self._put("fields", "\0".join(map(str, fields)))
            for item in value.items() if isinstance(value, dict) else value:
                self.add(item, name)
        elif isinstance(value, (slice, range)):
            self._put(kind.__name__)
            self.add((value.start, value.stop, value.step), name)
        else:
            return False
        return True

    def _digest_alone(self, value: Any, name: str) -> bytes:
        encoder = _Encoder(self._overloads)
        encoder.add(value, name)
        return encoder._hash.digest()

    def _add_numpy(self, value: Any, name: str) -> bool:
        if isinstance(value, enum.Enum):
            self._put("member", f"{type(value).__module__}.{type(value).__qualname__}.{value.name}")
            self._put("texts", texts_of_member(value))
            self.add(value.value, name)
        elif isinstance(value, np.dtype):
            self._put("dtype", _dtype_text(value))
        elif isinstance(value, np.generic):
            self._put("scalar", _dtype_text(value.dtype))
            self._put("bytes", value.tobytes())
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            order = f"{value.flags.f_contiguous}{value.flags.c_contiguous}"
            self._put("array", f"{type(value).__name__} {_dtype_text(value.dtype)}{value.shape}{order}")
            self._put("bytes", value.tobytes(order="A"))
        elif is_foreign_array(value) and not isinstance(value, type):
            raise _UnknownObject(f"'{name}' is a device array, whose address is that of this process")
        elif isinstance(value, np.ufunc) and getattr(np, name := value.__name__, None) is value:
            self._put("ufunc", name)
        else:
            return False
        return True

    def _add_named(self, value: Any, name: str) -> bool:
        if isinstance(value, types.ModuleType):
            if _package_of(value.__name__) not in KNOWN_PACKAGES:
                raise _UnknownObject(f"'{name}' is a module, of which only attributes that are read by name are known")
            self._put("module", value.__name__)
        elif isinstance(value, type):
            self._add_class(value, name)
        elif isinstance(getattr(value, "py_func", None), types.FunctionType):
            self._add_options(value)
            self.add_function(value)
        elif isinstance(value, types.FunctionType):
            # Named, not followed: the cache key holds the packages' versions.
            if _package_of(value.__module__) in VERSIONED_PACKAGES:
                self._put("known", f"{value.__module__}.{value.__qualname__}")
            else:
                # It means what overloads of it say, which cannot be seen here: one of another module is another.
                self._put("module", _module_of(value))
                self.add_function(value)
        elif isinstance(value, (types.BuiltinFunctionType, types.MethodDescriptorType)):
            self._put("builtin", f"{value.__module__}.{value.__qualname__}")
        elif _is_known_by_name(value):
            # NumPy's functions are objects of many kinds: `numpy.max` is no function, to Python.
            self._put("known", f"{value.__module__}.{value.__qualname__}")
        elif _package_of(type(value).__module__) in VERSIONED_PACKAGES - {"numpy"}:
            # Numba's types and our kernel-language objects: their texts say all that they hold.
            self._put("known", f"{type(value).__module__}.{type(value).__qualname__} {value}")
            definition = getattr(value, "_defn", None)  # of an intrinsic, whose text is its name
            if isinstance(definition, types.FunctionType):
                self._put("module", f"{_module_of(definition)}.{definition.__qualname__}")
        else:
            return False
        return True

    def _add_options(self, function: Any) -> None:
        """Options of a decorated function, ours or Numba's."""
        options = getattr(function, "options", None)
        if isinstance(options, KernelOptions):
            self._put("options", str(options))
            return
        # Sets of fast-math flags, functions that decide about inlining, types of variables.
        options = {**getattr(function, "targetoptions", {}), "locals": getattr(function, "locals", {})}
        self.add(tuple(sorted(options.items())), f"options of {function.py_func.__qualname__}")

    def _add_class(self, cls: type, name: str) -> None:
        self._put("class", f"{cls.__module__}.{cls.__qualname__}")
        if issubclass(cls, enum.Enum) and not self._is_repeated(cls):
            for member in cls:
                self.add(member, name)
        self._put("fields", "\0".join(map(str, getattr(cls, "_fields", ()))))


def _package_of(module: str | None) -> str:
    return (module or "").partition(".")[0]


def _module_of(function: types.FunctionType) -> str:
    return name_of_module(function.__module__ or "")


def _is_known_by_name(value: Any) -> bool:
    """True for what one of the versioned packages offers under the name that it has itself."""
    module_name, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module_name, str) or not isinstance(name, str) or "." in name:
        return False
    module = sys.modules.get(module_name)
    return _package_of(module_name) in VERSIONED_PACKAGES and getattr(module, name, None) is value


class _EmptyCell:
    def __repr__(self) -> str:
        return "empty cell"


_EMPTY_CELL = _EmptyCell()


def _cell_contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY_CELL


def _dtype_text(dtype: np.dtype[Any]) -> str:
    """A text that differs for dtypes that differ: `dtype.str` is "|V8" for many of 8 bytes, and NumPy's `descr` is not
    defined for all."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return f"{_dtype_text(base)}{shape}"
    if dtype.names is None or dtype.fields is None:
        return f"{dtype.str} {dtype.name}"
    fields = [f"{name!r} {dtype.fields[name][1]} {_dtype_text(dtype.fields[name][0])}" for name in dtype.names]
    return f"({', '.join(fields)}; {dtype.itemsize} {dtype.isalignedstruct})"


def _names_read(
    code: types.CodeType, namespace: dict[str, Any], cells: dict[str, Any]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """(names of an attribute chain, its value) for every global that the code reads, and every module in a cell.

    Chains are followed through modules only, since attributes of other objects are theirs to encode. Names that do not
    exist are left out: typing will complain. Nested functions are included.
    """
    seen: set[tuple[str, ...]] = set()
    # What carries a large argument of the next instruction would part a name from its attributes.
    instructions = [one for one in dis.get_instructions(code) if one.opname != "EXTENDED_ARG"]
    for position, instruction in enumerate(instructions):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            value = namespace.get(instruction.argval, getattr(builtins, instruction.argval, None))
        elif instruction.opname == "LOAD_DEREF" and isinstance(cells.get(instruction.argval), types.ModuleType):
            value = cells[instruction.argval]
        else:
            continue
        chain = [instruction.argval]
        for following in map(instructions.__getitem__, range(position + 1, len(instructions))):
            if not isinstance(value, types.ModuleType) or following.opname not in _ATTRIBUTE_READS:
                break
            chain.append(following.argval)
            value = getattr(value, following.argval, None)
        if tuple(chain) not in seen:
            seen.add(tuple(chain))
            yield tuple(chain), value
    visible = {name: value for name, value in cells.items() if name not in code.co_cellvars}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_read(constant, namespace, visible)
