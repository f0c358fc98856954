"""Loads, stores and blocks of memory as MSL: as what type, in which order, in which space."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import numba_metal as gpu
from numba_gpucore.base.errors import UnsupportedKernelError
from tests.msl import compile_msl_library
from tests.unit.msl_ir import array_of, emit, header, run


def test_memory_functions_become_assignments():
    body = """
  %local = alloca [6 x i64], align 8
  call void @llvm.memset.p0.i64(ptr align 8 %local, i8 -1, i64 48, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %local, ptr align 8 %a, i64 24, i1 false)
  %place = getelementptr i64, ptr %local, i64 %i
  %x = load i64, ptr %place
  store i64 %x, ptr %out_place
  ret void
}"""
    msl = emit(header("i64", "i64") + body, (array_of("i64"), array_of("i64")))
    out = run(msl, [np.arange(5, 11), np.zeros(6, np.int64)], 6)[1]
    np.testing.assert_array_equal(out, [5, 6, 7, -1, -1, -1])


@pytest.mark.parametrize(("target", "source"), [(1, 0), (0, 1), (3, 0), (2, 2)])
@pytest.mark.parametrize("count", [3, 6])
def test_memory_that_overlaps_is_moved_as_if_copied_before(target, source, count):
    """LLVM Language Reference, llvm.memmove. Few words are no exception."""
    body = f"""
  %first = icmp eq i64 %i, 0
  br i1 %first, label %move, label %end
move:
  %target = getelementptr float, ptr %a, i64 {target}
  %source = getelementptr float, ptr %a, i64 {source}
  call void @llvm.memmove.p0.p0.i64(ptr align 4 %target, ptr align 4 %source, i64 {4 * count}, i1 false)
  %x = load float, ptr %a_place
  store float %x, ptr %out_place
  br label %end
end:
  ret void
}}"""
    msl = emit(header("float", "float") + body, (array_of("float"), array_of("float")))
    wanted = np.arange(10, dtype=np.float32)
    wanted[target : target + count] = wanted[source : source + count].copy()
    got = run(msl, [np.arange(10, dtype=np.float32), np.zeros(10, np.float32)], 10)[0]
    np.testing.assert_array_equal(got, wanted)


def test_loops_that_fill_memory_leave_the_users_variables_alone():
    """The place of the memory depends on a variable with the name that the loop would choose."""
    body = """
  %rows = alloca [32 x i64], align 8
  call void @llvm.memset.p0.i64(ptr align 8 %rows, i8 -1, i64 256, i1 false)
  br label %loop
loop:
  %k.v = phi i64 [ 0, %entry ], [ %next, %loop ]
  %row = getelementptr [8 x i64], ptr %rows, i64 %k.v
  call void @llvm.memset.p0.i64(ptr align 8 %row, i8 0, i64 40, i1 false)
  %next = add nuw nsw i64 %k.v, 1
  %done = icmp eq i64 %next, 3
  br i1 %done, label %end, label %loop
end:
  %place = getelementptr i64, ptr %rows, i64 %i
  %x = load i64, ptr %place
  store i64 %x, ptr %out_place
  ret void
}"""
    msl = emit(header("i64", "i64") + body, (array_of("i64"), array_of("i64")))
    out = run(msl, [np.zeros(32, np.int64), np.zeros(32, np.int64)], 32)[1]
    np.testing.assert_array_equal(out, [0 if i % 8 < 5 and i < 24 else -1 for i in range(32)])


def test_memory_is_touched_as_what_it_holds():
    """Apple's compiler may take accesses of different types for accesses to different memory (C++14 [basic.lval])."""
    body = """
  %bits = load i32, ptr %a_place
  %changed = xor i32 %bits, -2147483648
  store i32 %changed, ptr %a_place
  %x = load float, ptr %a_place
  %pair = getelementptr i64, ptr %out, i64 %i
  %wide = load i64, ptr %pair, align 8
  %more = add i64 %wide, 1
  store i64 %more, ptr %pair, align 8
  %old = load float, ptr %out_place
  %sum = fadd float %old, %x
  store float %sum, ptr %out_place
  ret void
}"""
    msl = emit(header("float", "float") + body, (array_of("float"), array_of("float")))
    body = msl[msl.index("kernel void") :]
    assert "as_type<int>(args.a[" in body and "as_type<float>(" in body
    assert not any(f"(device {type_}*)" in body for type_ in ("int", "uint", "long", "ulong")), body
    a, out = run(msl, [np.float32([1.5]), np.float32([2.0, 3.0])], 1)
    assert (a.tolist(), out.tolist()) == ([-1.5], [float(np.nextafter(np.float32(2), np.float32(3))) - 1.5, 3.0])


def view_local_items(x, out):
    mine = gpu.local.array(4, gpu.int32)
    i = gpu.grid(1)
    for k in range(4):
        mine[k] = x[(i + k) % x.size]
    mine.view(np.int64)[i % 2] += 5 << 32
    for k in range(4):
        out[i] = out[i] * 3 + mine[(k + x[1]) % 4]


def view_shared_items(x, out):
    tile = gpu.shared.array(8, gpu.int32)
    i = gpu.grid(1)
    tile[i] = x[i]
    gpu.syncthreads()
    if i < 4:
        tile.view(np.int64)[3 - i] += (i + 1) << 32
    gpu.syncthreads()
    out[i] = tile[i]


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        # 27, 9, 3 and 1 of the items 1, 2, 3 and 0 of [i, i + 1, i + 2, i + 3], where item 1, if i is odd 3, has 5 more
        (view_local_items, [27 * 6 + 18 + 9, 27 * 2 + 27 + 27 + 1, 27 * 8 + 36 + 15 + 2, 27 * 4 + 45 + 33 + 3]),
        (view_shared_items, [0, 1 + 4, 2, 3 + 3, 4, 5 + 2, 6, 7 + 1]),
    ],
)
def test_views_of_local_and_shared_items_of_another_size_go_byte_by_byte(kernel, wanted):
    msl = gpu.compile_msl(kernel, "void(int32[::1], int32[::1])")
    body = msl[msl.index("kernel void") :]
    assert "load_ulong_thread(" in body or "load_uint_threadgroup(" in body
    assert not any(f" {type_}*)&" in body or f" {type_}*)(" in body for type_ in ("int", "uint", "long")), body
    library = compile_msl_library(msl)
    x, out = library.place(np.arange(8, dtype=np.int32)), library.place(np.zeros(8, np.int32))
    library.run(
        f"kernel_{kernel.__name__}", 1, 8, [np.array([x.address, 8, out.address, 8], np.uint64)], resident=[x, out]
    )
    assert np.frombuffer(out.host.tobytes()[:32], np.int32)[: len(wanted)].tolist() == wanted


def test_members_of_records_in_shared_memory_are_read_at_once():
    record = numba.from_dtype(np.dtype([("a", np.int32), ("b", np.int16), ("c", np.int64)], align=True))

    def exchange(x, out):
        items = gpu.shared.array(8, record)
        i = gpu.grid(1)
        items[i].a, items[i].b, items[i].c = x[i], i, 9
        gpu.syncthreads()
        out[i] = items[7 - i].a + items[7 - i].b + items[i].c

    assert "load_" not in gpu.compile_msl(exchange, "void(int32[::1], int32[::1])")


def test_pointers_of_two_address_spaces_are_refused():
    body = """
  %local = alloca [4 x float], align 4
  %c = icmp eq i64 %i, 0
  %either = select i1 %c, ptr %local, ptr %a
  %x = load float, ptr %either
  store float %x, ptr %out_place
  ret void
}"""
    with pytest.raises(UnsupportedKernelError, match=r"msl_ir\.py:\d+: an array that is in device or thread memory"):
        emit(header("float", "float") + body, (array_of("float"), array_of("float")))


def test_unaligned_accesses_go_byte_by_byte():
    """Fields of packed records: LLVM says align 1, and MSL leaves a misaligned access undefined."""
    body = """
  %field = getelementptr i8, ptr %a_place, i64 1
  %x = load i32, ptr %field, align 1
  %y = load float, ptr %field, align 2
  %target = getelementptr i8, ptr %out_place, i64 3
  store i32 %x, ptr %target, align 1
  %other = getelementptr i8, ptr %out_place, i64 9
  store float %y, ptr %other, align 1
  ret void
}"""
    msl = emit(header("i64", "i64") + body, (array_of("i64"), array_of("i64")))
    data = np.array([0x1122334455667788, 0], np.int64)
    out = run(msl, [data, np.zeros(2, np.int64)], 1)[1].tobytes()
    assert out == bytes(3) + bytes([0x77, 0x66, 0x55, 0x44]) + bytes(2) + bytes([0x77, 0x66, 0x55, 0x44]) + bytes(3)


def test_constant_arrays_may_hold_every_byte():
    """LLVM prints a backslash as two, and a quote or a byte beyond ASCII in hexadecimal."""
    table = np.arange(256, dtype=np.uint8)[::-1].copy()

    def look_up(x, out):
        i = gpu.grid(1)
        out[i] = table[x[i]]

    library = compile_msl_library(gpu.compile_msl(look_up, "void(int64[::1], uint8[::1])"))
    x, out = library.place(np.arange(256)), library.place(np.zeros(256, np.uint8))
    words = np.array([x.address, 256, out.address, 256], np.uint64)
    library.run("kernel_look_up", 1, 256, [words], resident=[x, out])
    assert out.host.tobytes()[:256] == table.tobytes()
