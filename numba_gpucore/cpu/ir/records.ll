; The records that the CPU device's native code works on. Python fills %gpu.launch (cpu/launch_record.py).

; One launch, shared by its workers:
;   0 grid, 1 block: extents            2 dynamic shared memory of a block in bytes
;     (x and the axis of rows are exchanged, choose_row_axis.py)
;   3 parameter block (base.params)     4 mailbox (base.mailbox)
;   5 number of the program             6 blocks in the grid
;   7 blocks that a worker takes at a time
;   8 first block that no worker has taken yet
;   9 to 12 where a block's parts lie in its memory: shared, warps, threads, and its whole size in bytes
%gpu.launch = type { [3 x i32], [3 x i32], i64, ptr, ptr, i64, i64, i64, i64, i64, i64, i64, i64 }

; One running block:
;   0 %gpu.launch                       1 shared memory
;   2 block index, 3 block extents, 4 grid extents
;   5 first failure: place in the row << 12 | site, or -1 (flat programs)
;   6 x of the running thread in the grid (flat programs)
;   7 threads, 8 warps (coroutine programs)
;   9 false and true predicates of threads that arrived at the current barrier, 10 at the last barrier
;   11 threads in the block            12 where the worker's stack was when the block began
%gpu.block = type { ptr, ptr, [3 x i32], [3 x i32], [3 x i32], i32, i64, ptr, ptr, [2 x i32], [2 x i32], i32, ptr }

; One thread, what device IR calls its context: 0 %gpu.block, 1 thread index, 2 number in the block (flat programs:
; place in its row), 3 continuation (flat programs: where replay.ll keeps a throw). In coroutine programs its frame
; follows.
%gpu.thread = type { ptr, [3 x i32], i32, ptr }

; One warp's lanes: 0 key, 1 value, 2 sent value, 3 lanes met, 4 those of them with a non-zero value,
;   5 living lanes, 6 lanes to resume
%gpu.warp = type { [32 x i64], [32 x i64], [32 x i64], [32 x i32], [32 x i32], i32, i32, [14 x i32] }

; One row of threads of a flat program, from which on all are neighbours in x:
;   0 to 2 block index, of the row's first block; 3, 4 thread index in y and z
;   5 what all of them have in common, in units of x in the grid:
;     0 to 1: threads outside of this range do nothing (bound_rows.py)
;     2 to 3: in this one, comparisons of x have the same outcome for all threads (bound_rows.py)
;     4 to 5: where threads do rounds of a grid-stride loop, x moves on by this length up to this stop (stride_rows.py)
%gpu.row = type { i32, i32, i32, i32, i32, [6 x i64] }
