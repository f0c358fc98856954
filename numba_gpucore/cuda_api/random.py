"""numba.cuda.random: xoroshiro128+ generators, one state a thread. Before: random_states. After: kernels call them.

The stream of numbers is numba.cuda's, bit for bit for the integers and uniform numbers; normal ones depend on the
device's `log` and `cos`. Functions take `states` (1-D, dtype `xoroshiro128p_dtype`) and the index of the state that
they use and advance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from numba_gpucore.cuda_api.random_states import JUMP, STATE_DTYPE, make_states
from numba_gpucore.dtypes import float32, float64, int64, uint32, uint64
from numba_gpucore.launch.device_function import library_function

xoroshiro128p_dtype = STATE_DTYPE
TWO_PI_FLOAT32 = np.float32(2 * math.pi)
TWO_PI_FLOAT64 = np.float64(2 * math.pi)
_JUMP_LOW, _JUMP_HIGH = map(np.uint64, JUMP)
_PUBLIC = (
    "xoroshiro128p_dtype", "init_xoroshiro128p_state", "rotl", "xoroshiro128p_next", "xoroshiro128p_jump",
    "uint64_to_unit_float64", "uint64_to_unit_float32", "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64", "TWO_PI_FLOAT32", "TWO_PI_FLOAT64", "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64", "init_xoroshiro128p_states_cpu", "init_xoroshiro128p_states",
)  # fmt: skip


@library_function
def init_xoroshiro128p_state(states, index, seed):
    """Make states[index] what the 64-bit `seed` stands for, by SplitMix64."""
    z = uint64(seed) + uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> uint32(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint32(27))) * uint64(0x94D049BB133111EB)
    z = z ^ (z >> uint32(31))
    states[int64(index)]["s0"] = z
    states[int64(index)]["s1"] = z


@library_function
def rotl(x, k):
    """The bits of `x` (uint64) rotated left by `k`, 1 to 63."""
    return (uint64(x) << uint32(k)) | (uint64(x) >> uint32(64 - k))


@library_function
def xoroshiro128p_next(states, index):
    """The next 64 random bits, uint64."""
    at = int64(index)
    s0 = states[at]["s0"]
    s1 = states[at]["s1"]
    result = s0 + s1
    s1 ^= s0
    states[at]["s0"] = rotl(s0, 55) ^ s1 ^ (s1 << uint32(14))
    states[at]["s1"] = rotl(s1, 36)
    return result


@library_function
def xoroshiro128p_jump(states, index):
    """Advance the generator by 2**64 numbers."""
    at = int64(index)
    s0 = uint64(0)
    s1 = uint64(0)
    for word in (_JUMP_LOW, _JUMP_HIGH):
        for bit in range(64):
            if word & (uint64(1) << uint32(bit)):
                s0 ^= states[at]["s0"]
                s1 ^= states[at]["s1"]
            xoroshiro128p_next(states, at)
    states[at]["s0"] = s0
    states[at]["s1"] = s1


@library_function
def uint64_to_unit_float64(x):
    """The upper 53 bits of `x` as a float64 in [0, 1)."""
    return float64(uint64(x) >> uint32(11)) * float64(2.0**-53)


@library_function
def uint64_to_unit_float32(x):
    """The upper 53 bits of `x` as the nearest float32, in [0, 1].

    numba.cuda rounds the float64 of `uint64_to_unit_float64`. That number is exact and scaled by a power of two, so
    rounding the integer gives the same bits, and needs no float64.
    """
    return float32(uint64(x) >> uint32(11)) * float32(2.0**-53)


@library_function
def xoroshiro128p_uniform_float32(states, index):
    """A float32, uniform in [0, 1]."""
    return uint64_to_unit_float32(xoroshiro128p_next(states, index))


@library_function
def xoroshiro128p_uniform_float64(states, index):
    """A float64, uniform in [0, 1)."""
    return uint64_to_unit_float64(xoroshiro128p_next(states, index))


@library_function
def xoroshiro128p_normal_float32(states, index):
    """A float32 with mean 0 and standard deviation 1, by the Box-Muller transform; takes two steps."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(-float32(2.0) * math.log(u1)) * math.cos(TWO_PI_FLOAT32 * u2)


@library_function
def xoroshiro128p_normal_float64(states, index):
    """A float64 with mean 0 and standard deviation 1, of two uniform float32 and the float32 logarithm of the first, as
    in numba.cuda; takes two steps."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(-float64(2.0) * math.log(u1)) * math.cos(TWO_PI_FLOAT64 * u2)


def init_xoroshiro128p_states(states: Any, seed: int, subsequence_start: int = 0, stream: Any = 0) -> None:
    """Fill a device array, shape (n,) and dtype xoroshiro128p_dtype, with states 2**64 numbers apart, the first one
    `subsequence_start` times that from the state for `seed`."""
    states.copy_to_device(make_states(states.shape[0], seed, subsequence_start), stream=stream)


def init_xoroshiro128p_states_cpu(states: np.ndarray, seed: int, subsequence_start: int) -> None:
    """`init_xoroshiro128p_states` for a host array."""
    states[:] = make_states(states.shape[0], seed, subsequence_start)


def module_names(package: ModuleType) -> Mapping[str, Any]:
    """The module's names, for the device of `package`."""

    def create_xoroshiro128p_states(n: int, seed: int, subsequence_start: int = 0, stream: Any = 0) -> Any:
        """A new device array of `n` states, as `init_xoroshiro128p_states` fills it."""
        states = package.device_array(n, dtype=xoroshiro128p_dtype, stream=stream)
        init_xoroshiro128p_states(states, seed, subsequence_start, stream)
        return states

    own = {name: globals()[name] for name in _PUBLIC}
    return {**own, "create_xoroshiro128p_states": create_xoroshiro128p_states}
