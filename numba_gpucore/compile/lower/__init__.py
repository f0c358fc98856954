"""How the kernel language becomes device IR, one module a feature. Before: typing. After: target context."""

from numba_gpucore.compile.lower import (  # noqa: F401 (each fills the registry)
    atomics,
    bits,
    coordinates,
    division,
    math,
    memory,
    power,
    rounding,
    synchronisation,
    ufuncs,
    warp,
)
from numba_gpucore.compile.lower.registry import registry
from numba_gpucore.runtime import integer_methods  # noqa: F401 (registers overloads)

LOWERING_REGISTRIES = (registry,)
