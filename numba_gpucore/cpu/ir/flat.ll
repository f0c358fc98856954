; Programs without barriers and warp operations: loops over blocks and threads with the kernel inlined, so that LLVM
; vectorises the innermost loop across GPU threads.

@gpu.row_threads = external constant i64

; Run blocks [first, end). Blocks that are neighbours in x are run together, a row of up to @gpu.row_threads threads
; at a time: the innermost loop is long even where blocks are narrow. merge_blocks.py sets it; for kernels that look at
; their block's x or share memory in a block it is 1: then a row is a row of one block.
define void @gpu.run_blocks(ptr dereferenceable(112) %launch, ptr %scratch, i64 %first, i64 %end) noinline {
entry:
  %params = call %gpu.params @gpu.load_params(ptr %launch)
  %width = call i32 @gpu.block_extent(ptr %launch, i32 0)
  %height = call i32 @gpu.block_extent(ptr %launch, i32 1)
  %depth = call i32 @gpu.block_extent(ptr %launch, i32 2)
  %grid.width = call i32 @gpu.grid_extent(ptr %launch, i32 0)
  %grid.height = call i32 @gpu.grid_extent(ptr %launch, i32 1)
  %width.wide = zext nneg i32 %width to i64
  %grid.width.wide = zext nneg i32 %grid.width to i64
  %grid.height.wide = zext nneg i32 %grid.height to i64
  %row.threads = load i64, ptr @gpu.row_threads
  %row.fit = udiv i64 %row.threads, %width.wide
  %row.blocks = call i64 @llvm.umax.i64(i64 %row.fit, i64 1)
  br label %blocks

blocks:
  %b = phi i64 [ %first, %entry ], [ %b.next, %blocks.end ]
  %row = udiv i64 %b, %grid.width.wide
  %bx.wide = urem i64 %b, %grid.width.wide
  %bz.wide = udiv i64 %row, %grid.height.wide
  %by.wide = urem i64 %row, %grid.height.wide
  %bx = trunc nuw nsw i64 %bx.wide to i32
  %by = trunc nuw nsw i64 %by.wide to i32
  %bz = trunc nuw nsw i64 %bz.wide to i32
  %left.chunk = sub nuw nsw i64 %end, %b
  %left.row = sub nuw nsw i64 %grid.width.wide, %bx.wide
  %left = call i64 @llvm.umin.i64(i64 %left.chunk, i64 %left.row)
  %n = call i64 @llvm.umin.i64(i64 %left, i64 %row.blocks)
  %x.first = mul nuw nsw i64 %bx.wide, %width.wide
  %length = mul nuw nsw i64 %n, %width.wide
  %x.end = add nuw nsw i64 %x.first, %length
  ; bound_rows.py: threads outside of this range do nothing,
  %x.low = call i64 @gpu.row_start(ptr %launch, i32 %width, %gpu.params %params)
  %x.high = call i64 @gpu.row_stop(ptr %launch, i32 %width, %gpu.params %params)
  ; and if a whole row lies in that one, comparisons of x have the same outcome for all its threads.
  %plain.low = call i64 @gpu.plain_start(ptr %launch, i32 %width, %gpu.params %params)
  %plain.high = call i64 @gpu.plain_stop(ptr %launch, i32 %width, %gpu.params %params)
  ; stride_rows.py: where threads do rounds of a grid-stride loop, x moves on by this length up to this stop.
  %stride.length = call i64 @gpu.stride_length(ptr %launch, i32 %width, %gpu.params %params)
  %stride.stop = call i64 @gpu.stride_stop(ptr %launch, i32 %width, %gpu.params %params)
  %strides = icmp ne i64 %stride.length, 0
  br label %planes

planes:
  %tz = phi i32 [ 0, %blocks ], [ %tz.next, %planes.end ]
  br label %rows

rows:
  %ty = phi i32 [ 0, %planes ], [ %ty.next, %rows.end ]
  br label %round

round:
  %offset = phi i64 [ 0, %rows ], [ %offset.next, %round.end ]
  %x.begin = add nuw nsw i64 %x.first, %offset
  %x.beyond = add nuw nsw i64 %x.end, %offset
  %x.from = call i64 @llvm.umax.i64(i64 %x.begin, i64 %x.low)
  %x.until = call i64 @llvm.umin.i64(i64 %x.beyond, i64 %x.high)
  %x.stop = call i64 @llvm.umin.i64(i64 %x.until, i64 %stride.stop)
  %skipped = sub i64 %x.from, %x.begin
  %place.from = trunc i64 %skipped to i32
  %plain.from = icmp ule i64 %plain.low, %x.from
  %plain.to = icmp ule i64 %x.stop, %plain.high
  %plain = and i1 %plain.from, %plain.to
  %empty = icmp uge i64 %x.from, %x.stop
  br i1 %empty, label %round.end, label %row.start
row.start:
  br i1 %plain, label %plain.threads, label %threads

threads:
  %x = phi i64 [ %x.from, %row.start ], [ %x.next, %threads ]
  %place = phi i32 [ %place.from, %row.start ], [ %place.next, %threads ]
  %failure = phi i32 [ -1, %row.start ], [ %failure.next, %threads ]
  %failure.next = call i32 @gpu.run_place(ptr %launch, ptr %scratch, i64 %x, i32 %place, i32 %width, i32 %bx, i32 %place, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 %failure, %gpu.params %params)
  %x.next = add nuw nsw i64 %x, 1
  %place.next = add nuw nsw i32 %place, 1
  %threads.more = icmp ult i64 %x.next, %x.stop
  br i1 %threads.more, label %threads, label %row.check

plain.threads:
  %q.x = phi i64 [ %x.from, %row.start ], [ %q.x.next, %plain.threads ]
  %q.place = phi i32 [ %place.from, %row.start ], [ %q.place.next, %plain.threads ]
  %q.failure = phi i32 [ -1, %row.start ], [ %q.failure.next, %plain.threads ]
  %q.failure.next = call i32 @gpu.run_plain_place(ptr %launch, ptr %scratch, i64 %q.x, i32 %q.place, i32 %width, i32 %bx, i32 %q.place, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 %q.failure, %gpu.params %params)
  %q.x.next = add nuw nsw i64 %q.x, 1
  %q.place.next = add nuw nsw i32 %q.place, 1
  %q.threads.more = icmp ult i64 %q.x.next, %x.stop
  br i1 %q.threads.more, label %plain.threads, label %row.check

row.check:
  %row.failure = phi i32 [ %failure.next, %threads ], [ %q.failure.next, %plain.threads ]
  %failed = icmp ne i32 %row.failure, -1
  br i1 %failed, label %row.report, label %round.end, !prof !{!"branch_weights", i32 1, i32 1000000}
row.report:
  %failed.place = lshr i32 %row.failure, 12
  %failed.place.wide = zext i32 %failed.place to i64
  %failed.x = add i64 %x.first, %failed.place.wide
  %site = and i32 %row.failure, 4095
  call void @gpu.report(ptr %launch, i64 %failed.x, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 %site, i32 0, i64 0, i64 0, i64 0, i64 0)
  br label %round.end

round.end:
  %offset.next = add i64 %offset, %stride.length
  %x.again = add i64 %x.first, %offset.next
  %round.left = icmp ult i64 %x.again, %stride.stop
  %round.more = and i1 %strides, %round.left
  br i1 %round.more, label %round, label %rows.end

rows.end:
  %ty.next = add nuw nsw i32 %ty, 1
  %rows.more = icmp ult i32 %ty.next, %height
  br i1 %rows.more, label %rows, label %planes.end
planes.end:
  %tz.next = add nuw nsw i32 %tz, 1
  %planes.more = icmp ult i32 %tz.next, %depth
  br i1 %planes.more, label %planes, label %blocks.end
blocks.end:
  %b.next = add nuw nsw i64 %b, %n
  %blocks.more = icmp ult i64 %b.next, %end
  br i1 %blocks.more, label %blocks, label %exit
exit:
  ret void
}

; @gpu.run_plain_place is this too, with the outcome of comparisons known.
; Run the thread at `x` in the grid, the `place`-th of its row; `bx`, `tx` only count where rows are of one block. Returns the row's first failure so far. The records are
; allocas that SROA removes.
define i32 @gpu.run_place(ptr dereferenceable(112) %launch, ptr %scratch, i64 range(i64 0, 4611686018427387904) %x, i32 range(i32 0, 1048576) %place, i32 range(i32 1, 1025) %width, i32 range(i32 0, 2147483647) %bx, i32 range(i32 0, 1024) %tx, i32 range(i32 0, 65535) %by, i32 range(i32 0, 65535) %bz, i32 range(i32 0, 1024) %ty, i32 range(i32 0, 64) %tz, i32 %failure, %gpu.params %params) {
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
  call void @gpu.call_kernel(ptr %thread, %gpu.params %params)
  %failure.new = load i32, ptr %failure.at
  ret i32 %failure.new
}

define i64 @gpu.global_id.x(ptr %thread) alwaysinline {
  %block = load ptr, ptr %thread
  %x.at = getelementptr %gpu.block, ptr %block, i32 0, i32 6
  %x = load i64, ptr %x.at
  ret i64 %x
}

; Only note the first thread of the row that throws: LLVM vectorises an unsigned minimum, but neither a call nor an
; atomic in a cold path (14.6 times slower on a compute-bound kernel).
define void @gpu.throw.first(ptr %thread, i32 %site, i64 %n0, i64 %n1, i64 %n2, i64 %n3) alwaysinline {
  %block = load ptr, ptr %thread
  %place.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 2
  %place = load i32, ptr %place.at
  %place.high = shl i32 %place, 12
  %failure = or disjoint i32 %place.high, %site
  %failure.at = getelementptr %gpu.block, ptr %block, i32 0, i32 5
  %old = load i32, ptr %failure.at
  %new = call i32 @llvm.umin.i32(i32 %old, i32 %failure)
  store i32 %new, ptr %failure.at
  ret void
}

declare %gpu.params @gpu.load_params(ptr)
declare i64 @gpu.row_start(ptr, i32, %gpu.params)
declare i64 @gpu.row_stop(ptr, i32, %gpu.params)
declare i64 @gpu.plain_start(ptr, i32, %gpu.params)
declare i64 @gpu.plain_stop(ptr, i32, %gpu.params)
declare i32 @gpu.run_plain_place(ptr, ptr, i64, i32, i32, i32, i32, i32, i32, i32, i32, i32, %gpu.params)
declare i64 @gpu.stride_length(ptr, i32, %gpu.params)
declare i64 @gpu.stride_stop(ptr, i32, %gpu.params)
declare void @gpu.call_kernel(ptr, %gpu.params)
declare void @gpu.describe_block(ptr, ptr, ptr)
declare i32 @gpu.block_extent(ptr, i32)
declare i32 @gpu.grid_extent(ptr, i32)
declare void @gpu.report(ptr, i64, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64)
declare i32 @llvm.umin.i32(i32, i32)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
