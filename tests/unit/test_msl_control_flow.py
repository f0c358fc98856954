"""Control flow: whatever graph of blocks LLVM leaves, the MSL does the same, in words that C++ has.

Graphs are interpreted here, block by block, and their MSL is run; both must visit the same blocks in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

from tests.unit.msl_ir import ENTRY, array_of, emit, run

#: A graph: for each block its successors, none for the end, two where a bit of the state decides.
Graph = Sequence[tuple[int, ...]]
STEPS = 40
ARGS = (array_of("i32"), array_of("i32"))

NAMED_GRAPHS: dict[str, Graph] = {
    "straight": ((1,), (2,), ()),
    "if": ((1, 2), (2,), ()),
    "if_else": ((1, 2), (3,), (3,), ()),
    "and": ((1, 3), (2, 3), (3,), ()),
    "or": ((2, 1), (2, 3), (3,), ()),
    "or_with_else": ((2, 1), (2, 3), (4,), (4,), ()),
    "while": ((1,), (2, 3), (1,), ()),
    "do_while": ((1,), (1, 2), ()),
    "break_with_work": ((1,), (2, 5), (3, 4), (5,), (1,), ()),
    "for_else": ((1,), (2, 3), (4, 1), (5,), (5,), ()),
    "continue": ((1,), (2, 5), (3, 4), (1,), (1,), ()),
    "continue_past_work": ((1,), (2, 6), (3, 5), (5, 4), (5,), (1,), ()),
    "nested": ((1,), (2, 5), (3,), (3, 4), (1,), ()),
    "leave_two_loops": ((1,), (2, 6), (3,), (4, 5), (3, 6), (1,), ()),
    "leave_two_loops_for_work": ((1,), (2, 6), (3,), (4, 5), (3, 7), (1,), (8,), (8,), ()),
    "continue_outer": ((1,), (2, 7), (3,), (4, 6), (5, 1), (3,), (1,), ()),
    "leave_three_loops": ((1,), (2, 8), (3, 1), (4, 2), (5, 6), (4, 7), (2,), (8,), ()),
    "two_returns_in_loop": ((1,), (2, 3), (1, 4), (), ()),
    "irreducible": ((1, 2), (2, 3), (1, 4), (4,), ()),
    "irreducible_in_loop": ((1,), (2, 5), (3, 4), (4,), (3, 1), ()),
    "loop_of_loops": ((1,), (1, 2), (2, 3), (1, 4), ()),
}


def ir_of(graph: Graph) -> str:
    """Each block notes its number in the trace, changes the state, and counts; STEPS blocks later the kernel ends.

    The state is a phi wherever edges meet, so copies on edges are tested too.
    """
    sources: dict[int, list[int]] = {block: [] for block in range(len(graph))}
    for block, targets in enumerate(graph):
        for target in targets:
            sources[target].append(block)
    lines = [
        "declare i32 @msl.global_id.x()",
        f"define void @{ENTRY}(ptr %ctx, ptr %seed, i64 %seeds, ptr %trace, i64 %size) {{",
        "entry:",
        "  %thread = call i32 @msl.global_id.x()",
        "  %i = zext i32 %thread to i64",
        "  %seed_place = getelementptr i32, ptr %seed, i64 %i",
        "  %start = load i32, ptr %seed_place",
        f"  %row = mul i64 %i, {STEPS}",
        "  br label %b0",
    ]
    for block, targets in enumerate(graph):
        incoming = [f"[ %state{s}, %c{s} ]" for s in sources[block]]
        counts = [f"[ %count{s}, %c{s} ]" for s in sources[block]]
        if block == 0:
            incoming, counts = [*incoming, "[ %start, %entry ]"], [*counts, "[ 0, %entry ]"]
        if not incoming:
            continue
        lines += [
            f"b{block}:",
            f"  %in{block} = phi i32 {', '.join(incoming)}",
            f"  %at{block} = phi i64 {', '.join(counts)}",
            f"  %full{block} = icmp uge i64 %at{block}, {STEPS}",
            f"  br i1 %full{block}, label %end, label %w{block}",
            f"w{block}:",
            f"  %cell{block} = add i64 %row, %at{block}",
            f"  %place{block} = getelementptr i32, ptr %trace, i64 %cell{block}",
            f"  store i32 {block}, ptr %place{block}",
            f"  %mixed{block} = mul i32 %in{block}, 1664525",
            f"  %state{block} = add i32 %mixed{block}, {1013904223 + block}",
            f"  %count{block} = add i64 %at{block}, 1",
            f"  br label %c{block}",
            f"c{block}:",
        ]
        if not targets:
            lines.append("  br label %end")
        elif len(targets) == 1:
            lines.append(f"  br label %b{targets[0]}")
        else:
            lines += [
                f"  %bit{block} = lshr i32 %state{block}, {16 + block % 8}",
                f"  %taken{block} = trunc i32 %bit{block} to i1",
                f"  br i1 %taken{block}, label %b{targets[0]}, label %b{targets[1]}",
            ]
    return "\n".join([*lines, "end:", "  ret void", "}"])


def interpret(graph: Graph, seed: int) -> list[int]:
    trace, block, state = [], 0, seed
    while len(trace) < STEPS:
        trace.append(block)
        state = (state * 1664525 + 1013904223 + block) & 0xFFFFFFFF
        targets = graph[block]
        if not targets:
            break
        taken = state >> (16 + block % 8) & 1
        block = targets[0] if len(targets) == 1 or taken else targets[1]
    return trace + [-1] * (STEPS - len(trace))


def check_graph(graph: Graph) -> str:
    seeds = np.random.default_rng(5).integers(0, 2**31, 32).astype(np.int32)
    msl = emit(ir_of(graph), ARGS)
    trace = run(msl, [seeds, np.full(32 * STEPS, -1, np.int32)], 32)[1].reshape(32, STEPS)
    wanted = np.array([interpret(graph, int(seed)) for seed in seeds])
    np.testing.assert_array_equal(trace, wanted, err_msg=msl)
    return msl


@pytest.mark.parametrize("name", NAMED_GRAPHS)
def test_named_graph(name):
    check_graph(NAMED_GRAPHS[name])


def random_graph(seed: int) -> Graph:
    """Any edges at all: many of these graphs are irreducible. Blocks that nothing reaches are left out."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(4, 10))
    graph = [tuple(int(t) for t in rng.integers(0, size, rng.integers(1, 3))) for _ in range(size - 1)] + [()]
    graph = [(t[0],) if len(t) == 2 and t[0] == t[1] else t for t in graph]
    return _reachable(graph)


def random_structured_graph(seed: int) -> Graph:
    """Nested branches and loops with breaks and continues of any level: what Python programs are made of."""
    rng = np.random.default_rng(seed)
    graph: list[tuple[int, ...]] = []

    def new() -> int:
        graph.append(())
        return len(graph) - 1

    def sequence(block: int, depth: int, loops: list[tuple[int, int]]) -> int | None:
        """Grow code from `block` on; the block where it falls out, None if it never does."""
        for _ in range(int(rng.integers(1, 4))):
            kind = rng.integers(0, 5) if depth < 3 else 0
            if kind == 1 or kind == 2:
                then, orelse, after = new(), new(), new()
                graph[block] = (then, orelse)
                for arm in (then, orelse):
                    end = sequence(arm, depth + 1, loops)
                    if end is not None:
                        graph[end] = (after,)
                block = after
            elif kind == 3:
                header, body, after = new(), new(), new()
                graph[block] = (header,)
                graph[header] = (body, after)
                end = sequence(body, depth + 1, [*loops, (header, after)])
                if end is not None:
                    graph[end] = (header,)
                block = after
            elif loops and rng.integers(0, 3) == 0:
                header, after = loops[rng.integers(0, len(loops))]
                target = (header, after)[rng.integers(0, 2)]
                following = new()
                graph[block] = (target, following)
                block = following
            else:
                following = new()
                graph[block] = (following,)
                block = following
        return block

    sequence(new(), 0, [])
    return _reachable(graph)


def _reachable(graph: Sequence[tuple[int, ...]]) -> Graph:
    seen, pending = {0}, [0]
    while pending:
        for target in graph[pending.pop()]:
            if target not in seen:
                seen.add(target)
                pending.append(target)
    numbers = {block: number for number, block in enumerate(sorted(seen))}
    return tuple(tuple(numbers[t] for t in graph[block]) for block in sorted(seen))


@pytest.mark.parametrize("seed", range(25))
def test_random_graph(seed):
    check_graph(random_graph(seed))


@pytest.mark.parametrize("seed", range(25))
def test_random_structured_graph(seed):
    check_graph(random_structured_graph(seed))


def test_flags_only_where_two_loops_are_left_at_once():
    for name in NAMED_GRAPHS:
        # Counting steps would leave every loop, so these blocks do not.
        text = emit(bare_ir(NAMED_GRAPHS[name]), ARGS)
        has_flag = re.search(r"\b(goto|continue)_\d+", text) is not None
        assert has_flag == name.startswith(("continue_outer", "leave_")), (name, text)


def test_only_irreducible_graphs_dispatch():
    for name in NAMED_GRAPHS:
        text = emit(bare_ir(NAMED_GRAPHS[name]), ARGS)
        assert ("switch (state)" in text) == name.startswith("irreducible"), (name, text)


def bare_ir(graph: Graph) -> str:
    """Blocks that store their number and branch on a fresh load."""
    lines = [f"define void @{ENTRY}(ptr %ctx, ptr %bits, i64 %n, ptr %trace, i64 %m) {{", "entry:", "  br label %b0"]
    for block, targets in enumerate(graph):
        lines += [f"b{block}:", f"  store volatile i32 {block}, ptr %trace"]
        if not targets:
            lines.append("  ret void")
        elif len(targets) == 1:
            lines.append(f"  br label %b{targets[0]}")
        else:
            lines += [
                f"  %x{block} = load volatile i32, ptr %bits",
                f"  %t{block} = icmp eq i32 %x{block}, {block}",
                f"  br i1 %t{block}, label %b{targets[0]}, label %b{targets[1]}",
            ]
    return "\n".join([*lines, "}"])


def test_deep_chain_of_throws_is_not_nested():
    """Bounds checks make chains of hundreds of branches: neither Python's stack nor clang's brackets may limit them."""
    lines = [
        "declare void @msl.throw(i32, i64, i64, i64, i64)",
        f"define void @{ENTRY}(ptr %ctx, ptr %a, i64 %n, ptr %out, i64 %m) {{",
        "entry:",
        "  br label %b0",
    ]
    for block in range(600):
        lines += [
            f"b{block}:",
            f"  %place{block} = getelementptr i32, ptr %a, i64 {block}",
            f"  %x{block} = load i32, ptr %place{block}",
            f"  %bad{block} = icmp slt i32 %x{block}, 0",
            f"  br i1 %bad{block}, label %throw{block}, label %b{block + 1}",
            f"throw{block}:",
            f"  call void @msl.throw(i32 {block}, i64 0, i64 0, i64 0, i64 0)",
            "  br label %end",
        ]
    lines += ["b600:", "  store i32 1, ptr %out", "  br label %end", "end:", "  ret void", "}"]
    text = emit("\n".join(lines), ARGS)
    assert max(len(line) - len(line.lstrip()) for line in text.splitlines()) <= 24


def test_plain_loops_read_as_a_person_writes_them():
    """A loop that tests first is a `while`, one that tests last a `do … while`; a guard needs no else."""
    text = emit(bare_ir(NAMED_GRAPHS["do_while"]), ARGS)
    assert "} while (" in text
    assert "while (true)" not in text
    counting = f"""
define void @{ENTRY}(ptr %ctx, ptr %a, i64 %n, ptr %out, i64 %m) {{
entry:
  br label %test
test:
  %j = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %j, %n
  br i1 %more, label %body, label %done
body:
  %place = getelementptr i32, ptr %out, i64 %j
  store i32 7, ptr %place
  %next = add nuw nsw i64 %j, 1
  br label %test
done:
  ret void
}}
"""
    body = emit(counting, ARGS).split(")\n{\n")[-1]
    assert (
        body
        == """    long v = 0L;
    while (v < args.a_size) {
        args.b[v] = 7;
        v = v + 1L;
    }
}
"""
    )


def test_where_only_lives_of_local_arrays_end_the_kernel_ends():
    """LLVM puts that before the `ret` at which all ways meet; a thread that throws in a loop returns there."""
    text = emit(
        f"""
define void @{ENTRY}(ptr %ctx, ptr %a, i64 %n, ptr %out, i64 %m) {{
entry:
  %local = alloca [4 x i32]
  br label %loop
loop:
  %j = phi i64 [ 0, %entry ], [ %next, %go_on ]
  %place = getelementptr i32, ptr %a, i64 %j
  %item = load i32, ptr %place
  %bad = icmp eq i32 %item, 9
  br i1 %bad, label %throw, label %go_on
throw:
  call void @msl.throw(i32 0, i64 0, i64 0, i64 0, i64 0)
  br label %done
go_on:
  %spot = getelementptr i32, ptr %local, i64 %j
  store i32 %item, ptr %spot
  %next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %behind
behind:
  %last = load i32, ptr %local
  %worse = icmp eq i32 %last, 7
  br i1 %worse, label %done, label %store
store:
  store i32 %last, ptr %out
  br label %done
done:
  call void @llvm.lifetime.end.p0(ptr %local)
  ret void
}}
""",
        ARGS,
    )
    assert (
        text.split("array_[4];\n")[-1]
        == """    long v = 0L;
    do {
        int loaded = args.a[v];
        if (loaded == 9) {
            throw_site(mailbox, launch.program, group, tid, 0u, 0UL, 0UL, 0UL, 0UL);
            return;
        }
        array_[v] = loaded;
        v = v + 1L;
    } while (v < args.a_size);
    int loaded_2 = array_[0];
    if (loaded_2 != 7)
        args.b[0] = loaded_2;
}
"""
    )
