"""numba.cuda.launchconfig: the launch that a kernel is being compiled for. Before: session. After: users' rewrites."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from numba_gpucore.launch.launch_config import LaunchDescription
from numba_gpucore.launch.session import default_session


def current_launch_config() -> LaunchDescription | None:
    """The launch that this thread is compiling for, or None."""
    return default_session().compiling.current


def ensure_current_launch_config() -> LaunchDescription:
    """The same. Raises RuntimeError where there is none."""
    current = current_launch_config()
    if current is None:
        raise RuntimeError(
            "No launch config set for this thread: a kernel is compiled for one only while it is launched"
        )
    return current


@contextmanager
def capture_compile_config(dispatcher: Any) -> Iterator[dict[str, LaunchDescription | None]]:
    """A `with` block in which {"config": …} becomes the launch that compiles the kernel; None if none does."""
    if dispatcher is None:
        raise TypeError("dispatcher is required")
    record: dict[str, LaunchDescription | None] = {"config": None}
    compile_for_args = dispatcher._compile_for_args

    @functools.wraps(compile_for_args)
    def note_and_compile(*args: Any) -> Any:
        record["config"] = current_launch_config()
        return compile_for_args(*args)

    is_own = "_compile_for_args" in vars(dispatcher)
    dispatcher._compile_for_args = note_and_compile
    try:
        yield record
    finally:
        if is_own:
            dispatcher._compile_for_args = compile_for_args
        else:
            del dispatcher._compile_for_args


def module_names(package: ModuleType) -> Mapping[str, Any]:
    """The module's names."""
    return {
        "current_launch_config": current_launch_config,
        "ensure_current_launch_config": ensure_current_launch_config,
        "capture_compile_config": capture_compile_config,
    }
