"""Arguments on which functions are measured. Before: functions. After: levels, references.

Numbers come from everywhere: bit patterns at equal distances, so that each binade has as many as any other, besides
the places where functions are known to be difficult. Functions of which most arguments overflow, and functions of two
numbers, get half of their arguments from an interval of their own.
"""

from __future__ import annotations

import numpy as np

#: 16 bits are all tried. Counts for float32 and float64: those of docs/math.md.
COUNTS = {np.dtype(np.float16): 2**16, np.dtype(np.float32): 2**22, np.dtype(np.float64): 2**14}
_SEED = 20261


def edges(dtype: np.dtype) -> np.ndarray:
    """Zeros, infinities, NaN, the ends of the range, whole and half numbers, multiples of pi/4 and their neighbours."""
    info = np.finfo(dtype)
    tiny, least, largest = (float(v) for v in (info.tiny, info.smallest_subnormal, info.max))
    whole = np.arange(1, 41) / 2
    angles = np.arange(1, 65) * (np.pi / 4)
    plain = np.concatenate([[tiny, least, largest, 3 * least, tiny * 1.5], whole, angles, 2.0 ** np.arange(-14, 15)])
    near = plain.astype(dtype)
    with np.errstate(over="ignore"):
        near = np.concatenate([near, np.nextafter(near, dtype.type(0)), np.nextafter(near, dtype.type(np.inf))])
    return np.concatenate([near, -near, np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)])


def every_range(dtype: np.dtype, count: int, rng: np.random.Generator) -> np.ndarray:
    """`count` bit patterns (a power of two), one drawn from each of as many equal parts of all patterns."""
    bits = dtype.itemsize * 8
    unsigned = np.dtype(f"u{dtype.itemsize}")
    step = 2**bits // count
    starts = np.arange(count, dtype=np.uint64) * np.uint64(step)
    return (starts + rng.integers(0, step, count, np.uint64)).astype(unsigned).view(dtype)


def interval(low: float, high: float, dtype: np.dtype, count: int, rng: np.random.Generator) -> np.ndarray:
    """Half of them evenly, half by orders of magnitude towards zero."""
    even = rng.uniform(low, high, count - count // 2)
    sign = np.where(rng.random(count // 2) < max(high, 0) / (max(high, 0) - min(low, 0)), max(high, 0), min(low, 0))
    towards_zero = sign * 2.0 ** rng.uniform(-30, 0, count // 2)
    inside = np.clip(towards_zero, low, high)
    return np.concatenate([even, inside]).astype(dtype)


def arguments(
    dtype: np.dtype, arity: int, busy: tuple[tuple[float, float], ...], count: int | None = None
) -> tuple[np.ndarray, ...]:
    """`arity` arrays of one length. busy: the interval of each argument. count: about how many, a power of two."""
    rng = np.random.default_rng(_SEED)
    count = count or COUNTS[dtype]
    if arity == 1:
        if dtype == np.float16:
            return (np.arange(2**16, dtype=np.uint16).view(np.float16),)
        parts = [every_range(dtype, count, rng), interval(*busy[0], dtype, count // 4, rng), edges(dtype)]
        return (np.concatenate(parts),)
    corners = edges(dtype)
    columns = []
    for place in range(arity):
        anywhere = rng.permutation(every_range(dtype, count // 2, rng))
        inside = interval(*busy[place], dtype, count // 2, rng)
        columns.append(np.concatenate([anywhere, rng.permutation(inside), rng.permutation(corners), corners]))
    return tuple(columns)
