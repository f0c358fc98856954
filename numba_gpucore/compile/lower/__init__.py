"""How the kernel language becomes device IR, one module a feature. Before: typing. After: target context."""

from numba_gpucore.compile.lower import (  # noqa: F401 (each fills the registry; late_features loads the others)
    array_assignment,
    array_items,
    atomics,
    bfloat16,
    bits,
    coordinates,
    division,
    flat,
    halves,
    integers,
    math,
    membership,
    memory,
    mixed_integers,
    numbers,
    power,
    printing,
    promises,
    reshape,
    rounding,
    synchronisation,
    tuple_items,
    vectors,
    warp,
)
from numba_gpucore.compile.lower.registry import registry, replacements
from numba_gpucore.runtime import methods, numpy_functions  # noqa: F401 (register overloads)

LOWERING_REGISTRIES = (registry,)
REPLACEMENTS = replacements
