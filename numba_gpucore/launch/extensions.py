"""Argument handlers: user code that turns its objects into what kernels take. Before: Kernel.launch. After: signature.

numba.cuda's protocol: `handler.prepare_args(numba_type, value, stream, retr) -> (numba_type, value)`, the last handler
first; functions appended to `retr` run after the launch. Types are Numba's, so kernels with handlers load it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numba_gpucore.launch import miss
from numba_gpucore.launch.streams import Stream


def prepare_arguments(
    extensions: Sequence[Any], args: tuple[Any, ...], stream: Stream | None
) -> tuple[tuple[Any, ...], list[Callable[[], Any]]]:
    """Arguments after all handlers, and what they want done after the launch."""
    after: list[Callable[[], Any]] = []
    prepared = []
    for value in args:
        numba_type = miss.numba_type_of_value(value)
        for extension in reversed(extensions):
            numba_type, value = extension.prepare_args(numba_type, value, stream=stream or 0, retr=after)
        prepared.append(value)
    return tuple(prepared), after
