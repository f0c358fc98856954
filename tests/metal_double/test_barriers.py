"""Threads that return or raise in front of barriers, on GPUs that keep to the letter of MSL 6.9.1: all must arrive.

Expected numbers are counted by hand from what CUDA says: threads that have ended count as arrived.
"""

from __future__ import annotations

import numpy as np
import pytest

import numba_metal as gpu
from numba_gpucore.base.errors import DeviceError
from tests.levels import opened_level
from tests.metal_double import World

STRICT = {
    "forward": World(all_threads_must_arrive=True),
    "shuffled": World(all_threads_must_arrive=True, order="shuffled", seed=5, trap_undefined=True),
}
N = 64
X = np.arange(N, dtype=np.int32)


@pytest.fixture(params=STRICT, autouse=True)
def _strict_gpu(request: pytest.FixtureRequest):
    with opened_level("metal double", STRICT[request.param]):
        yield


def sum_of_those_that_stay(x, out):
    """A tree of sums, from which the last ten threads have gone."""
    tile = gpu.shared.array(N, gpu.int32)
    i = gpu.grid(1)
    tile[i] = 0
    gpu.syncthreads()
    if i >= x.size - 10:
        return
    tile[i] = x[i]
    gpu.syncthreads()
    half = N // 2
    while half > 0:
        if i < half:
            tile[i] += tile[i + half]
        gpu.syncthreads()
        half //= 2
    out[i] = tile[0]


def raise_and_return(x, out):
    """Thread 13 raises and thread 20 returns, in one stretch between barriers."""
    tile = gpu.shared.array(N, gpu.int32)
    i = gpu.grid(1)
    tile[i] = -1
    gpu.syncthreads()
    if x[i] == 13:
        raise ValueError("unlucky", i)
    tile[i] = x[i]
    if x[i] == 20:
        return
    gpu.syncthreads()
    out[i] = tile[N - 1 - i]


def leave_a_search(x, out):
    """Half of the threads return out of a loop in a loop; then branches with barriers of their own."""
    tile = gpu.shared.array(N, gpu.int32)
    i = gpu.grid(1)
    tile[i] = 0
    gpu.syncthreads()
    total = 0
    for k in range(4):
        for j in range(x.size):
            if x[j] + k == 2 * i:
                return
            total += 1
    tile[i] = total
    gpu.syncthreads()
    if i < 48:
        out[i] = tile[i - 1]
    else:
        out[i] = tile[i]
        if i > 60:
            gpu.syncthreads()
            out[i] += 1


def raise_in_a_loop_of_barriers(x, out):
    """The thread whose number is the round's raises in that round."""
    tile = gpu.shared.array(N, gpu.int32)
    i = gpu.grid(1)
    for k in range(4):
        tile[i] = x[i] * k
        gpu.syncthreads()
        if i == k + 40:
            raise ValueError("round", k)
        out[i] += tile[(i + 1) % N]
        gpu.syncthreads()
    out[i] = 3 * out[i] + tile[i]


def meet_behind_two_conditions(x, out):
    """Two ways lead to the code behind the condition, over a stretch that began with barriers."""
    tile = gpu.shared.array(N, gpu.int32)
    i = gpu.grid(1)
    tile[i] = 0
    gpu.syncthreads()
    if i > 40:
        return
    tile[i] = x[i]
    gpu.syncthreads()
    v = x[i]
    if v < 20 and tile[(i + 1) % N] > 2:
        v = -1
    else:
        while v > 12:
            v //= 3
    gpu.syncthreads()
    tile[i] = v
    gpu.syncthreads()
    out[i] = tile[i] + tile[40 - i]


def raise_in_the_last_loop(x, out):
    """Behind the loop the kernel ends, so that who raises leaves it as the others do."""
    i = gpu.grid(1)
    k = 16
    while k > 0:
        if x[i] == k:
            raise ValueError("round", k)
        gpu.syncthreads()
        out[i] += k
        gpu.syncthreads()
        k //= 2


def raise_in_a_loop_before_the_end(x, out):
    i = gpu.grid(1)
    k = 16
    while k > 0:
        if x[i] < 3:
            if out[i] == 28:
                raise ValueError("round", k)
        gpu.syncthreads()
        out[i] += k
        gpu.syncthreads()
        k //= 2
    if x[i] < 10:
        out[i] = -1


def return_a_number_from_a_loop(x, out):
    i = gpu.grid(1)
    k = 16
    while k > 0:
        if x[i] == k:
            out[i] = -k
            return
        gpu.syncthreads()
        out[i] += k
        gpu.syncthreads()
        k //= 2


def leave_two_loops(x, out):
    """The second loop's counter starts where the first loop ends."""
    i = gpu.grid(1)
    k = 16
    while k > 0:
        if x[i] == k:
            return
        gpu.syncthreads()
        out[i] += k
        gpu.syncthreads()
        k //= 2
    k = 16
    while k > 0:
        if x[i] == 40 + k:
            raise ValueError("round", k)
        gpu.syncthreads()
        out[i] += k
        gpu.syncthreads()
        k //= 2


def return_a_longer_sum_than_what_follows(x, out):
    i = gpu.grid(1)
    k = 16
    while k > 0:
        if x[i] == k:
            out[i] = x[i] * 3 + x[i + 1] * 5 - x[i + 2]
            return
        gpu.syncthreads()
        out[i] += k
        gpu.syncthreads()
        k //= 2
    out[i] += 3
    gpu.syncthreads()


def launch(kernel, raises=None):
    x, out = gpu.to_device(X), gpu.to_device(np.zeros(N, np.int32))
    if raises is None:
        gpu.jit(kernel)[1, N](x, out)
        gpu.synchronize()
    else:
        with pytest.raises(ValueError, match=raises):
            gpu.jit(kernel)[1, N](x, out)
            gpu.synchronize()
    return out.copy_to_host()


def test_early_returns() -> None:
    stay = N - 10
    np.testing.assert_array_equal(launch(sum_of_those_that_stay), [X[:stay].sum()] * stay + [0] * 10)


def test_raise_and_return_between_two_barriers() -> None:
    wanted = X[::-1].copy()
    wanted[N - 1 - 13] = -1
    wanted[[13, 20]] = 0
    np.testing.assert_array_equal(launch(raise_and_return, "unlucky"), wanted)


def test_return_out_of_nested_loops() -> None:
    """Threads up to 33 return, since x[j] + k reaches 66: 2 * i is among them up to i = 33."""
    total = 4 * N
    wanted = np.where(np.arange(N) > 33, total, 0)
    wanted[34] = 0
    wanted[61:] += 1
    np.testing.assert_array_equal(launch(leave_a_search), wanted)


def test_return_before_code_that_two_ways_lead_to() -> None:
    """Those from 2 to 19 see a neighbour above 2; 39 and 40 are divided by 3 twice."""
    tile = np.array([v if v < 2 else -1 if v < 20 else v // 3 if v < 39 else v // 9 for v in X[:41]])
    np.testing.assert_array_equal(launch(meet_behind_two_conditions), [*(tile + tile[::-1]), *[0] * 23])


def test_raise_in_a_loop_of_barriers() -> None:
    """A thread that has ended keeps its last number in shared memory, which its neighbour goes on adding."""
    tile, out = np.zeros(N, np.int32), np.zeros(N, np.int32)
    lives = np.ones(N, bool)
    for k in range(4):
        tile[lives] = X[lives] * k
        lives[k + 40] = False
        out[lives] += np.roll(tile, -1)[lives]
    out[lives] = 3 * out[lives] + tile[lives]
    np.testing.assert_array_equal(launch(raise_in_a_loop_of_barriers, "round"), out)


def test_raise_in_a_loop_behind_which_the_kernel_ends() -> None:
    """16 + 8 + 4 + 2 + 1 = 31; thread k has added what comes before k."""
    wanted = np.full(N, 31)
    wanted[[16, 8, 4, 2, 1]] = 0, 16, 24, 28, 30
    np.testing.assert_array_equal(launch(raise_in_the_last_loop, "round"), wanted)
    wanted = np.array([28] * 3 + [-1] * 7 + [31] * 54)
    np.testing.assert_array_equal(launch(raise_in_a_loop_before_the_end, "round"), wanted)


def test_return_a_number_from_a_loop_behind_which_the_kernel_ends() -> None:
    wanted = np.full(N, 31)
    wanted[[16, 8, 4, 2, 1]] = -16, -8, -4, -2, -1
    np.testing.assert_array_equal(launch(return_a_number_from_a_loop), wanted)


def test_leave_two_loops() -> None:
    wanted = np.full(N, 62)
    wanted[[16, 8, 4, 2, 1]] = 0, 16, 24, 28, 30
    wanted[[56, 48, 44, 42, 41]] = 31, 31 + 16, 31 + 24, 31 + 28, 31 + 30
    np.testing.assert_array_equal(launch(leave_two_loops, "round"), wanted)


def test_return_a_longer_sum_than_what_follows() -> None:
    wanted = np.full(N, 34)
    wanted[[16, 8, 4, 2, 1]] = [3 * k + 5 * (k + 1) - (k + 2) for k in (16, 8, 4, 2, 1)]
    np.testing.assert_array_equal(launch(return_a_longer_sum_than_what_follows), wanted)


def test_the_check_can_fail() -> None:
    """How often this loop runs is read from memory, so its text cannot be changed, and the GPU faults."""

    @gpu.jit
    def read_the_number_of_rounds(x, out):
        i = gpu.grid(1)
        if i > 10:
            return
        k = 0
        while k < x[3]:
            gpu.syncthreads()
            k += 1
        out[i] = k

    with pytest.raises(DeviceError, match="waits at a barrier that other threads of its threadgroup never reach"):
        read_the_number_of_rounds[1, N](gpu.to_device(X), gpu.to_device(X))
        gpu.synchronize()


@pytest.mark.parametrize("to_wait", ["default stream", "stream", "copy"])
def test_what_was_thrown_before_the_gpu_failed_is_told_with_the_failure_and_not_later(to_wait: str) -> None:
    """Two threads throw before the others, which the GPU then lets wait at a barrier for them."""

    @gpu.jit
    def throw_and_fail(x, out):
        i = gpu.grid(1)
        if x[i] < 2:
            raise ValueError("thrown first", 7)
        out[i] = gpu.syncthreads_count(i > 3)

    stream = gpu.stream() if to_wait == "stream" else gpu.default_stream()
    arrays = (X.copy(), X.copy()) if to_wait == "copy" else (gpu.to_device(X), gpu.to_device(X))
    with pytest.raises(DeviceError, match="waits at a barrier that other threads") as failure:
        throw_and_fail[1, N, stream](*arrays)
        stream.synchronize()
    assert repr(failure.value.__cause__).startswith("ValueError('thrown first', 7")
    gpu.synchronize()
    stream.synchronize()
