"""What a run catches and a compiler cannot: accesses, barriers, orders, undefined behaviour, endless loops."""

import numpy as np
import pytest

from tests.msl import KernelFault, compile_msl_library

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
PARAMS = "device int* x [[buffer(0)]], uint i [[thread_position_in_grid]]"


def library_of(body, params=PARAMS, **options):
    return compile_msl_library(f"{HEAD}kernel void k({params}) {{ {body} }}", **options)


def run(body, data, *, trap_undefined=False, **options):
    """Run 64 threads over `data`; what it holds afterwards."""
    return library_of(body, trap_undefined=trap_undefined).run("k", 1, 64, [data], **options)[0]


def zeros(n=64):
    return np.zeros(n, np.int32)


def test_access_past_the_end_names_thread_and_byte():
    with pytest.raises(KernelFault, match=r"thread \[63, 0, 0\].*SIGSEGV.* byte 256 of buffer 0 \(256 bytes\)"):
        run("x[i + 1] = 1;", zeros(), force_fibers=True)
    with pytest.raises(KernelFault, match=r"SIGSEGV.* at byte -4 of buffer 0"):
        run("x[int(i) - 1] = 1;", zeros(1024), force_fibers=True)


def test_write_just_past_an_unaligned_end():
    """No guard page covers bytes up to the next multiple of 16."""
    with pytest.raises(KernelFault, match=r"write past the end of buffer 0 \(252 bytes\)"):
        run("x[i] = 1;", zeros(63))


def test_constant_memory_is_read_only():
    library = library_of(
        "*reinterpret_cast<device int*>(x[0]) = c[i];",
        "constant int* c [[buffer(0)]], device ulong* x [[buffer(1)]], uint i [[thread_position_in_grid]]",
    )
    constant = library.place(zeros(), "constants")
    with pytest.raises(KernelFault, match=r"SIGSEGV.* at byte 0 of constants"):
        library.run("k", 1, 64, [constant, np.array([constant.address], np.uint64)])


def test_memory_that_is_not_resident_faults():
    library = library_of(
        "*reinterpret_cast<device int*>(x[0]) = 7;",
        "device ulong* x [[buffer(0)]], uint i [[thread_position_in_grid]]",
    )
    hidden = library.place(zeros())
    pointer = np.array([hidden.address], np.uint64)
    library.run("k", 1, 1, [pointer], resident=[hidden])
    assert hidden.host.view(np.int32)[0] == 7
    with pytest.raises(KernelFault, match="SIGSEGV"):
        library.run("k", 1, 1, [pointer])


def test_barrier_that_not_all_threads_reach():
    body = "if (i < 10u) threadgroup_barrier(mem_flags::mem_device); x[i] = 1;"
    with pytest.raises(KernelFault, match="waits at a barrier that other threads of its threadgroup never reach"):
        run(body, zeros())
    assert run(body, zeros(), ended_threads_arrive=True).tolist() == [1] * 64


def test_missing_barrier_shows_in_another_order():
    body = """threadgroup int t[64]; t[i] = int(i); x[i] = t[63u - i];
              threadgroup_barrier(mem_flags::mem_threadgroup);"""
    right = 63 - np.arange(64)
    assert any((run(body, zeros(), order=order) != right).any() for order in ("forward", "reversed"))


def test_order_of_threads():
    """Each thread notes how many came before it."""
    params = "device atomic_int* next [[buffer(0)]], device int* x [[buffer(1)]], uint i [[thread_position_in_grid]]"
    library = library_of("x[i] = atomic_fetch_add_explicit(next, 1, memory_order_relaxed);", params)

    def places(**options):
        return library.run("k", 2, 64, [np.int32(0), zeros(128)], **options)[1].tolist()

    assert places() == list(range(128))
    assert places(order="reversed") == list(range(128))[::-1]
    shuffled = places(order="shuffled", seed=3)
    assert sorted(shuffled) == list(range(128))
    assert shuffled not in (places(), places(order="reversed"), places(order="shuffled", seed=4))
    assert shuffled == places(order="shuffled", seed=3)


def test_threadgroup_memory_starts_as_nan():
    params = "device float* x [[buffer(0)]], uint i [[thread_position_in_threadgroup]]"
    body = """threadgroup float t[64]; if ((i & 1u) == 0u) t[i] = 1.0f;
              threadgroup_barrier(mem_flags::mem_threadgroup); x[i] = t[i];"""
    out = library_of(body, params).run("k", 1, 64, [np.zeros(64, np.float32)])[0]
    assert (out[::2] == 1).all()
    assert np.isnan(out[1::2]).all()


def test_endless_loop_ends_at_the_time_out():
    with pytest.raises(KernelFault, match="still running at the time-out"):
        run("while (x[0] == 0) x[1] += 1;", zeros(), timeout_s=0.2)


def test_stack_overflow():
    """The frame is larger than the stack and its guard page: without probes it would reach into other memory."""
    body = "int a[40000]; for (int j = 0; j < 40000; j++) a[j] = x[j & 63]; x[i] = a[x[i] & 1023] + a[39999];"
    with pytest.raises(KernelFault, match=r"thread \[0, 0, 0\].*SIGSEGV"):
        run(body, zeros())


@pytest.mark.parametrize(
    "body",
    [
        "x[i] = x[i] + 2147483647;",
        "int a[4] = {x[0], x[1], x[2], x[3]}; x[i] = a[i];",
        "x[i] = int(float(x[i]) * 4e9f);",
        "device int* p = (device int*)((device char*)x + 2); p[0] = 1;",
    ],
    ids=["signed overflow", "index", "float to int", "alignment"],
)
def test_undefined_behaviour_traps(body):
    with pytest.raises(KernelFault, match=r"SIG(ILL|TRAP), undefined behaviour"):
        run(body, np.ones(64, np.int32), trap_undefined=True)


def test_integer_division_by_zero_traps():
    with pytest.raises(KernelFault, match=r"SIGFPE|SIGILL"):
        run("x[i] = 7 / x[i];", zeros(), trap_undefined=True)


def test_smaller_threadgroups_at_the_edge():
    params = """device uint3* x [[buffer(0)]], uint2 g [[thread_position_in_grid]],
        uint2 s [[threads_per_threadgroup]], uint2 d [[dispatch_threads_per_threadgroup]],
        uint2 n [[threadgroups_per_grid]], ushort l [[thread_index_in_threadgroup]]"""
    body = "x[g.y * 10u + g.x] = uint3(s.x * 100u + s.y, d.x * 100u + n.x * 10u + n.y, l);"
    out = library_of(body, params.replace("ushort l", "uint l")).run(
        "k", 0, (4, 4), [np.zeros((5, 10, 4), np.uint32)], threads=(10, 5)
    )[0]
    assert out[4, 9, :2].tolist() == [201, 432]
    assert out[0, 0, 0] == 404


def test_flush_of_subnormals():
    params = "device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]"
    library = library_of("x[i] = x[i] * 0.5f;", params)
    x = np.full(4, 1.5e-38, np.float32)
    assert library.run("k", 1, 4, [x])[0][0] > 0
    assert library.run("k", 1, 4, [x], flush_subnormals=True)[0][0] == 0


def test_fast_math_folds_isnan():
    """MSL spec, "Math Intrinsics Compiler Options": fast math has no NaN, which is Metal's default."""
    params = "device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]"
    x = np.full(4, np.nan, np.float32)
    answers = {
        mode: library_of("x[i] = isnan(x[i]) ? 1.0f : 0.0f;", params, math_mode=mode).run("k", 1, 4, [x])[0][0]
        for mode in ("safe", "relaxed", "fast")
    }
    assert answers == {"safe": 1, "relaxed": 1, "fast": 0}


def test_contraction_is_on_until_a_pragma_turns_it_off():
    """(1 + 2**-12)**2 - (1 + 2**-11) is 2**-24 exactly, and 0 when the product is rounded to float32."""
    params = "device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]"
    source = HEAD + f"%s\nkernel void k({params}) {{ x[i] = x[i] * x[i] - 1.00048828125f; }}"
    x = np.full(4, 1 + 2.0**-12, np.float32)
    answers = [
        compile_msl_library(source % pragma).run("k", 1, 4, [x])[0][0]
        for pragma in ("", "#pragma METAL fp contract(off)", "#pragma clang fp contract(off)")
    ]
    assert answers == [np.float32(2.0**-24), 0, 0]
