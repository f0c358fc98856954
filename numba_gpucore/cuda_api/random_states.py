"""States of xoroshiro128+ generators, made on the host. Before: the user's seed. After: random, which kernels use.

A generator's state is 128 bits, and every step maps it linearly over GF(2) (Blackman and Vigna, "Scrambled Linear
Pseudorandom Number Generators", 2021). State i + 1 lies 2**64 steps, one jump, behind state i: with m states known,
the next m are their images under the m-th power of the jump. So all arrays of `n` states take log2(n) array
operations, where jumping from each to the next takes 128 steps a state.
"""

from __future__ import annotations

import numpy as np

#: `states[i]["s0"]`, `states[i]["s1"]`: numba.cuda.random.xoroshiro128p_dtype.
STATE_DTYPE = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)

#: Words of the jump polynomial for shifts 55, 14, 36. Source: prng.di.unimi.it/xoroshiro128plus.c of 2016, the
#: generator's parameters in numba.cuda.
JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)
_MASK = 2**64 - 1
_BYTES = 16


def seed_state(seed: int) -> tuple[int, int]:
    """The words of the state that numba.cuda makes of a 64-bit seed: one step of SplitMix64, twice the same word.

    Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014 (variant 13 of its mixer).
    """
    z = (seed + 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    z ^= z >> 31
    return z, z


def make_states(count: int, seed: int, subsequence_start: int = 0) -> np.ndarray:
    """`count` states, shape (count,), dtype STATE_DTYPE: jumps `subsequence_start`, `subsequence_start` + 1, … of the
    state for `seed`. Seed and start are taken modulo 2**64."""
    words = np.array([seed_state(int(seed) & _MASK)], np.uint64)
    power = _jump_of_unit_states()
    start = int(subsequence_start) & _MASK
    step = power
    while start:
        if start & 1:
            words = _apply(step, words)
        start >>= 1
        step = _apply(step, step) if start else step
    while len(words) < count:
        words = np.concatenate([words, _apply(power, words[: count - len(words)])])
        power = _apply(power, power)
    states = np.empty(count, STATE_DTYPE)
    states["s0"], states["s1"] = words[:count].T
    return states


def _jump_of_unit_states() -> np.ndarray:
    """The images of the 128 states with one bit set under one jump, shape (128, 2), lowest bit of s0 first."""
    bits = np.uint64(1) << np.arange(64, dtype=np.uint64)
    s0, s1 = np.concatenate([bits, np.zeros(64, np.uint64)]), np.concatenate([np.zeros(64, np.uint64), bits])
    image = np.zeros((128, 2), np.uint64)
    for word in JUMP:
        for bit in range(64):
            if word >> bit & 1:
                image[:, 0] ^= s0
                image[:, 1] ^= s1
            s1 = s1 ^ s0
            s0, s1 = _rotate_left(s0, 55) ^ s1 ^ (s1 << np.uint64(14)), _rotate_left(s1, 36)
    return image


def _rotate_left(words: np.ndarray, count: int) -> np.ndarray:
    return (words << np.uint64(count)) | (words >> np.uint64(64 - count))


def _apply(matrix: np.ndarray, words: np.ndarray) -> np.ndarray:
    """The image of states, shape (n, 2), under the linear map that takes unit state i to matrix[i], a table lookup for
    each byte of a state."""
    # Row k of the table of a byte is the sum of the matrix's rows at the set bits of k.
    tables = np.zeros((_BYTES, 256, 2), np.uint64)
    rows = matrix.reshape(_BYTES, 8, 2)
    for bit in range(8):
        tables[:, 1 << bit : 2 << bit] = tables[:, : 1 << bit] ^ rows[:, bit : bit + 1]
    image = np.zeros_like(words)
    for byte in range(_BYTES):
        column, shift = divmod(byte, 8)
        values = (words[:, column] >> np.uint64(8 * shift)) & np.uint64(255)
        image ^= tables[byte][values.astype(np.intp)]
    return image
