"""Barriers that all threads of a group reach, also those that have ended: statements before and after `mask_exits`."""

from __future__ import annotations

from types import SimpleNamespace

from numba_metal.codegen.common_values import varying_names
from numba_metal.codegen.mask_exits import mask_exits
from numba_metal.codegen.text_tree import Group, Line, Scope, render


def test_leaving_for_the_kernels_end_is_a_return_to_masks():
    """A thread that throws in a `do { } while (false)` which ends the kernel still reaches the barrier in it."""
    barrier = Line("threadgroup_barrier(mem_flags::mem_threadgroup);")
    bad = Group(["if (tid.x == 22u) {"], [Scope([Line("throw_site(mailbox);"), Line("break;")])], "}", negated="…")
    inner = Group(["if (args.n > 1L) {"], [Scope([bad, barrier, Line("args.x[0] = 1;")])], "}", negated="…")
    scope = Scope([Group(["do {"], [Scope([inner, Line("args.x[1] = 2;")])], "} while (false);")])
    types: dict[str, str] = {}
    mask_exits(scope, SimpleNamespace(), types)
    assert types == {"live": "bool"}
    assert (
        "\n".join(render(scope, 0))
        == """\
live = true;
if (args.n > 1L) {
    if (live) {
        if (tid.x == 22u) {
            throw_site(mailbox);
            live = false;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (live) {
        args.x[0] = 1;
    }
}
if (live) {
    args.x[1] = 2;
}"""
    )


def test_variables_of_a_loop_that_some_threads_leave_early_vary():
    """The test stands in the loop and not at its head; `n` has one number in all threads."""
    leave = Group(["if (args.x[tid.x] < k)"], [Scope([Line("break;")])], "", frozenset(["k"]))
    count = Line("k = k + 1;", frozenset(["k"]), "k")
    start = [Line("k = 0;", defines="k"), Line("n = args.n;", defines="n")]
    assert varying_names(Scope([*start, Group(["while (true) {"], [Scope([count, leave])], "}")])) == {"k"}


def test_what_all_threads_leave_a_loop_by_stays_its_end_where_one_throws_in_it():
    """Behind the loop the kernel ends, so that a `break` of one thread says no more than `return`."""
    barrier = Line("threadgroup_barrier(mem_flags::mem_threadgroup);")
    bad = Group(["if (tid.x == 22u) {"], [Scope([Line("throw_site(mailbox);"), Line("break;")])], "}", negated="…")
    store = Group(["if (tid.x < 9u) {"], [Scope([Line("args.x[0] = 1;"), Line("break;")])], "}", negated="…")
    end = Group(["if (k == 0) {"], [Scope([store, Line("break;")])], "}", frozenset(["k"]), negated="…")
    half = Line("k = k >> 1;", frozenset(["k"]), "k")
    scope = Scope([Line("k = 16;", defines="k"), Group(["while (true) {"], [Scope([bad, barrier, half, end])], "}")])
    mask_exits(scope, SimpleNamespace(), {})
    assert (
        "\n".join(render(scope, 0))
        == """\
live = true;
k = 16;
while (true) {
    if (live) {
        if (tid.x == 22u) {
            throw_site(mailbox);
            live = false;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    k = k >> 1;
    if (k == 0) {
        if (live) {
            if (tid.x < 9u) {
                args.x[0] = 1;
                live = false;
            }
        }
        break;
    }
}"""
    )
