"""The text itself: as short as a person's, the same in every process, with names and places of the Python program."""

from __future__ import annotations

import inspect
import math
import re
from pathlib import Path

import numba
import numpy as np
import pytest

import numba_metal as gpu
from numba_gpucore.base.errors import OptionError, UnsupportedKernelError
from numba_metal import compile_msl
from numba_metal.codegen.reserved_names import is_reserved
from numba_metal.codegen.variables import unique_name
from tests.msl import check_msl, compile_msl_library

BY_HAND = Path(__file__).resolve().parent / "msl_by_hand"


def saxpy(x, y, a):
    i = gpu.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def reduction(x, partial):
    tile = gpu.shared.array(256, gpu.float32)
    t = gpu.threadIdx.x
    i = gpu.grid(1)
    tile[t] = x[i] if i < x.size else np.float32(0)
    gpu.syncthreads()
    step = gpu.blockDim.x // 2
    while step > 0:
        if t < step:
            tile[t] += tile[t + step]
        gpu.syncthreads()
        step //= 2
    if t == 0:
        partial[gpu.blockIdx.x] = tile[0]


def tiled_matmul(a, b, c):
    left = gpu.shared.array((16, 16), gpu.float32)
    right = gpu.shared.array((16, 16), gpu.float32)
    column, row = gpu.grid(2)
    x, y = gpu.threadIdx.x, gpu.threadIdx.y
    total = np.float32(0)
    for tile in range((a.shape[1] + 15) // 16):
        k = tile * 16
        left[y, x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else np.float32(0)
        right[y, x] = b[k + y, column] if column < b.shape[1] and k + y < b.shape[0] else np.float32(0)
        gpu.syncthreads()
        for j in range(16):
            total += left[y, j] * right[j, x]
        gpu.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


SIGNATURES = {
    saxpy: "void(float32[::1], float32[::1], float32)",
    reduction: "void(float32[::1], float32[::1])",
    tiled_matmul: "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])",
}


def count_statements(text: str) -> int:
    """Statements of the kernel's body: those that end in a semicolon, and each if, for and while."""
    body = re.sub(r"//.*", "", text[text.index("kernel void") :])
    body = body[body.index("{") :]
    loops = len(re.findall(r"\b(?:if|for|while)\b", body))
    in_for_heads = 2 * len(re.findall(r"\bfor\s*\(", body))
    after_do = len(re.findall(r"\}\s*while\s*\(", body))
    return loops + body.count(";") - in_for_heads - after_do


@pytest.mark.parametrize("kernel", SIGNATURES, ids=lambda kernel: kernel.__name__)
def test_not_much_longer_than_by_hand(kernel):
    """At most 1.3 statements for each of a kernel that a person wrote for the same job."""
    by_hand = (BY_HAND / f"{kernel.__name__}.metal").read_text()
    assert check_msl(by_hand).ok
    ours = compile_msl(kernel, SIGNATURES[kernel])
    assert check_msl(ours).ok
    assert count_statements(ours) <= 1.3 * count_statements(by_hand), ours


def test_two_processes_give_the_same_bytes(run_python, tmp_path):
    program = tmp_path / "emit.py"
    program.write_text(
        "import sys\n"
        "from tests.unit.test_msl_text import SIGNATURES, compile_msl\n"
        "sys.stdout.write(''.join(compile_msl(kernel, sig) for kernel, sig in SIGNATURES.items()))\n"
    )
    first, second = (run_python(program, PYTHONHASHSEED=seed).stdout for seed in ("1", "2"))
    assert first == second
    assert "kernel void kernel_tiled_matmul" in first


def test_names_and_places_are_those_of_python():
    text = compile_msl(saxpy, SIGNATURES[saxpy])
    assert "    long i = long(gid.x);" in text
    assert "args.y[i] = args.a * args.x[i] + args.y[i];" in text
    assert "// saxpy +3" in text
    assert "//" not in compile_msl(saxpy, SIGNATURES[saxpy], lineinfo=False)


def test_nothing_is_declared_that_is_not_used():
    for kernel, signature in SIGNATURES.items():
        text = compile_msl(kernel, signature)
        body = text[text.index("kernel void") :]
        for name in re.findall(r"^ +(?:threadgroup )?(?:int|uint|long|ulong|float|bool) (\w+)", body, re.MULTILINE):
            assert len(re.findall(rf"\b{name}\b", body)) > 1, (name, text)


def test_fast_math_is_what_fastmath_asks_for():
    def waves(x):
        i = gpu.grid(1)
        x[i] = np.sin(x[i]) * x[i] + np.float32(1)

    safe, fast = (compile_msl(waves, "void(float32[::1])", fastmath=fastmath) for fastmath in (False, True))
    assert "precise::sin" in safe
    assert "#pragma METAL fp contract(off)" in safe
    assert "fast::sin" in fast
    assert "contract(off)" not in fast


def test_functions_of_floats_name_their_form():
    """Without a namespace Metal takes the fast form, which may not know NaN, whatever the pragmas say."""

    def rounding(x):
        i = gpu.grid(1)
        x[i] = math.floor(x[i]) + math.fmod(x[i], x[0]) + math.hypot(abs(x[i]), round(x[i])) + math.lgamma(x[i])

    text = compile_msl(rounding, "void(float32[::1])", msl_version=(3, 2))
    with_forms = "fabs floor ceil trunc round rint fmin fmax fmod min max ldexp sqrt exp log sin"
    assert re.findall(rf"(?<!precise::)\b(?:{'|'.join(with_forms.split())})\(", text) == []
    assert "#pragma METAL fp math_mode(safe)" in text
    assert "math_mode" not in compile_msl(rounding, "void(float32[::1])", msl_version=(3, 1))
    fast = compile_msl(rounding, "void(float32[::1])", msl_version=(3, 2), fastmath=True)
    assert "fast::floor(" in fast and "math_mode" not in fast


#: Words of C++, types, functions and macros of Metal, and what the emitter itself calls things.
UNUSABLE_NAMES = """
    kernel device half constant vertex min main float4 half2 uint2 packed_float3 M_PI_F FLT_MAX CHAR_BIT UINT_MAX NAN
    HUGE_VALF MAXHALF thread_index barrier_word Args Launch wide wide_of divide_int float_to_long absolute_int goto_3
    throw_site load_uint_device k live inside state args tid gid lane mem_flags memory_order_relaxed union template this
    atomic_fetch_add_explicit threadgroup_barrier uchar sampler texture2d metal fast precise NULL fmod sqrt isnan
    as_type int64_t uintptr_t array coherent tensor double long unsigned namespace operator new delete
    auto \u03b1 \u03c3_max
""".split()


def test_no_name_of_the_users_breaks_the_text():
    lines = ["def odd_names(a, out):", "    i = gpu.grid(1)", *(f"    {name} = a[i]" for name in UNUSABLE_NAMES)]
    lines += ["    for j in range(a[0]):", *(f"        {name} = {name} * a[j] + {n}"
                                             for n, name in enumerate(UNUSABLE_NAMES))]  # fmt: skip
    lines += ["    gpu.syncthreads()", f"    out[i] = {' ^ '.join(UNUSABLE_NAMES)}"]
    lines += [f"def odd_arguments({', '.join(UNUSABLE_NAMES)}, out):", f"    out[0] = {' ^ '.join(UNUSABLE_NAMES)}"]
    names = {"gpu": gpu}
    exec("\n".join(lines), names)
    numbers = ", ".join(["int32"] * len(UNUSABLE_NAMES))
    for name, signature in (("odd_names", "void(int32[::1], int32[::1])"),
                            ("odd_arguments", f"void({numbers}, int32[::1])")):  # fmt: skip
        text = compile_msl(names[name], signature, msl_version=(3, 2))
        report = check_msl(text, (3, 2))
        assert report.ok, f"{report}\n{text}"


def test_names_that_are_taken_twice_end():
    """Numbers are put behind them, and what comes out may be a name of the emitter's again."""
    taken = set()
    for hint in 4 * ["remainder", "goto", "goto_2", "x", "divide_int", "M_PI_F", "a__b_"]:
        name = unique_name(hint, taken)
        assert name not in taken and not is_reserved(name)
        taken.add(name)
    assert {"remainder", "remainder_2", "goto_", "goto_2_", "x", "x_4", "divide_int_", "M_PI_F_", "a_b"} <= taken


def two_fences(x):
    i = gpu.grid(1)
    x[i] = 1
    gpu.threadfence()
    x[i] = 2
    gpu.threadfence_block()


@pytest.mark.parametrize("has_source", [True, False])
def test_refusals_name_their_lines_without_lineinfo(has_source):
    """Fences need MSL 3.2. The kernel itself carries no lines, and its source need not be there."""
    kernel = two_fences
    if not has_source:
        names = {"gpu": gpu}
        exec(inspect.getsource(two_fences), names)
        kernel = names["two_fences"]
    first = kernel.__code__.co_firstlineno
    with pytest.raises(UnsupportedKernelError) as caught:
        compile_msl(kernel, "void(int32[::1])", msl_version=(3, 1), lineinfo=False)
    assert [fault.line - first for fault in caught.value.faults] == [3, 5]
    assert all(fault.what.startswith("a memory fence") for fault in caught.value.faults)
    text = compile_msl(kernel, "void(int32[::1])", msl_version=(3, 2), lineinfo=False)
    assert "atomic_thread_fence" in text


def test_only_fences_of_the_device_make_memory_coherent():
    """What a fence of the device orders is seen through coherent pointers only (MSL specification 3.2, 4.8)."""

    def block_fence(x):
        x[gpu.grid(1)] = 1
        gpu.threadfence_block()

    texts = [
        compile_msl(kernel, "void(int32[::1])", msl_version=(3, 2), boundscheck=True)
        for kernel in (two_fences, block_fence)
    ]
    assert "    coherent(device) device int* x;" in texts[0]
    assert re.findall(r"(?<!coherent\(device\) )\bdevice \w+\*", texts[0]) == []
    assert "coherent(" not in texts[1]
    assert check_msl(texts[0], (3, 2)).ok and not check_msl(texts[0], (3, 1)).ok


def test_unknown_versions_and_options_are_refused():
    with pytest.raises(OptionError, match=r"unknown version '2\.4' of the Metal language; known are msl3\.0"):
        compile_msl(saxpy, SIGNATURES[saxpy], msl_version=(2, 4))
    with pytest.raises(OptionError, match="unknown option 'speed'"):
        compile_msl(saxpy, SIGNATURES[saxpy], speed=11)


def test_kernel_objects_and_numba_signatures_are_taken():
    kernel = gpu.jit(saxpy)
    signature = numba.void(numba.float32[::1], numba.float32[::1], numba.float32)
    assert compile_msl(kernel, signature) == compile_msl(saxpy, SIGNATURES[saxpy])


def test_sum_of_a_range_needs_no_wider_integers():
    """LLVM writes the sum of 0 … n - 1 as a product of 65 bits; n can be as large as an int64."""

    def triangle(n, out):
        total = 0
        for j in range(n[0]):
            total += j
        out[0] = total

    msl = compile_msl(triangle, "void(int64[::1], int64[::1])")
    library = compile_msl_library(msl, trap_undefined=True)
    for n in (0, 1, 5, 100_000, 2**33 + 1):
        count, out = library.place(np.array([n])), library.place(np.zeros(1, np.int64))
        words = np.array([count.address, 1, out.address, 1], np.uint64)
        library.run("kernel_triangle", 1, 1, [words], resident=[count, out])
        wanted = (n * (n - 1) // 2 + 2**63) % 2**64 - 2**63
        assert np.frombuffer(out.host.tobytes()[:8], np.int64)[0] == wanted
