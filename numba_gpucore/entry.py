"""Numba's entry point `numba_extensions`. Before: Numba, when it first compiles. After: compile.targets.

Only registers names; our compiler is loaded when a program asks for it.
"""


def init() -> None:
    """Called by Numba once a process."""
    from numba_gpucore.compile.targets import register_targets  # noqa: PLC0415  a door to the compile half
    from numba_gpucore.cuda_api.ufunc_targets import register_when_numba_loads  # noqa: PLC0415  the same

    register_targets()
    register_when_numba_loads()
