"""Control flow and barriers of the PTX machine. PTX ISA, "Control Flow Instructions", "bar, barrier"."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.ptx.kernels import kernel, module, run
from tests.ptx.machine import PtxFault, PtxMachine

COLLATZ = """
 ld.global.u32 %r0, [%in];
 mov.u32 %r1, 0;
next:
 setp.eq.u32 %p1, %r0, 1;
 @%p1 bra done;
 and.b32 %r2, %r0, 1;
 setp.eq.u32 %p2, %r2, 0;
 @%p2 bra even;
 mad.lo.u32 %r0, %r0, 3, 1;
 bra.uni count;
even:
 shr.u32 %r0, %r0, 1;
count:
 add.u32 %r1, %r1, 1;
 bra next;
done:
 st.global.u32 [%out], %r1;"""


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


def test_divergent_loop(tmp_path: Path) -> None:
    """Each lane its own number of turns, 111 at most (27)."""
    data = np.arange(1, 65)
    got = run(kernel(COLLATZ), tmp_path, data, block=64)
    np.testing.assert_array_equal(got, [collatz(int(n)) for n in data])


def test_jump_table(tmp_path: Path) -> None:
    body = """
 rem.u32 %r0, %i, 3;
table: .branchtargets zero, one, two;
 brx.idx %r0, table;
zero:
 mov.u32 %r1, 100;
 bra store;
one:
 mov.u32 %r1, 200;
 bra store;
two:
 mov.u32 %r1, 300;
store:
 st.global.u32 [%out], %r1;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path), np.arange(32) % 3 * 100 + 100)


def test_guarded_exit_and_return(tmp_path: Path) -> None:
    body = """
 setp.lt.u32 %p1, %i, 5;
 @%p1 exit;
 setp.lt.u32 %p2, %i, 10;
 @%p2 ret;
 st.global.u32 [%out], %i;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path), [0xDEAD] * 10 + list(range(10, 32)))


FIBONACCI = """
.func (.param .b32 result) fibonacci(.param .b32 n)
{
 .reg .pred %p<2>;
 .reg .b32 %r<8>;
 ld.param.b32 %r1, [n];
 setp.lt.u32 %p1, %r1, 2;
 @%p1 bra small;
 sub.u32 %r2, %r1, 1;
 { .param .b32 argument; .param .b32 value;
 st.param.b32 [argument], %r2;
 call.uni (value), fibonacci, (argument);
 ld.param.b32 %r3, [value]; }
 sub.u32 %r4, %r1, 2;
 { .param .b32 argument; .param .b32 value;
 st.param.b32 [argument], %r4;
 call.uni (value), fibonacci, (argument);
 ld.param.b32 %r5, [value]; }
 add.u32 %r1, %r3, %r5;
small:
 st.param.b32 [result], %r1;
 ret;
}
"""


def test_recursion(tmp_path: Path) -> None:
    """Lanes of one warp at different depths: fibonacci(lane modulo 8)."""
    body = """
 rem.u32 %r0, %i, 8;
 { .param .b32 argument; .param .b32 value;
 st.param.b32 [argument], %r0;
 call.uni (value), fibonacci, (argument);
 ld.param.b32 %r1, [value]; }
 st.global.u32 [%out], %r1;"""
    got = run(FIBONACCI + kernel(body), tmp_path)
    np.testing.assert_array_equal(got, [0, 1, 1, 2, 3, 5, 8, 13] * 4)


def test_call_through_a_register(tmp_path: Path) -> None:
    functions = "".join(
        f"""
.func (.param .b32 r_{name}) {name}(.param .b32 a_{name})
{{ .reg .b32 %x; ld.param.b32 %x, [a_{name}]; {instruction} st.param.b32 [r_{name}], %x; ret; }}
"""
        for name, instruction in (("double", "add.u32 %x, %x, %x;"), ("negate", "neg.s32 %x, %x;"))
    )
    body = """
 and.b32 %r0, %i, 1;
 setp.eq.u32 %p1, %r0, 0;
 mov.u64 %d1, double;
 mov.u64 %d2, negate;
 selp.b64 %d3, %d1, %d2, %p1;
 { .param .b32 argument; .param .b32 value;
 st.param.b32 [argument], %i;
prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
 call (value), %d3, (argument), prototype;
 ld.param.b32 %r1, [value]; }
 st.global.u32 [%out], %r1;"""
    lanes = np.arange(32)
    got = run(functions + kernel(body), tmp_path).view(np.int32)
    np.testing.assert_array_equal(got, np.where(lanes % 2, -lanes, 2 * lanes))


def test_struct_parameters_and_local_variables_of_calls(tmp_path: Path) -> None:
    """(a, b) by value as 16 bytes; the callee keeps them in local memory and returns b - a."""
    function = """
.func (.param .b64 difference) subtract(.param .align 8 .b8 pair[16])
{
 .local .align 8 .b8 depot[16];
 .reg .b64 %d<8>;
 ld.param.b64 %d1, [pair];
 ld.param.b64 %d2, [pair+8];
 mov.u64 %d3, depot;
 cvta.local.u64 %d4, %d3;
 st.local.b64 [%d3], %d1;
 st.b64 [%d4+8], %d2;
 ld.b64 %d5, [%d4];
 ld.local.b64 %d6, [depot+8];
 sub.s64 %d7, %d6, %d5;
 st.param.b64 [difference], %d7;
 ret;
}
"""
    body = """
 cvt.u64.u32 %d1, %i;
 mul.lo.u64 %d2, %d1, %d1;
 { .param .align 8 .b8 argument[16]; .param .b64 value;
 st.param.b64 [argument], %d1;
 st.param.b64 [argument+8], %d2;
 call.uni (value), subtract, (argument);
 ld.param.b64 %d3, [value]; }
 cvt.u32.u64 %r1, %d3;
 st.global.u32 [%out], %r1;"""
    lanes = np.arange(32)
    np.testing.assert_array_equal(run(function + kernel(body), tmp_path), lanes * lanes - lanes)


REVERSE = """
 .shared .align 4 .b8 words[1024];
 mov.u32 %r0, %tid.x;
 mov.u32 %r1, words;
 shl.b32 %r2, %r0, 2;
 add.u32 %r3, %r1, %r2;
 st.shared.u32 [%r3], %i;
 bar.sync 0;
 mov.u32 %r4, %ntid.x;
 sub.u32 %r5, %r4, %r0;
 shl.b32 %r5, %r5, 2;
 add.u32 %r5, %r5, %r1;
 ld.shared.u32 %r6, [%r5+-4];
 st.global.u32 [%out], %r6;"""


@pytest.mark.parametrize("block", [32, 100, 256])
def test_barrier_and_shared_memory(block: int, tmp_path: Path) -> None:
    """Each block reverses its own numbers; 100 threads are three warps and a part of one."""
    got = run(kernel(REVERSE), tmp_path, grid=3, block=block)
    np.testing.assert_array_equal(got, np.arange(3 * block).reshape(3, block)[:, ::-1].ravel())


def test_barrier_in_both_branches_is_one_barrier(tmp_path: Path) -> None:
    """PTX ISA, "barrier": threads are counted at the barrier's number, not at its place in the text."""
    body = """
 .shared .u32 word;
 setp.eq.u32 %p1, %i, 40;
 @%p1 bra writer;
 barrier.sync 1;
 ld.shared.u32 %r1, [word];
 bra store;
writer:
 mov.u32 %r1, 5;
 st.shared.u32 [word], %r1;
 barrier.sync 1;
store:
 st.global.u32 [%out], %r1;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path, block=64), 5)


def test_barrier_counts_live_threads(tmp_path: Path) -> None:
    body = """
 setp.lt.u32 %p1, %i, 32;
 @%p1 exit;
 bar.sync 0;
 st.global.u32 [%out], %i;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path, block=64), [0xDEAD] * 32 + list(range(32, 64)))


def test_barrier_of_half_the_block(tmp_path: Path) -> None:
    """A producer warp arrives without waiting, the consumer warp waits for 64 threads of 96."""
    body = """
 .shared .u32 word;
 setp.ge.u32 %p1, %i, 64;
 @%p1 exit;
 setp.ge.u32 %p2, %i, 32;
 @%p2 bra consumer;
 mov.u32 %r0, 9;
 st.shared.u32 [word], %r0;
 bar.arrive 2, 64;
 exit;
consumer:
 bar.sync 2, 64;
 ld.shared.u32 %r1, [word];
 st.global.u32 [%out], %r1;"""
    got = run(kernel(body), tmp_path, block=96)
    np.testing.assert_array_equal(got, [0xDEAD] * 32 + [9] * 32 + [0xDEAD] * 32)


@pytest.mark.parametrize(
    ("operation", "wanted"), [("popc.u32 %r1, 0, %p1", 13), ("popc.u32 %r1, 0, !%p1", 51)], ids=["popc", "popc not"]
)
def test_barrier_that_counts(operation: str, wanted: int, tmp_path: Path) -> None:
    """13 of a block's 64 threads have a number divisible by 5."""
    body = f"""
 mov.u32 %r3, %tid.x;
 rem.u32 %r0, %r3, 5;
 setp.eq.u32 %p1, %r0, 0;
 bar.red.{operation};
 st.global.u32 [%out], %r1;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path, grid=2, block=64), wanted)


@pytest.mark.parametrize(("operation", "limit", "wanted"), [("and", 64, 1), ("and", 63, 0), ("or", 1, 1), ("or", 0, 0)])
def test_barrier_that_votes(operation: str, limit: int, wanted: int, tmp_path: Path) -> None:
    body = f"""
 setp.lt.u32 %p1, %i, {limit};
 barrier.red.{operation}.pred %p2, 0, %p1;
 selp.u32 %r1, 1, 0, %p2;
 st.global.u32 [%out], %r1;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path, block=64), wanted)


def test_spinning_threads_let_the_lock_holder_run(tmp_path: Path) -> None:
    """A lock in shared memory, taken by every thread of a warp in turn: 64 increments that are not atomic.

    Since sm_70 threads of a warp make progress independently (CUDA C++ Programming Guide, "Independent Thread
    Scheduling").
    """
    body = """
 .shared .u32 lock;
 .shared .u32 counter;
 mov.u32 %r9, 0;
 st.shared.u32 [lock], %r9;
 st.shared.u32 [counter], %r9;
 bar.sync 0;
spin:
 atom.shared.cas.b32 %r0, [lock], 0, 1;
 setp.ne.u32 %p1, %r0, 0;
 @%p1 bra spin;
 ld.shared.u32 %r1, [counter];
 add.u32 %r1, %r1, 1;
 st.shared.u32 [counter], %r1;
 membar.cta;
 atom.shared.exch.b32 %r2, [lock], 0;
 bar.sync 0;
 ld.shared.u32 %r3, [counter];
 st.global.u32 [%out], %r3;"""
    np.testing.assert_array_equal(run(kernel(body), tmp_path, block=64), 64)


def test_blocks_run_at_the_same_time(tmp_path: Path) -> None:
    """Block 0 waits for what the last block writes, as a grid-wide barrier does."""
    body = """
 setp.lt.u32 %p1, %i, 96;
 @%p1 bra wait;
 atom.global.add.u32 %r0, [flag], 1;
wait:
 ld.volatile.global.u32 %r1, [flag];
 setp.lt.u32 %p2, %r1, 32;
 @%p2 bra wait;
 st.global.u32 [%out], %r1;"""
    got = run(".global .u32 flag = 0;\n" + kernel(body), tmp_path, grid=4, block=32)
    np.testing.assert_array_equal(got, 32)


def test_special_registers(tmp_path: Path) -> None:
    """laneid + 100 warpid + 10000 nwarpid, and masks of the lanes before."""
    body = """
 mov.u32 %r0, %laneid;
 mov.u32 %r1, %warpid;
 mov.u32 %r2, %nwarpid;
 mad.lo.u32 %r0, %r1, 100, %r0;
 mad.lo.u32 %r0, %r2, 10000, %r0;
 mov.u32 %r3, %lanemask_lt;
 popc.b32 %r3, %r3;
 mov.u32 %r4, %laneid;
 sub.u32 %r3, %r3, %r4;
 add.u32 %r0, %r0, %r3;
 st.global.u32 [%out], %r0;"""
    threads = np.arange(70)
    got = run(kernel(body), tmp_path, block=70)
    np.testing.assert_array_equal(got, threads % 32 + 100 * (threads // 32) + 30000)


def test_three_dimensional_numbers(tmp_path: Path) -> None:
    """PTX ISA, "%tid": x is fastest."""
    body = """
 mov.u32 %r1, %tid.x;
 mov.u32 %r2, %tid.y;
 mov.u32 %r3, %tid.z;
 mov.u32 %r4, %ctaid.x;
 mov.u32 %r5, %ctaid.y;
 mov.u32 %r6, %nctaid.y;
 mov.u32 %r7, %ntid.y;
 mad.lo.u32 %r1, %r2, 10, %r1;
 mad.lo.u32 %r1, %r3, 100, %r1;
 mad.lo.u32 %r1, %r4, 1000, %r1;
 mad.lo.u32 %r1, %r5, 10000, %r1;
 mad.lo.u32 %r1, %r6, 100000, %r1;
 mad.lo.u32 %r1, %r7, 1000000, %r1;
 mov.u32 %r8, %ntid.x;
 mov.u32 %r9, %tid.x;
 mad.lo.u32 %r9, %r2, %r8, %r9;
 mul.lo.u32 %r10, %r8, %r7;
 mad.lo.u32 %r9, %r3, %r10, %r9;
 mov.u32 %r11, %nctaid.x;
 mad.lo.u32 %r12, %r5, %r11, %r4;
 mov.u32 %r13, %ntid.z;
 mul.lo.u32 %r10, %r10, %r13;
 mad.lo.u32 %r9, %r12, %r10, %r9;
 ld.param.u64 %out, [k_out];
 mad.wide.u32 %out, %r9, 4, %out;
 st.global.u32 [%out], %r1;"""
    machine = PtxMachine(module(kernel(body)))
    out = machine.memory.allocate(4 * 6 * 24)
    machine.launch("k", (2, 3), (4, 3, 2), (out, out))
    got = machine.memory.copy_out(out, (3, 2, 2, 3, 4), np.uint32)
    by, bx, tz, ty, tx = np.indices(got.shape)
    np.testing.assert_array_equal(got, tx + 10 * ty + 100 * tz + 1000 * bx + 10000 * by + 3300000)


FAULTS = [
    ("trap;", r"PTX line \d+: trap; trap|trap.*block \(0, 0, 0\), thread \(0, 0, 0\)"),
    ("again: bra again;", "more than 1000 instructions"),
    ("setp.eq.u32 %p1, %i, 1;\n @%p1 trap;", r"thread \(1, 0, 0\)"),
    ("mov.u32 %r0, 7;\nlist: .branchtargets only;\n brx.idx %r0, list;\nonly:", "index 7 into 1 branch targets"),
]


@pytest.mark.parametrize(("body", "message"), FAULTS, ids=["trap", "endless", "lane", "index"])
def test_faults_name_instruction_and_thread(body: str, message: str, tmp_path: Path) -> None:
    machine = PtxMachine(module(kernel(" " + body)))
    with pytest.raises(PtxFault, match=message):
        machine.launch("k", 1, 32, (0, 0), instruction_budget=1000)


def test_barrier_that_some_never_reach_is_a_deadlock(tmp_path: Path) -> None:
    body = """
 setp.lt.u32 %p1, %i, 32;
 @%p1 bra other;
 bar.sync 0;
 exit;
other:
 bar.sync 1;"""
    with pytest.raises(PtxFault, match=r"deadlock.*32 threads, first block \(0, 0, 0\), thread \(32, 0, 0\)"):
        run(kernel(body), tmp_path, block=64)
