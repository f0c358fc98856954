; The threads of a row of a program without barriers and warp operations: loops with the kernel inlined, which LLVM
; vectorises across GPU threads. blocks.ll calls them.

; Write what all threads of a row have in common into its record.
define void @gpu.find_bounds(ptr dereferenceable(112) %launch, ptr noalias dereferenceable(72) %row) noinline {
  %params = call %gpu.params @gpu.load_params(ptr %launch)
  %width = call i32 @gpu.block_extent(ptr %launch, i32 0)
  %bx.at = getelementptr %gpu.row, ptr %row, i32 0, i32 0
  %bx = load i32, ptr %bx.at, !range !{i32 0, i32 2147483647}
  %by.at = getelementptr %gpu.row, ptr %row, i32 0, i32 1
  %by = load i32, ptr %by.at, !range !{i32 0, i32 2147483647}
  %bz.at = getelementptr %gpu.row, ptr %row, i32 0, i32 2
  %bz = load i32, ptr %bz.at, !range !{i32 0, i32 2147483647}
  %ty.at = getelementptr %gpu.row, ptr %row, i32 0, i32 3
  %ty = load i32, ptr %ty.at, !range !{i32 0, i32 1024}
  %tz.at = getelementptr %gpu.row, ptr %row, i32 0, i32 4
  %tz = load i32, ptr %tz.at, !range !{i32 0, i32 1024}
  %row_start = call i64 @gpu.row_start(ptr %launch, i32 %width, i32 %bx, i32 %by, i32 %bz, i32 %ty, i32 %tz, %gpu.params %params)
  %row_start.at = getelementptr %gpu.row, ptr %row, i32 0, i32 5, i64 0
  store i64 %row_start, ptr %row_start.at
  %row_stop = call i64 @gpu.row_stop(ptr %launch, i32 %width, i32 %bx, i32 %by, i32 %bz, i32 %ty, i32 %tz, %gpu.params %params)
  %row_stop.at = getelementptr %gpu.row, ptr %row, i32 0, i32 5, i64 1
  store i64 %row_stop, ptr %row_stop.at
  %plain_start = call i64 @gpu.plain_start(ptr %launch, i32 %width, i32 %bx, i32 %by, i32 %bz, i32 %ty, i32 %tz, %gpu.params %params)
  %plain_start.at = getelementptr %gpu.row, ptr %row, i32 0, i32 5, i64 2
  store i64 %plain_start, ptr %plain_start.at
  %plain_stop = call i64 @gpu.plain_stop(ptr %launch, i32 %width, i32 %bx, i32 %by, i32 %bz, i32 %ty, i32 %tz, %gpu.params %params)
  %plain_stop.at = getelementptr %gpu.row, ptr %row, i32 0, i32 5, i64 3
  store i64 %plain_stop, ptr %plain_stop.at
  %stride_length = call i64 @gpu.stride_length(ptr %launch, i32 %width, i32 %bx, i32 %by, i32 %bz, i32 %ty, i32 %tz, %gpu.params %params)
  %stride_length.at = getelementptr %gpu.row, ptr %row, i32 0, i32 5, i64 4
  store i64 %stride_length, ptr %stride_length.at
  %stride_stop = call i64 @gpu.stride_stop(ptr %launch, i32 %width, i32 %bx, i32 %by, i32 %bz, i32 %ty, i32 %tz, %gpu.params %params)
  %stride_stop.at = getelementptr %gpu.row, ptr %row, i32 0, i32 5, i64 5
  store i64 %stride_stop, ptr %stride_stop.at
  ret void
}

; Run the threads from `x.from`, the `place.from`-th of its row, below `x.stop`, of which there is one at least. Returns the
; row's first failure so far.
define i32 @gpu.run_threads(ptr dereferenceable(112) %launch, ptr %scratch, ptr noalias dereferenceable(72) %row, i64 range(i64 0, 4611686018427387904) %x.from, i64 range(i64 0, 4611686018427387904) %x.stop, i32 range(i32 0, 1048576) %place.from, i32 %failure.from) noinline {
entry:
  %params = call %gpu.params @gpu.load_params(ptr %launch)
  %width = call i32 @gpu.block_extent(ptr %launch, i32 0)
  %bx.at = getelementptr %gpu.row, ptr %row, i32 0, i32 0
  %bx = load i32, ptr %bx.at, !range !{i32 0, i32 2147483647}
  %by.at = getelementptr %gpu.row, ptr %row, i32 0, i32 1
  %by = load i32, ptr %by.at, !range !{i32 0, i32 2147483647}
  %bz.at = getelementptr %gpu.row, ptr %row, i32 0, i32 2
  %bz = load i32, ptr %bz.at, !range !{i32 0, i32 2147483647}
  %ty.at = getelementptr %gpu.row, ptr %row, i32 0, i32 3
  %ty = load i32, ptr %ty.at, !range !{i32 0, i32 1024}
  %tz.at = getelementptr %gpu.row, ptr %row, i32 0, i32 4
  %tz = load i32, ptr %tz.at, !range !{i32 0, i32 1024}
  br label %threads
threads:
  %x = phi i64 [ %x.from, %entry ], [ %x.next, %threads ]
  %place = phi i32 [ %place.from, %entry ], [ %place.next, %threads ]
  %failure = phi i32 [ %failure.from, %entry ], [ %failure.next, %threads ]
  %failure.next = call i32 @gpu.run_place(ptr %launch, ptr %scratch, i64 %x, i32 %place, i32 %width, i32 %bx, i32 %place, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 %failure, ptr null, %gpu.params %params)
  %x.next = add nuw nsw i64 %x, 1
  %place.next = add nuw nsw i32 %place, 1
  %threads.more = icmp ult i64 %x.next, %x.stop
  br i1 %threads.more, label %threads, label %exit
exit:
  ret i32 %failure.next
}

; The same where the outcome of comparisons is known.
define i32 @gpu.run_plain_threads(ptr dereferenceable(112) %launch, ptr %scratch, ptr noalias dereferenceable(72) %row, i64 range(i64 0, 4611686018427387904) %x.from, i64 range(i64 0, 4611686018427387904) %x.stop, i32 range(i32 0, 1048576) %place.from, i32 %failure.from) noinline {
entry:
  %params = call %gpu.params @gpu.load_params(ptr %launch)
  %width = call i32 @gpu.block_extent(ptr %launch, i32 0)
  %bx.at = getelementptr %gpu.row, ptr %row, i32 0, i32 0
  %bx = load i32, ptr %bx.at, !range !{i32 0, i32 2147483647}
  %by.at = getelementptr %gpu.row, ptr %row, i32 0, i32 1
  %by = load i32, ptr %by.at, !range !{i32 0, i32 2147483647}
  %bz.at = getelementptr %gpu.row, ptr %row, i32 0, i32 2
  %bz = load i32, ptr %bz.at, !range !{i32 0, i32 2147483647}
  %ty.at = getelementptr %gpu.row, ptr %row, i32 0, i32 3
  %ty = load i32, ptr %ty.at, !range !{i32 0, i32 1024}
  %tz.at = getelementptr %gpu.row, ptr %row, i32 0, i32 4
  %tz = load i32, ptr %tz.at, !range !{i32 0, i32 1024}
  br label %threads
threads:
  %x = phi i64 [ %x.from, %entry ], [ %x.next, %threads ]
  %place = phi i32 [ %place.from, %entry ], [ %place.next, %threads ]
  %failure = phi i32 [ %failure.from, %entry ], [ %failure.next, %threads ]
  %failure.next = call i32 @gpu.run_plain_place(ptr %launch, ptr %scratch, i64 %x, i32 %place, i32 %width, i32 %bx, i32 %place, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 %failure, ptr null, %gpu.params %params)
  %x.next = add nuw nsw i64 %x, 1
  %place.next = add nuw nsw i32 %place, 1
  %threads.more = icmp ult i64 %x.next, %x.stop
  br i1 %threads.more, label %threads, label %exit
exit:
  ret i32 %failure.next
}

; Run the thread at `x` in the grid, the `place`-th of its row; `bx`, `tx` only count where rows are of one block.
; Returns the row's first failure so far. The records are allocas that SROA removes. replay.ll passes `numbers`. x, y and
; z have the ranges that x has: any of them may be the user's x (choose_row_axis.py).
define i32 @gpu.run_place(ptr dereferenceable(112) %launch, ptr %scratch, i64 range(i64 0, 4611686018427387904) %x, i32 range(i32 0, 1048576) %place, i32 range(i32 1, 1025) %width, i32 range(i32 0, 2147483647) %bx, i32 range(i32 0, 1024) %tx, i32 range(i32 0, 2147483647) %by, i32 range(i32 0, 2147483647) %bz, i32 range(i32 0, 1024) %ty, i32 range(i32 0, 1024) %tz, i32 %failure, ptr %numbers, %gpu.params %params) {
entry:
  %thread = alloca %gpu.thread
  %block = alloca %gpu.block
  call void @gpu.describe_block(ptr %block, ptr %launch, ptr %scratch)
  store ptr %block, ptr %thread
  %bx.at = getelementptr %gpu.block, ptr %block, i32 0, i32 2, i32 0
  %by.at = getelementptr %gpu.block, ptr %block, i32 0, i32 2, i32 1
  %bz.at = getelementptr %gpu.block, ptr %block, i32 0, i32 2, i32 2
  %failure.at = getelementptr %gpu.block, ptr %block, i32 0, i32 5
  %x.at = getelementptr %gpu.block, ptr %block, i32 0, i32 6
  %tx.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 1, i32 0
  %ty.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 1, i32 1
  %tz.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 1, i32 2
  %place.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 2
  %width.at = getelementptr %gpu.block, ptr %block, i32 0, i32 3, i32 0
  store i32 %width, ptr %width.at
  store i32 %bx, ptr %bx.at
  store i32 %by, ptr %by.at
  store i32 %bz, ptr %bz.at
  store i32 %failure, ptr %failure.at
  store i64 %x, ptr %x.at
  store i32 %tx, ptr %tx.at
  store i32 %ty, ptr %ty.at
  store i32 %tz, ptr %tz.at
  store i32 %place, ptr %place.at
  %numbers.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 3
  store ptr %numbers, ptr %numbers.at
  call void @gpu.call_kernel(ptr %thread, %gpu.params %params)
  %failure.new = load i32, ptr %failure.at
  ret i32 %failure.new
}

; Where the thread is in the grid along its row.
define i64 @gpu.grid_x(ptr %thread) alwaysinline {
  %block = load ptr, ptr %thread
  %x.at = getelementptr %gpu.block, ptr %block, i32 0, i32 6
  %x = load i64, ptr %x.at
  ret i64 %x
}

; What a throw does is settled by settle_throws.py, when it is seen which loops can throw: until then nothing but that it
; changes the row's failure.
define void @gpu.throw.flat(ptr %thread, i32 %site, i64 %n0, i64 %n1, i64 %n2, i64 %n3) alwaysinline {
  %block = load ptr, ptr %thread
  %launch = load ptr, ptr %block
  %x = call i64 @gpu.grid_x(ptr %thread)
  %by = call i32 @gpu.block_id(ptr %thread, i32 1)
  %bz = call i32 @gpu.block_id(ptr %thread, i32 2)
  %ty = call i32 @gpu.thread_id(ptr %thread, i32 1)
  %tz = call i32 @gpu.thread_id(ptr %thread, i32 2)
  %place.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 2
  %place = load i32, ptr %place.at
  %numbers.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 3
  %numbers = load ptr, ptr %numbers.at
  %failure.at = getelementptr %gpu.block, ptr %block, i32 0, i32 5
  %old = load i32, ptr %failure.at
  %new = call i32 @gpu.note_throw(ptr %launch, i64 %x, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 %place, i32 %old, ptr %numbers, i32 %site, i64 %n0, i64 %n1, i64 %n2, i64 %n3)
  store i32 %new, ptr %failure.at
  ret void
}

declare i32 @gpu.note_throw(ptr, i64, i32, i32, i32, i32, i32, i32, ptr, i32, i64, i64, i64, i64) cold nounwind willreturn memory(none)
declare %gpu.params @gpu.load_params(ptr)
declare void @gpu.call_kernel(ptr, %gpu.params)
declare void @gpu.describe_block(ptr, ptr, ptr)
declare i32 @gpu.block_extent(ptr, i32)
declare i32 @gpu.block_id(ptr, i32)
declare i32 @gpu.thread_id(ptr, i32)
declare i64 @gpu.row_start(ptr, i32, i32, i32, i32, i32, i32, %gpu.params)
declare i64 @gpu.row_stop(ptr, i32, i32, i32, i32, i32, i32, %gpu.params)
declare i64 @gpu.plain_start(ptr, i32, i32, i32, i32, i32, i32, %gpu.params)
declare i64 @gpu.plain_stop(ptr, i32, i32, i32, i32, i32, i32, %gpu.params)
declare i64 @gpu.stride_length(ptr, i32, i32, i32, i32, i32, i32, %gpu.params)
declare i64 @gpu.stride_stop(ptr, i32, i32, i32, i32, i32, i32, %gpu.params)
declare i32 @gpu.run_plain_place(ptr, ptr, i64, i32, i32, i32, i32, i32, i32, i32, i32, i32, ptr, %gpu.params)
