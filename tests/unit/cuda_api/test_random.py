"""numba.cuda.random against a direct transcription of the published generators, in Python's integers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

import numba_ptxplus
from numba_gpucore.cuda_api.random_states import STATE_DTYPE, make_states

random = numba_ptxplus.random
MASK = 2**64 - 1


def rotate_left(x: int, k: int) -> int:
    return ((x << k) | (x >> (64 - k))) & MASK


def splitmix64(seed: int) -> int:
    """prng.di.unimi.it/splitmix64.c"""
    z = (seed + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def step(state: tuple[int, int]) -> tuple[int, tuple[int, int]]:
    """prng.di.unimi.it/xoroshiro128plus.c, version of 2016: result and next state."""
    s0, s1 = state
    result = (s0 + s1) & MASK
    s1 ^= s0
    return result, (rotate_left(s0, 55) ^ s1 ^ ((s1 << 14) & MASK), rotate_left(s1, 36))


def jump(state: tuple[int, int]) -> tuple[int, int]:
    s0 = s1 = 0
    for word in (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922):
        for bit in range(64):
            if word >> bit & 1:
                s0, s1 = s0 ^ state[0], s1 ^ state[1]
            _, state = step(state)
    return s0, s1


def states_one_by_one(seed: int) -> Iterator[tuple[int, int]]:
    state = (splitmix64(seed & MASK),) * 2
    while True:
        yield state
        state = jump(state)


def as_tuples(states: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(map(int, state)) for state in states]


@pytest.mark.parametrize(("count", "start"), [(0, 0), (1, 0), (1, 3), (33, 0), (20, 13)])
@pytest.mark.parametrize("seed", [0, 42, -1, 2**64 - 2])
def test_states_lie_one_jump_apart(seed: int, count: int, start: int) -> None:
    wanted = states_one_by_one(seed)
    for _ in range(start):
        next(wanted)
    assert as_tuples(make_states(count, seed, start)) == [next(wanted) for _ in range(count)]


def test_a_huge_start_needs_no_loop() -> None:
    """Jumps commute: 2**64 - 1 jumps and one more from either side."""
    far = make_states(2, 7, 2**64 - 2)
    assert as_tuples(far[1:]) == [jump(as_tuples(far)[0])]


def test_device_arrays_are_filled() -> None:
    states = random.create_xoroshiro128p_states(10, seed=1, subsequence_start=2)
    np.testing.assert_array_equal(states.copy_to_host(), make_states(10, 1, 2))
    random.init_xoroshiro128p_states(states, seed=5)
    np.testing.assert_array_equal(states.copy_to_host(), make_states(10, 5))


@numba_ptxplus.jit
def draw(states, bits, uniform32, uniform64, normal32, normal64):
    i = numba_ptxplus.grid(1)
    bits[i] = random.xoroshiro128p_next(states, i)
    uniform32[i] = random.xoroshiro128p_uniform_float32(states, i)
    uniform64[i] = random.xoroshiro128p_uniform_float64(states, i)
    normal32[i] = random.xoroshiro128p_normal_float32(states, i)
    normal64[i] = random.xoroshiro128p_normal_float64(states, i)


def test_kernels_draw_the_published_numbers() -> None:
    """Integers and uniform numbers to the bit; normal ones as NumPy computes them, to 8 units in the last place."""
    count = 64
    bits, columns = np.zeros(count, np.uint64), [np.zeros(count, t) for t in "fdfd"]
    states = random.create_xoroshiro128p_states(count, seed=3)
    draw[2, 32](states, bits, *columns)
    for i, state in enumerate(as_tuples(make_states(count, 3))):
        drawn = []
        for _ in range(7):
            word, state = step(state)
            drawn.append(word)
        units = [(word >> 11) * 2.0**-53 for word in drawn]
        u = np.array(units, np.float32)
        assert bits[i] == drawn[0]
        assert columns[0][i] == u[1]
        assert columns[1][i] == units[2]
        normal = np.sqrt(np.float32(-2) * np.log(u[3])) * np.cos(np.float32(2 * math.pi) * u[4])
        np.testing.assert_allclose(columns[2][i], normal, rtol=8 * 2**-23, atol=1e-6)
        normal = np.sqrt(-2.0 * np.float64(np.log(u[5]))) * np.cos(2 * math.pi * np.float64(u[6]))
        np.testing.assert_allclose(columns[3][i], normal, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(as_tuples(states.copy_to_host())[-1], state)


@numba_ptxplus.jit
def seed_and_jump(states, seeds):
    i = numba_ptxplus.grid(1)
    random.init_xoroshiro128p_state(states, i, seeds[i])
    random.xoroshiro128p_jump(states, i)


def test_kernels_can_seed_and_jump() -> None:
    states = np.zeros(3, STATE_DTYPE)
    seed_and_jump[1, 3](states, np.array([0, 1, -5]))
    for state, seed in zip(as_tuples(states), (0, 1, -5), strict=True):
        one_by_one = states_one_by_one(seed)
        next(one_by_one)
        assert state == next(one_by_one)


def test_the_host_can_use_the_same_functions() -> None:
    state = np.zeros(1, STATE_DTYPE)
    random.init_xoroshiro128p_state(state, 0, 9)
    assert random.xoroshiro128p_next(state, 0) == step(next(states_one_by_one(9)))[0]


def test_metal_draws_the_same_float32() -> None:
    """float32 numbers need no float64 on their way."""
    import numba_metal  # noqa: PLC0415 - the pair of packages under test

    @numba_metal.jit
    def draw_uniform(states, out):
        i = numba_metal.grid(1)
        out[i] = random.xoroshiro128p_uniform_float32(states, i)

    out = np.zeros(32, np.float32)
    draw_uniform[1, 32](numba_metal.random.create_xoroshiro128p_states(32, 3), out)
    words = [step(state)[0] for state in as_tuples(make_states(32, 3))]
    np.testing.assert_array_equal(out, np.array([(word >> 11) * 2.0**-53 for word in words], np.float32))
