"""float16 beyond the catalogue: every bit on millions of pairs, how literals join, instructions, objects' symbols."""

from __future__ import annotations

import math
import re
import sys

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba import types
from numba.core.errors import NumbaPerformanceWarning

import numba_metal
import numba_ptxplus
from numba_gpucore import language as gpu
from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.compile.driver import compile_kernel, inspect_stage
from numba_gpucore.cpu import BACKEND
from numba_gpucore.cpu.object_symbols import undefined_symbols
from numba_gpucore.dtypes import float16, float32
from numba_gpucore.launch.eager import kernel_arg_types
from numba_ptxplus.target import TARGET
from tests.device.kernels_halves import SPECIAL, exact_fma

PAIRS = 2**22
HALVES = np.arange(2**16, dtype=np.uint16).view(np.float16)


def assert_same_bits(got: np.ndarray, wanted: np.ndarray) -> None:
    """Equal bit for bit; one NaN is as good as another."""
    is_number = ~(np.isnan(got) & np.isnan(wanted))
    differ = (got.view(np.uint16) != wanted.view(np.uint16)) & is_number
    assert not differ.any(), f"{differ.sum()} differ, the first at {np.flatnonzero(differ)[0]}"


def operators(x, y, out):
    i = gpu.grid(1)
    if i < x.size:
        out[0, i] = x[i] + y[i]
        out[1, i] = x[i] - y[i]
        out[2, i] = x[i] * y[i]
        out[3, i] = x[i] / y[i]
        out[4, i] = x[i] * y[i] - x[i]


def test_operators_round_as_numpy_does_on_millions_of_pairs() -> None:
    rng = np.random.default_rng(0)
    specials = [part.ravel() for part in np.meshgrid(SPECIAL, SPECIAL)]
    random = rng.integers(0, 2**16, (2, PAIRS), np.uint16).view(np.float16)
    x, y = (np.concatenate(parts) for parts in zip(specials, random, strict=True))
    out = np.zeros((5, x.size), np.float16)
    numba_ptxplus.jit(operators)[-(-x.size // 256), 256](x, y, out)
    with np.errstate(all="ignore"):
        for got, wanted in zip(out, (x + y, x - y, x * y, x / y, x * y - x), strict=True):
            assert_same_bits(got, wanted)


def compare(x, y, out):
    i = gpu.grid(1)
    if i < x.size:
        a, b = x[i], y[i]
        out[i] = (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * (a > b) + 32 * (a >= b)


def test_comparisons_of_millions_of_pairs() -> None:
    """Half of the pairs are neighbours in the order of bit patterns, or equal."""
    bits = np.random.default_rng(1).integers(0, 2**16, (2, PAIRS), np.uint16)
    bits[1, ::2] = bits[0, ::2] + np.resize(np.array([0, 1, -1], np.int64), PAIRS // 2).astype(np.uint16)
    x, y = bits.view(np.float16)
    out = np.zeros(PAIRS, np.uint8)
    numba_ptxplus.jit(compare)[PAIRS // 256, 256](x, y, out)
    rows = [x < y, x <= y, x == y, x != y, x > y, x >= y]
    np.testing.assert_array_equal(out, sum(row.astype(np.uint8) << k for k, row in enumerate(rows)))


def convert(x, wide, root, back, whole):
    i = gpu.grid(1)
    if i < x.size:
        wide[i] = x[i]
        root[i] = math.sqrt(x[i])
        back[i] = float16(float32(x[i]))
        if math.isfinite(x[i]):
            whole[i] = int(x[i])


def test_every_half_is_converted_and_has_its_root() -> None:
    wide, root, back = np.zeros(2**16, np.float64), np.zeros(2**16, np.float16), np.zeros(2**16, np.float16)
    whole = np.zeros(2**16, np.int64)
    numba_ptxplus.jit(convert)[256, 256](HALVES, wide, root, back, whole)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(wide, HALVES.astype(np.float64))
        assert_same_bits(root, np.sqrt(HALVES))
    assert_same_bits(back, HALVES)
    np.testing.assert_array_equal(whole, np.where(np.isfinite(HALVES), HALVES, 0).astype(np.int64))


def narrow(singles, doubles, out):
    i = gpu.grid(1)
    if i < singles.size:
        out[0, i] = singles[i]
        out[1, i] = float16(doubles[i])


def test_millions_of_floats_and_doubles_are_rounded_once() -> None:
    """A quarter are the middle of two halves, moved by less than a float32 can tell: through float32 they would tie."""
    rng = np.random.default_rng(2)
    with np.errstate(invalid="ignore", over="ignore"):
        singles = rng.integers(0, 2**32, PAIRS, np.uint32).view(np.float32)
        doubles = np.ldexp(rng.random(PAIRS) * rng.choice([-1, 1], PAIRS), rng.integers(-26, 18, PAIRS))
        middles = np.ldexp(rng.integers(2**11, 2**12, PAIRS // 4) | 1, rng.integers(-26, 5, PAIRS // 4))
        doubles[: PAIRS // 4] = middles * (1 + rng.choice([-1, 0, 1], PAIRS // 4) * 2.0**-40)
        out = np.zeros((2, PAIRS), np.float16)
        numba_ptxplus.jit(narrow)[PAIRS // 256, 256](singles, doubles, out)
        assert_same_bits(out[0], singles.astype(np.float16))
        assert_same_bits(out[1], doubles.astype(np.float16))
        assert (doubles.astype(np.float32).astype(np.float16) != doubles.astype(np.float16)).sum() > PAIRS // 100


def fuse(x, y, z, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i] = gpu.fma(x[i], y[i], z[i])


@pytest.mark.parametrize("package", [numba_ptxplus, numba_metal], ids=["ptxplus", "metal"])
def test_fma_is_exact(package) -> None:
    """Against rationals. Half of the sums are near the middle of two halves."""
    rng = np.random.default_rng(3)
    count = 2**14
    x, y, z = (rng.integers(0, 0x7C00, count, np.uint16).view(np.float16).copy() for _ in range(3))
    z[::2] = np.ldexp(rng.integers(2**10, 2**11, count // 2), rng.integers(-12, 2, count // 2))
    x[::2] = np.ldexp(1 + rng.integers(-1, 2, count // 2) * 2.0**-10, 0)
    y[::2] = np.ldexp(1 + rng.integers(-1, 2, count // 2) * 2.0**-10, rng.integers(-13, 1, count // 2))
    out = np.zeros(count, np.float16)
    package.jit(fuse)[count // 256, 256](x, y, z, out)
    wanted = np.array([exact_fma(*map(float, triple)) for triple in zip(x, y, z, strict=True)], np.float16)
    assert_same_bits(out, wanted)
    with np.errstate(over="ignore"):
        assert (x * y + z != wanted).any()


def literals(x, out):
    out[0] = x[0] + 1
    out[1] = x[0] * 0.1 + 2


def test_a_half_stays_one_beside_weak_literals() -> None:
    """NEP 50: float16(2049 / 2048) + 1 and * 0.1 in halves; by Numba's rule in float64, here stored as float32."""
    x = np.array([1 + 2**-10], np.float16)
    metal, ptxplus = np.zeros(2, np.float32), np.zeros(2, np.float32)
    numba_metal.jit(literals)[1, 1](x, metal)
    with pytest.warns(NumbaPerformanceWarning, match="the literal 0.1"):
        numba_ptxplus.jit(literals)[1, 1](x, ptxplus)
    np.testing.assert_array_equal(metal, np.array([x[0] + 1, x[0] * 0.1 + 2], np.float32))
    wide = float(x[0])
    np.testing.assert_array_equal(ptxplus, np.array([wide + 1, wide * 0.1 + 2], np.float32))


def saxpy(a, x, y):
    i = gpu.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


SAXPY = (types.float16, types.float16[::1], types.float16[::1])


def test_ptx_of_a_half_saxpy_computes_in_halves() -> None:
    ptx, _result = numba_ptxplus.compile_ptx(saxpy, SAXPY, cc=(9, 0))
    assert re.search(r"mul(\.rn)?\.f16\s", ptx) and re.search(r"add(\.rn)?\.f16\s", ptx)
    assert "cvt" not in re.sub(r"cvt\.u?s?64\.\w+", "", ptx)
    fast, _result = numba_ptxplus.compile_ptx(saxpy, SAXPY, cc=(9, 0), fastmath=True)
    assert re.search(r"fma\.rn\.(ftz\.)?f16\s", fast)


def test_msl_of_a_half_saxpy_computes_in_halves() -> None:
    text = numba_metal.compile_msl(saxpy, "void(float16, float16[::1], float16[::1])")
    assert "half" in text and "float(" not in text


def everything(x, y, n, d, out):
    """What LLVM has no instruction for on some processor."""
    i = gpu.grid(1)
    if i < x.size:
        a, b = x[i], y[i]
        v = gpu.fma(a, b, a) + a // b + a % b + math.sqrt(a) + round(a) + math.floor(b)
        out[i] = float16(v) + float16(n[i]) + float16(d[i]) + float16(int(a)) + float16(np.uint64(n[i]))
        out[i] += math.sin(a) + b**a + np.nextafter(a, b) + max(a, b) + abs(a) + np.rint(a) + math.ldexp(a, n[i])
        d[i] = a
        gpu.atomic.add(out, 0, a)
        gpu.atomic.max(out, 1, a)


TYPES = "void(float16[::1], float16[::1], int32[::1], float64[::1], float16[::1])"


def request_for(arch: str) -> CompileRequest:
    options = KernelOptions.from_keywords({"boundscheck": False})
    arg_types = kernel_arg_types(TYPES)
    return CompileRequest(everything, TARGET, "cpu", BACKEND.codegen, BACKEND.launch_abi, arch, arg_types, options)


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"])
def test_objects_need_nothing_that_the_process_lacks(level: str) -> None:
    if not llvm.get_process_triple().startswith("x86_64"):
        pytest.skip("objects of x86-64 are made on such machines only")
    artifact = compile_kernel(request_for(f"{level}-{sys.platform}"))
    llvm.create_mcjit_compiler(llvm.parse_assembly(""), llvm.Target.from_default_triple().create_target_machine())
    needed = set(undefined_symbols(artifact.code)) - {"_GLOBAL_OFFSET_TABLE_"}
    assert {"sinf", "powf"} <= needed, "the check can fail"
    assert [name for name in needed if not llvm.address_of_symbol(name)] == []


@pytest.mark.parametrize(("triple", "cpu"), [("arm64-apple-darwin", "apple-m1"), ("aarch64-linux-gnu", "generic")])
def test_arm64_objects_need_the_c_library_only(triple: str, cpu: str) -> None:
    """Nothing with `__`, which is how run-time functions of compilers are called."""
    text = inspect_stage(request_for(BACKEND.open_device(0).arch), "asm")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=3, reloc="pic")
    text = re.sub(r'"target-(cpu|features)"="[^"]*"', "", text)
    module = llvm.parse_assembly(re.sub(r"(?m)^target (triple|datalayout) = .*$", "", text))
    module.triple, module.data_layout = triple, str(machine.target_data)
    needed = undefined_symbols(machine.emit_object(module))
    assert "sinf" in needed
    assert [name for name in needed if name.startswith("__")] == []
