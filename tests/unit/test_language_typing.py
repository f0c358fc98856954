"""What type inference refuses in the kernel language, and the device IR of what has no visible result."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numba import njit
from numba.core.errors import NumbaError, TypingError

from numba_gpucore import language as gpu
from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.compile.driver import lower_kernel
from numba_gpucore.dtypes import Signature, float32, float64, int8, int32, uint64, void
from numba_ptxplus.target import PLATFORM

N = 4


def lower(kernel, signature: Signature):
    """Typed, lowered and linked, for no back-end in particular."""
    request = CompileRequest(
        py_func=kernel,
        target=PLATFORM.target,
        backend="cpu",
        arch="any",
        arg_types=signature.args,
        options=PLATFORM.target.options_class(boundscheck=False),
        codegen="numba_gpucore.cpu.codegen:CODEGEN",
        launch_abi=0,
    )
    return lower_kernel(request)


def int8_atomic(x):
    gpu.atomic.add(x, 0, 1)


def bitwise_float(x):
    gpu.atomic.and_(x, 0, 1)


def too_few_indices(x):
    gpu.atomic.add(x, 0, 1)


def run_time_grid(n):
    gpu.grid(n)


def four_axes(n):
    gpu.gridsize(4)


def run_time_shape(n):
    gpu.shared.array(n, float32)


def run_time_shape_in_tuple(n):
    gpu.local.array((2, n), float32)


def list_as_shape(n):
    gpu.shared.array([2, 3], float32)


def empty_local(n):
    gpu.local.array(0, float32)


def empty_axis(n):
    gpu.shared.array((3, 0), float32)


def unknown_dtype(n):
    gpu.shared.array(3, "int33")


def float_alignment(n):
    gpu.shared.array(3, float32, alignment=8.0)


def odd_alignment(n):
    gpu.shared.array(3, float32, alignment=17)


def float_mask(x):
    gpu.all_sync(x[0], 1)


def float_predicate(x):
    gpu.ballot_sync(0xFFFFFFFF, x[0])


def complex_shuffle(x):
    gpu.shfl_sync(0xFFFFFFFF, 1j, 0)


def mixed_selp(x):
    gpu.selp(True, x[0], 1)


def new_array(x):
    x[0] = (x + x)[0]


def new_list(x):
    values = [x[0], x[1]]
    x[0] = values[1]


@njit
def local_result(n):
    mine = gpu.local.array(N, float32)
    mine[0] = n
    return mine[1:], n


def escaping_local(x):
    x[0] = local_result(3)[0][0]


def fancy_assignment(x, n):
    x[n] = x


VECTOR, MATRIX = void(float32[::1]), void(float32[:, ::1])
REFUSED = [
    (int8_atomic, void(int8[:]), r"atomic\.add works on arrays of int32, .*, not of int8"),
    (bitwise_float, VECTOR, r"atomic\.and_ works on arrays of .*, not of float32"),
    (too_few_indices, MATRIX, "the array has 2 axes, the index 1"),
    (run_time_grid, void(int32), r"grid\(ndim\): ndim must be the literal 1, 2 or 3, not int32"),
    (four_axes, void(int32), "ndim must be 1, 2 or 3, not 4"),
    (run_time_shape, void(int32), r"shared\.array: the shape must be a compile-time constant"),
    (run_time_shape_in_tuple, void(int32), r"local\.array: the shape must be a compile-time constant"),
    (list_as_shape, void(int32), r"shared\.array: the shape must be a compile-time constant"),
    (empty_local, void(int32), r"local\.array: every extent must be 1 or more, got \(0,\)"),
    (empty_axis, void(int32), r"shared\.array: every extent must be 1 or more, got \(3, 0\); 0 alone stands for"),
    (unknown_dtype, void(int32), "Invalid NumPy dtype specified: 'int33'"),
    (float_alignment, void(int32), r"shared\.array: alignment must be a constant integer, not float64"),
    (float_mask, VECTOR, "Mask type must be an integer, not float32"),
    (float_predicate, VECTOR, "Predicate must be an integer or boolean, not float32"),
    (complex_shuffle, VECTOR, "lanes exchange integers, booleans and floats, not complex128"),
    (mixed_selp, VECTOR, "a and b must be numbers of one type, not float32 and int64"),
    (new_array, VECTOR, "a kernel cannot make a new array — assign the expression to part of an existing one"),
    (new_list, VECTOR, "a kernel cannot allocate memory .*local.array or shared.array"),
    (escaping_local, VECTOR, "'local_result' returns a local.array, whose memory ends with the call"),
    (fancy_assignment, void(float32[::1], int32[::1]), "cannot assign an array to items picked by array"),
]


@pytest.mark.parametrize(("kernel", "signature", "text"), REFUSED, ids=lambda v: getattr(v, "__name__", ""))
def test_refused_with_a_reason(kernel, signature, text):
    with pytest.raises(NumbaError) as caught:
        lower(kernel, signature)
    plain = re.sub(r"\s+", " ", re.sub("\x1b\\[[0-9;]*m", "", str(caught.value)))
    assert re.search(text, plain), plain
    assert "test_language_typing.py" in plain


def test_alignment_must_be_a_power_of_two():
    with pytest.raises(ValueError, match="Alignment must be a power of two and a multiple of 8 bytes, not 17"):
        lower(odd_alignment, void(int32))


def test_read_only_arrays_are_not_updated():
    table = np.zeros(3, np.int32)

    def kernel(x):
        gpu.atomic.add(table, 0, 1)

    with pytest.raises(TypingError, match="read-only"):
        lower(kernel, VECTOR)


def two_arrays(x):
    a = gpu.shared.array((2, N), float32)
    b = gpu.shared.array(3, float64, alignment=64)
    for _ in range(3):
        c = gpu.shared.array(1, np.uint8)
        c[0] = 1
    a[1, 2] = b[0] = x[0]


def test_each_call_of_shared_array_is_one_array():
    """Sizes by hand: 2 * 4 * 4, 3 * 8 and one word, since atomics on small items change the word that holds them; the
    middle one is aligned as asked; a loop makes no more of them."""
    arrays = lower(two_arrays, VECTOR).job.shared_arrays
    assert sorted((array.nbytes, array.align_nbytes) for array in arrays) == [(4, 16), (24, 64), (32, 16)]


@njit
def use_shared(x):
    kept = gpu.shared.array(5, int32)
    kept[0] = 1
    return kept[0] + x


def call_twice(x):
    x[0] = use_shared(x[1]) + use_shared(x[2])


def test_a_device_function_has_one_shared_array_however_often_called():
    assert [array.nbytes for array in lower(call_twice, void(int32[::1])).job.shared_arrays] == [20]


def fences(x):
    gpu.threadfence()
    gpu.threadfence_block()
    gpu.threadfence_system()
    gpu.nanosleep(20)
    gpu.syncwarp()


def test_statements_without_results_reach_the_device():
    wanted = {"gpu.fence.device", "gpu.fence.block", "gpu.fence.system", "gpu.nanosleep", "gpu.warp_barrier"}
    assert wanted <= lower(fences, VECTOR).job.intrinsics


def atomics(x, y, z):
    gpu.atomic.add(x, 0, 1)
    gpu.atomic.sub(y, 0, 1)
    gpu.atomic.inc(z, 0, 1)
    gpu.atomic.nanmax(x, 0, 1)
    gpu.atomic.cas(z, 0, 1, 2)


def test_atomics_are_instructions_with_relaxed_ordering():
    text = str(lower(atomics, void(float32[::1], int32[::1], uint64[::1])).module)
    for instruction in ("fadd", "sub", "uinc_wrap", "fmax"):
        assert re.search(rf"atomicrmw {instruction} ptr .* monotonic", text), instruction
    assert re.search(r"cmpxchg ptr .* monotonic monotonic", text)


def laneid_branch(x):
    if gpu.laneid == 0:
        x[0] = 1
    else:
        x[0] = 2


def test_branches_on_laneid_are_kept():
    """Numba prunes branches whose condition it can evaluate on the host."""
    lowered = lower(laneid_branch, VECTOR)
    assert "gpu.lane_id" in lowered.job.intrinsics
    assert re.search(r"br i1 %", str(lowered.module))
