"""Random kernels of integer arithmetic, control flow and barriers, and what Python makes of them. After: test_random.

Values stay small (`% 1009`), so that what is compared is the flow of data and not how numbers overflow.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from numba_gpucore import language

BLOCK = 32
_HEADER = """def kernel(a, b, t):
    s = gpu.shared.array(32, int32)
    l = gpu.local.array(4, int32)
    x = gpu.threadIdx.x
    i = gpu.grid(1)
    v = a[i % a.shape[0]]
    for z in range(4):
        l[z] = z + v % 7
    s[x] = v % 1009
    gpu.syncthreads()
"""
_RANGES = ("range(4)", "range(1, a.shape[0] % 7)", "range(7, 0, -2)", "range(x % 5)", "range(v % 3)")
#: All threads of a block go the same way: these may stand around barriers.
_UNIFORM_RANGES = ("range(3)", "range(a.shape[0] % 6)", "range(2, 0, -1)")


class RandomProgram:
    """One program; `seed` says which. `text`: its source. It takes `a` (int32), `b` (int64) and `t` (4 x int32)."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._loops = 0
        self._names = ["x", "i", "v"]
        phases = [line for _ in range(self._random.randint(1, 3)) for line in self._phases()]
        end = f"    if i < b.shape[0]:\n        b[i] = v + {self._value()} + l[1]\n"
        self.text = _HEADER + "".join(f"    {line}\n" for line in phases) + end
        self.grid = self._random.randint(1, 3)
        self.a = np.array([self._random.randint(-20, 50) for _ in range(self._random.randint(5, 90))], np.int32)

    def _choose(self, *values: str) -> str:
        return self._random.choice(values)

    def _value(self, depth: int = 0) -> str:
        kind = self._random.random()
        if depth > 2 or kind < 0.2:
            return str(self._random.randint(-5, 9))
        one, other = self._value(depth + 1), self._value(depth + 1)
        if kind < 0.45:
            return self._choose(*self._names)
        if kind < 0.55:
            return self._choose("s[x]", "s[(x + 5) % 32]", "s[31 - x]", "s[(x * 3) % 32]")
        if kind < 0.63:
            return self._choose("l[0]", "l[3]", "l[x % 4]", f"l[({one}) % 4]")
        if kind < 0.68:
            return f"a[({one}) % a.shape[0]]"
        if kind < 0.84:
            return f"({one} {self._choose('+', '-', '*')} {other})"
        if kind < 0.9:
            return f"({one} {self._choose('//', '%')} {self._choose('1', '3', '7', '-2', '-5')})"
        if kind < 0.96:
            return f"({one} if {self._condition(depth + 1)} else {other})"
        return f"{self._choose('min', 'max')}({one}, {other})"

    def _condition(self, depth: int = 0) -> str:
        comparison = self._choose("<", "<=", ">", ">=", "==", "!=")
        text = f"{self._value(depth + 1)} {comparison} {self._value(depth + 1)}"
        if self._random.random() < 0.2:
            text = f"{text} {self._choose('and', 'or')} {self._value(depth + 1)} > 2"
        return f"not ({text})" if self._random.random() < 0.1 else text

    def _small(self, more: str = "0") -> str:
        return f"({self._value()} + {more}) % 1009"

    def _statements(self, depth: int = 0, loops: bool = False) -> list[str]:
        lines = []
        for _ in range(self._random.randint(1, 3)):
            kind = self._random.random()
            if kind < 0.3 or depth == 3:
                lines.append(f"v = {self._small('v')}")
            elif kind < 0.45:
                lines.append(f"l[{self._choose('0', 'x % 4', 'v % 4')}] = {self._small()}")
            elif kind < 0.65:
                lines += [f"if {self._condition()}:", *self._inner(depth, loops)]
                if self._random.random() < 0.4:
                    lines += ["else:", *self._inner(depth, loops)]
            elif kind < 0.8:
                name = self._new_name("q")
                lines += [f"for {name} in {self._choose(*_RANGES)}:", *self._inner(depth, True, name)]
            elif kind < 0.88:
                name = self._new_name("w")
                lines += [f"{name} = {self._small()}", f"while {name} > {self._random.randint(1, 20)}:"]
                lines += [f"    {name} //= {self._random.randint(2, 3)}", *self._inner(depth, True, name)]
            elif kind < 0.94 and loops:
                lines += [f"if {self._condition()}:", f"    {self._choose('break', 'continue')}"]
            else:
                lines.append(f"gpu.atomic.add(t, ({self._value()}) % 4, {self._small()})")
        return lines

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
        phase.append("gpu.syncthreads()")
        kind = self._random.random()
        if kind < 0.3:
            phase = [f"for p in {self._choose(*_UNIFORM_RANGES)}:", *(f"    {line}" for line in phase)]
        elif kind < 0.45:
            phase = ["p = 16", "while p > 0:", *(f"    {line}" for line in phase), "    p //= 2"]
        elif kind < 0.55:
            phase = [f"if a[0] > {self._random.randint(-10, 30)}:", *(f"    {line}" for line in phase)]
        leaves = [f"if x > {self._random.randint(10, 31)}:", "    return"] if self._random.random() < 0.15 else []
        return [*phase, *leaves]

    def function(self, filename: str) -> Any:
        """The kernel's Python function."""
        names: dict[str, Any] = {"gpu": language, "int32": np.int32, "__name__": "random_program"}
        exec(compile(self.text, filename, "exec"), names)
        return names["kernel"]

    def run_in_python(self) -> tuple[np.ndarray, np.ndarray]:
        """`b` and `t` as they shall be: thread by thread, each up to the next barrier."""
        place, shared = SimpleNamespace(block=0, thread=0), [0] * BLOCK

        def add(array: np.ndarray, index: int, value: int) -> None:
            array[index] += value

        class ThreadIdx:
            @property
            def x(self) -> int:
                return place.thread

        gpu = SimpleNamespace(
            grid=lambda _ndim: place.block * BLOCK + place.thread,
            threadIdx=ThreadIdx(),
            atomic=SimpleNamespace(add=add),
            shared=SimpleNamespace(array=lambda _shape, _dtype: shared),
            local=SimpleNamespace(array=lambda shape, _dtype: [0] * shape),
        )
        names: dict[str, Any] = {"gpu": gpu, "int32": None}
        exec(self.text.replace("gpu.syncthreads()", "yield"), names)
        a, b, t = self.a.astype(object), np.zeros(self.a.size, np.int64), np.zeros(4, np.int64)
        for place.block in range(self.grid):
            shared[:] = [0] * BLOCK
            running: list[tuple[int, Iterator[None]]] = [(x, names["kernel"](a, b, t)) for x in range(BLOCK)]
            while running:
                waiting = []
                for place.thread, thread in running:
                    if next(thread, thread) is None:
                        waiting.append((place.thread, thread))
                running = waiting
        return b, t
