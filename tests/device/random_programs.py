"""Random kernels of arithmetic, control flow, memory and barriers, and what Python makes of them. After: test_random.

Values stay small (`% 1009`), so that what is compared is the flow of data and not how numbers overflow; what narrow
types and halves do to a number is NumPy's to say.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np

from numba_gpucore import language

BLOCK = 32
_HEADER = """def kernel(a, b, t, u, f):
    s = gpu.shared.array(32, int32)
    h = gpu.shared.array(4, int32)
    l = gpu.local.array(4, int32)
    n = gpu.local.array(3, {narrow})
    x = gpu.threadIdx.x
    i = gpu.grid(1)
    v = a[i % a.shape[0]]
    for z in range(4):
        l[z] = z + v % 7
    for z in range(3):
        n[z] = z - v
    p = (int64(v % 5), int64(x), int64(i))
    y = v > 3
    s[x] = v % 1009
    if x < 4:
        h[x] = 0
    gpu.syncthreads()
"""
_NARROW = ("int8", "uint8", "int16", "uint16")
_CASTS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "bool_")
_RANGES = ("range(4)", "range(1, a.shape[0] % 7)", "range(7, 0, -2)", "range(x % 5)", "range(v % 3)")
#: All threads of a block go the same way: these may stand around barriers.
_UNIFORM_RANGES = ("range(3)", "range(a.shape[0] % 6)", "range(2, 0, -1)")
#: Each on a place of its own, so that the order of the threads does not matter.
_ATOMICS = ("add(t, {small} % 4, {value})", "sub(t, 4, {value})", "max(t, 5, {value})", "min(t, 6, {value})",
            "and_(t, 7, {value})", "or_(t, 8, {value})", "xor(t, 9, {value})", "inc(u, 0, 11)", "dec(u, 1, 6)",
            "add(f, 0, float32({value} % 8))", "max(f, 1, float32({value} % 8))", "min(f, 2, float32({value} % 8))",
            "add(h, {small} % 4, {value})")  # fmt: skip
#: What `t`, `u` and `f` hold at first: of `t[10]` one thread takes the 0 away, which `t[11]` counts.
_FIRST = {"t": ([0] * 7 + [-1, 0, 0, 0, 0], np.int32), "u": ([0, 0], np.uint32), "f": ([0, 0, 0], np.float32)}


class RandomProgram:
    """One program; `seed` says which. `text`: its source. It takes `a` (int32), `b` (int64) and those of _FIRST."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._loops = 0
        self._functions: list[str] = []
        self._names = ["x", "i", "v"]
        self._raises = self._random.random() < 0.2
        phases = [line for _ in range(self._random.randint(1, 3)) for line in self._phases()]
        end = f"    if i < b.shape[0]:\n        b[i] = v + {self._value()} + l[1] + n[2] + h[x % 4]\n"
        header = _HEADER.format(narrow=self._choose(*_NARROW))
        self.text = "".join(self._functions) + header + "".join(f"    {line}\n" for line in phases) + end
        self.grid = self._random.randint(1, 3)
        self.a = np.array([self._random.randint(-20, 50) for _ in range(self._random.randint(5, 90))], np.int32)

    def arguments(self) -> tuple[np.ndarray, ...]:
        """Arrays for a launch, as they are before it."""
        return self.a, np.zeros(self.a.size, np.int64), *(np.array(*first) for first in _FIRST.values())

    def _choose(self, *values: str) -> str:
        return self._random.choice(values)

    def _value(self, depth: int = 0) -> str:
        kind = self._random.random()
        if depth > 2 or kind < 0.2:
            return str(self._random.randint(-5, 9))
        one, other = self._value(depth + 1), self._value(depth + 1)
        if kind < 0.42:
            return self._choose(*self._names)
        if kind < 0.52:
            return self._choose("s[x]", "s[(x + 5) % 32]", "s[31 - x]", "s[(x * 3) % 32]")
        if kind < 0.6:
            return self._choose("l[0]", "l[3]", "l[x % 4]", f"l[({one}) % 4]", "(n[1] % 99)", f"(n[({one}) % 3] % 99)")
        if kind < 0.65:
            return f"a[({one}) % a.shape[0]]"
        if kind < 0.78:
            return f"({one} {self._choose('+', '-', '*')} {other})"
        if kind < 0.83:
            return f"({one} {self._choose('//', '%')} {self._choose('1', '3', '7', '-2', '-5')})"
        if kind < 0.88:
            return f"({one} if {self._condition(depth + 1)} else {other})"
        if kind < 0.93:
            return f"(int64({self._choose(*_CASTS)}({one})) % 1009)"
        return self._rare_value(one, other)

    def _rare_value(self, one: str, other: str) -> str:
        kind = self._random.randrange(6)
        if kind == 0:
            return f"{self._choose('min', 'max')}({one}, {other})"
        if kind == 1:
            return self._choose("p[0]", "p[1]", "p[x % 3]", f"p[({one}) % 3]")
        if kind == 2:
            return f"({one} {self._choose('&', '|', '^')} {other})"
        if kind == 3:
            operator = self._choose("+", "-", "*", "/")
            return f"int64(float16(({one}) % 17) {operator} float16(({other}) % 13 + 1))"
        if kind == 4:
            return f"int64(float32(({one}) % 1009) {self._choose('+', '-', '*')} float32(0.25))"
        return self._call(one, other)

    def _call(self, one: str, other: str) -> str:
        """A call of a device function that returns in several places."""
        if len(self._functions) < 2:
            name = f"g{len(self._functions)}"
            k, m = self._random.randint(2, 5), self._random.randint(-3, 3)
            early = self._choose("j - w", "j * w + 1", "w")
            self._functions.append(
                f"def {name}(u, w):\n    if u % {k} == {m % k}:\n        return u - {m}\n"
                f"    for j in range({k}):\n        if w == j:\n            continue\n"
                f"        if (u + j) % {k + 1} > w % 3:\n            return {early}\n    return w + {m}\n\n\n"
            )
        number = self._random.randrange(len(self._functions))
        return f"g{number}(int64({one}), int64({other}))"

    def _condition(self, depth: int = 0) -> str:
        comparison = self._choose("<", "<=", ">", ">=", "==", "!=")
        text = f"{self._value(depth + 1)} {comparison} {self._value(depth + 1)}"
        if self._random.random() < 0.2:
            text = f"{text} {self._choose('and', 'or')} {self._value(depth + 1)} > 2"
        if self._random.random() < 0.1:
            text = self._choose("y", f"y and {text}", f"not y or {text}")
        return f"not ({text})" if self._random.random() < 0.1 else text

    def _small(self, more: str = "0") -> str:
        return f"({self._value()} + {more}) % 1009"

    def _statements(self, depth: int = 0, loops: bool = False) -> list[str]:
        lines = []
        for _ in range(self._random.randint(1, 3)):
            kind = self._random.random()
            if kind < 0.25 or depth == 3:
                lines.append(f"v = {self._small('v')}")
            elif kind < 0.42:
                lines.append(self._assignment())
            elif kind < 0.62:
                lines += [f"if {self._condition()}:", *self._inner(depth, loops)]
                if self._random.random() < 0.4:
                    lines += ["else:", *self._inner(depth, loops)]
            elif kind < 0.77:
                name = self._new_name("q")
                lines += [f"for {name} in {self._choose(*_RANGES)}:", *self._inner(depth, True, name)]
                if self._random.random() < 0.15:
                    lines += ["else:", *self._inner(depth, loops)]
            elif kind < 0.85:
                name = self._new_name("w")
                lines += [f"{name} = {self._small()}", f"while {name} > {self._random.randint(1, 20)}:"]
                lines += [f"    {name} //= {self._random.randint(2, 3)}", *self._inner(depth, True, name)]
            elif kind < 0.92 and loops:
                lines += [f"if {self._condition()}:", f"    {self._choose('break', 'continue')}"]
            elif kind < 0.94 and self._raises:
                lines += [f"if {self._value()} == {self._random.randint(10, 40)}:", "    raise ValueError('stop')"]
            else:
                lines += self._atomic()
        return lines

    def _assignment(self) -> str:
        kind = self._random.random()
        if kind < 0.5:
            return f"l[{self._choose('0', 'x % 4', 'v % 4')}] = {self._small()}"
        if kind < 0.7:
            return f"n[{self._choose('0', 'x % 3', 'v % 3')}] = {self._value()}"
        if kind < 0.85:
            return f"y = {self._condition()}"
        return f"p = ({self._small()}, {self._small()}, {self._small()})"

    def _atomic(self) -> list[str]:
        if self._random.random() < 0.1:
            return ["if gpu.atomic.cas(t, 10, 0, 1) == 0:", "    gpu.atomic.add(t, 11, 1)"]
        call = self._choose(*_ATOMICS).format(small=f"({self._value()})", value=self._small())
        return [f"gpu.atomic.{call}"]

    def _inner(self, depth: int, loops: bool, name: str = "") -> list[str]:
        self._names += [name] if name else []
        lines = [f"    {line}" for line in self._statements(depth + 1, loops)]
        self._names = [known for known in self._names if known != name]
        return lines

    def _new_name(self, letter: str) -> str:
        self._loops += 1
        return f"{letter}{self._loops}"

    def _phases(self) -> list[str]:
        """Work between barriers, perhaps several times, perhaps without the last threads."""
        phase = [*self._statements(), "gpu.syncthreads()"]
        if self._random.random() < 0.4:
            phase += [f"if {self._choose('x', 'i')} % {self._random.randint(2, 3)} == 0:", "    s[x] = v"]
        else:
            phase.append("s[x] = v")
        if self._random.random() < 0.3:
            phase.append("v = (v + h[x % 4]) % 1009")
        phase.append("gpu.syncthreads()")
        kind = self._random.random()
        if kind < 0.3:
            phase = [f"for z in {self._choose(*_UNIFORM_RANGES)}:", *(f"    {line}" for line in phase)]
        elif kind < 0.45:
            phase = ["z = 16", "while z > 0:", *(f"    {line}" for line in phase), "    z //= 2"]
        elif kind < 0.55:
            phase = [f"if a[0] > {self._random.randint(-10, 30)}:", *(f"    {line}" for line in phase)]
        leaves = [f"if x > {self._random.randint(10, 31)}:", "    return"] if self._random.random() < 0.15 else []
        return [*phase, *leaves]

    def function(self, filename: str) -> Any:
        """The kernel's Python function."""
        names: dict[str, Any] = {"gpu": language, "__name__": "random_program", **_TYPES}
        exec(compile(self.text, filename, "exec"), names)
        for number in range(len(self._functions)):
            names[f"g{number}"] = numba.njit(names[f"g{number}"])
        return names["kernel"]

    def run_in_python(self) -> tuple[np.ndarray, ...] | None:
        """The arrays of `arguments` but `a` as they shall be: thread by thread, each up to the next barrier. None if
        one raises."""
        place, shared = SimpleNamespace(block=0, thread=0), {32: [0] * BLOCK, 4: [0] * 4}

        class ThreadIdx:
            @property
            def x(self) -> int:
                return place.thread

        gpu = SimpleNamespace(
            grid=lambda _ndim: place.block * BLOCK + place.thread,
            threadIdx=ThreadIdx(),
            atomic=_ATOMICS_IN_PYTHON,
            shared=SimpleNamespace(array=lambda shape, _dtype: shared[shape]),
            local=SimpleNamespace(array=_WrappingList),
        )
        names: dict[str, Any] = {"gpu": gpu, **_CASTS_IN_PYTHON}
        exec(self.text.replace("gpu.syncthreads()", "yield"), names)
        a, *results = self.arguments()
        arrays = [array.tolist() for array in results]
        sized = [_Sized(a.tolist()), _Sized(arrays[0]), *arrays[1:]]
        for place.block in range(self.grid):
            running: list[tuple[int, Iterator[None]]] = [(x, names["kernel"](*sized)) for x in range(BLOCK)]
            while running:
                waiting = []
                for place.thread, thread in running:
                    try:
                        if next(thread, thread) is None:
                            waiting.append((place.thread, thread))
                    except ValueError:
                        return None
                running = waiting
        return tuple(np.array(got, array.dtype) for got, array in zip([sized[1], *arrays[1:]], results, strict=True))


_TYPES: dict[str, Any] = {name: getattr(np, name) for name in {*_CASTS, *_NARROW, "int64", "float16", "float32"}}


def _wrapping_cast(type_: type) -> Callable[[Any], int]:
    return lambda number: int(np.array(int(number), np.int64).astype(type_))


_CASTS_IN_PYTHON: dict[str, Any] = {
    **{name: _wrapping_cast(_TYPES[name]) for name in (*_CASTS, *_NARROW)},
    "int64": int,
    "float16": np.float16,
    "float32": np.float32,
}


class _WrappingList(list[int]):
    """A local array: what is stored is cut to its type."""

    def __init__(self, shape: int, cast: Callable[[Any], int]) -> None:
        super().__init__([0] * shape)
        self._cast = cast

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, self._cast(value))


class _Sized(list[int]):
    @property
    def shape(self) -> tuple[int]:
        return (len(self),)


def _atomic(operation: Callable[[Any, Any], Any]) -> Callable[[list[Any], int, Any], Any]:
    def apply(array: list[Any], index: int, value: Any) -> Any:
        old = array[index]
        array[index] = operation(old, value)
        return old

    return apply


def _compare_and_swap(array: list[int], index: int, expected: int, wanted: int) -> int:
    old = array[index]
    array[index] = wanted if old == expected else old
    return old


_ATOMICS_IN_PYTHON = SimpleNamespace(
    add=_atomic(lambda old, value: old + value),
    sub=_atomic(lambda old, value: old - value),
    max=_atomic(max),
    min=_atomic(min),
    and_=_atomic(lambda old, value: old & value),
    or_=_atomic(lambda old, value: old | value),
    xor=_atomic(lambda old, value: old ^ value),
    inc=_atomic(lambda old, limit: 0 if old >= limit else old + 1),
    dec=_atomic(lambda old, limit: limit if old == 0 or old > limit else old - 1),
    cas=_compare_and_swap,
)
