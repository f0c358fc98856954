"""What the kernel language means to type inference, one module a feature. Before: language. After: contexts."""

from numba_gpucore.compile.typing import (  # noqa: F401 (each fills the registry; late_features loads the others)
    atomics,
    bfloat16,
    bits,
    coordinates,
    iterators,
    math,
    membership,
    memory,
    mixed_integers,
    numbers,
    printing,
    promises,
    synchronisation,
    vectors,
    warp,
)
from numba_gpucore.compile.typing.registry import registry

TYPING_REGISTRIES = (registry,)
