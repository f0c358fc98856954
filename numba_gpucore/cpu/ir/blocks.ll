; The blocks of a program without barriers and warp operations. The same for every kernel, so it is linked when the rest
; is optimised: it is written as LLVM would leave it.

@gpu.row_threads = external constant i64

; Run blocks [first, end). Blocks that are neighbours in x are run together, a row of up to @gpu.row_threads threads
; at a time: the innermost loop is long even where blocks are narrow. merge_blocks.py sets it; for kernels that look at
; their block's x or share memory in a block it is 1: then a row is a row of one block.
define void @gpu.run_blocks(ptr %launch, ptr %scratch, i64 %first, i64 %end) noinline optnone {
entry:
  %bounds = alloca [6 x i64]
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
  br label %rows

rows:
  %ty = phi i32 [ 0, %blocks ], [ %ty.up, %rows.end ]
  %tz = phi i32 [ 0, %blocks ], [ %tz.next, %rows.end ]
  call void @gpu.find_bounds(ptr %launch, i32 %bx, i32 %by, i32 %bz, i32 %ty, i32 %tz, ptr %bounds)
  %x.low = load i64, ptr %bounds
  %x.high.at = getelementptr i64, ptr %bounds, i64 1
  %x.high = load i64, ptr %x.high.at
  %stride.length.at = getelementptr i64, ptr %bounds, i64 4
  %stride.length = load i64, ptr %stride.length.at
  %stride.stop.at = getelementptr i64, ptr %bounds, i64 5
  %stride.stop = load i64, ptr %stride.stop.at
  br label %round

round:
  %offset = phi i64 [ 0, %rows ], [ %offset.next, %round.end ]
  %x.begin = add nuw nsw i64 %x.first, %offset
  %x.beyond = add nuw nsw i64 %x.end, %offset
  %x.from = call i64 @llvm.umax.i64(i64 %x.begin, i64 %x.low)
  %x.until = call i64 @llvm.umin.i64(i64 %x.beyond, i64 %x.high)
  %x.stop = call i64 @llvm.umin.i64(i64 %x.until, i64 %stride.stop)
  %empty = icmp uge i64 %x.from, %x.stop
  br i1 %empty, label %round.end, label %segments

; Threads before, in and behind the range where comparisons are settled.
segments:
  %plain.low.at = getelementptr i64, ptr %bounds, i64 2
  %plain.low = load i64, ptr %plain.low.at
  %plain.high.at = getelementptr i64, ptr %bounds, i64 3
  %plain.high = load i64, ptr %plain.high.at
  %plain.begin = call i64 @llvm.umax.i64(i64 %x.from, i64 %plain.low)
  %plain.from = call i64 @llvm.umin.i64(i64 %plain.begin, i64 %x.stop)
  %plain.end = call i64 @llvm.umax.i64(i64 %plain.from, i64 %plain.high)
  %plain.stop = call i64 @llvm.umin.i64(i64 %plain.end, i64 %x.stop)
  %none.before = icmp eq i64 %x.from, %plain.from
  br i1 %none.before, label %plain, label %before
before:
  %before.skipped = sub i64 %x.from, %x.begin
  %before.place = trunc i64 %before.skipped to i32
  %before.failure = call i32 @gpu.run_threads(ptr %launch, ptr %scratch, i64 %x.from, i64 %plain.from, i32 %before.place, i32 %bx, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 -1)
  br label %plain
plain:
  %plain.failure.from = phi i32 [ -1, %segments ], [ %before.failure, %before ]
  %none.plain = icmp eq i64 %plain.from, %plain.stop
  br i1 %none.plain, label %behind, label %plain.run
plain.run:
  %plain.skipped = sub i64 %plain.from, %x.begin
  %plain.place = trunc i64 %plain.skipped to i32
  %plain.failure = call i32 @gpu.run_plain_threads(ptr %launch, ptr %scratch, i64 %plain.from, i64 %plain.stop, i32 %plain.place, i32 %bx, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 %plain.failure.from)
  br label %behind
behind:
  %behind.failure.from = phi i32 [ %plain.failure.from, %plain ], [ %plain.failure, %plain.run ]
  %none.behind = icmp eq i64 %plain.stop, %x.stop
  br i1 %none.behind, label %row.check, label %behind.run
behind.run:
  %behind.skipped = sub i64 %plain.stop, %x.begin
  %behind.place = trunc i64 %behind.skipped to i32
  %behind.failure = call i32 @gpu.run_threads(ptr %launch, ptr %scratch, i64 %plain.stop, i64 %x.stop, i32 %behind.place, i32 %bx, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 %behind.failure.from)
  br label %row.check

row.check:
  %row.failure = phi i32 [ %behind.failure.from, %behind ], [ %behind.failure, %behind.run ]
  %fine = icmp eq i32 %row.failure, -1
  br i1 %fine, label %round.end, label %row.report
row.report:
  %failed.place = lshr i32 %row.failure, 12
  %failed.place.wide = zext nneg i32 %failed.place to i64
  ; The thread's own x, not that of its round.
  %failed.x = add i64 %x.first, %failed.place.wide
  %site = and i32 %row.failure, 4095
  %failed.strides = icmp ne i64 %stride.length, 0
  %details = select i1 %failed.strides, i32 2, i32 0
  call void @gpu.report(ptr %launch, i64 %failed.x, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 %site, i32 %details, i64 0, i64 0, i64 0, i64 0)
  br label %round.end

round.end:
  %offset.next = add i64 %offset, %stride.length
  %x.again = add i64 %x.first, %offset.next
  %strides = icmp ne i64 %stride.length, 0
  %round.left = icmp ult i64 %x.again, %stride.stop
  %round.more = and i1 %strides, %round.left
  br i1 %round.more, label %round, label %rows.end

rows.end:
  %ty.next = add nuw nsw i32 %ty, 1
  %plane.full = icmp eq i32 %ty.next, %height
  %ty.up = select i1 %plane.full, i32 0, i32 %ty.next
  %tz.add = zext i1 %plane.full to i32
  %tz.next = add nuw nsw i32 %tz, %tz.add
  %rows.done = icmp eq i32 %tz.next, %depth
  br i1 %rows.done, label %blocks.end, label %rows
blocks.end:
  %b.next = add nuw nsw i64 %b, %n
  %blocks.more = icmp ult i64 %b.next, %end
  br i1 %blocks.more, label %blocks, label %exit
exit:
  ret void
}

declare void @gpu.find_bounds(ptr, i32, i32, i32, i32, i32, ptr)
declare i32 @gpu.run_threads(ptr, ptr, i64, i64, i32, i32, i32, i32, i32, i32, i32)
declare i32 @gpu.run_plain_threads(ptr, ptr, i64, i64, i32, i32, i32, i32, i32, i32, i32)
declare i32 @gpu.block_extent(ptr, i32)
declare i32 @gpu.grid_extent(ptr, i32)
declare void @gpu.report(ptr, i64, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
