; The blocks of a program without barriers and warp operations. The same for every kernel, so it is linked when the rest
; is optimised.

@gpu.row_threads = external constant i64

; Run blocks [first, end). Blocks that are neighbours in x are run together, a row of up to @gpu.row_threads threads
; at a time: the innermost loop is long even where blocks are narrow. merge_blocks.py sets it; for kernels that look at
; their block's x or share memory in a block it is 1: then a row is a row of one block.
;
; What lives across blocks of instructions is in memory (ir/work.ll says why): half the time of the code generator.
define void @gpu.run_blocks(ptr %launch, ptr %scratch, i64 %first, i64 %end) noinline optnone {
entry:
  %row = alloca %gpu.row
  ; number of the next block
  %b.at = alloca i64
  ; where the row starts in the grid, its length, and how far its threads have come in rounds of a grid-stride loop
  %x.first.at = alloca i64
  %length.at = alloca i64
  %offset.at = alloca i64
  ; threads to run in this round, and those of them whose comparisons are settled; `begin` is that of place 0
  %begin.at = alloca i64
  %from.at = alloca i64
  %plain.from.at = alloca i64
  %plain.stop.at = alloca i64
  %stop.at = alloca i64
  %failure.at = alloca i32
  store i64 %first, ptr %b.at
  br label %blocks

blocks:
  %width.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 1, i32 0
  %width.narrow = load i32, ptr %width.at
  %width = zext i32 %width.narrow to i64
  %grid.width.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 0, i32 0
  %grid.width.narrow = load i32, ptr %grid.width.at
  %grid.width = zext i32 %grid.width.narrow to i64
  %grid.height.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 0, i32 1
  %grid.height.narrow = load i32, ptr %grid.height.at
  %grid.height = zext i32 %grid.height.narrow to i64
  %b = load i64, ptr %b.at
  %bx.wide = urem i64 %b, %grid.width
  %line = udiv i64 %b, %grid.width
  %by.wide = urem i64 %line, %grid.height
  %bz.wide = udiv i64 %line, %grid.height
  %bx = trunc i64 %bx.wide to i32
  %bx.at = getelementptr %gpu.row, ptr %row, i32 0, i32 0
  store i32 %bx, ptr %bx.at
  %by = trunc i64 %by.wide to i32
  %by.at = getelementptr %gpu.row, ptr %row, i32 0, i32 1
  store i32 %by, ptr %by.at
  %bz = trunc i64 %bz.wide to i32
  %bz.at = getelementptr %gpu.row, ptr %row, i32 0, i32 2
  store i32 %bz, ptr %bz.at
  %ty.first.at = getelementptr %gpu.row, ptr %row, i32 0, i32 3
  store i32 0, ptr %ty.first.at
  %tz.first.at = getelementptr %gpu.row, ptr %row, i32 0, i32 4
  store i32 0, ptr %tz.first.at
  ; as many blocks as fit in a row of threads, are left of the row of the grid, and are asked for
  %row.threads = load i64, ptr @gpu.row_threads
  %fit = udiv i64 %row.threads, %width
  %narrow = icmp ugt i64 %fit, 1
  %most = select i1 %narrow, i64 %fit, i64 1
  %left.row = sub i64 %grid.width, %bx.wide
  %is.short = icmp ult i64 %left.row, %most
  %most.row = select i1 %is.short, i64 %left.row, i64 %most
  %left = sub i64 %end, %b
  %is.last = icmp ult i64 %left, %most.row
  %n = select i1 %is.last, i64 %left, i64 %most.row
  %b.next = add i64 %b, %n
  store i64 %b.next, ptr %b.at
  %x.first.new = mul i64 %bx.wide, %width
  store i64 %x.first.new, ptr %x.first.at
  %length.new = mul i64 %n, %width
  store i64 %length.new, ptr %length.at
  br label %rows

rows:
  call void @gpu.find_bounds(ptr %launch, ptr %row)
  store i64 0, ptr %offset.at
  br label %round

round:
  %x.first = load i64, ptr %x.first.at
  %offset = load i64, ptr %offset.at
  %begin = add i64 %x.first, %offset
  store i64 %begin, ptr %begin.at
  %length = load i64, ptr %length.at
  %beyond = add i64 %begin, %length
  %low.at = getelementptr %gpu.row, ptr %row, i32 0, i32 5, i64 0
  %low = load i64, ptr %low.at
  %is.low = icmp ult i64 %begin, %low
  %from = select i1 %is.low, i64 %low, i64 %begin
  store i64 %from, ptr %from.at
  %high.at = getelementptr %gpu.row, ptr %row, i32 0, i32 5, i64 1
  %high = load i64, ptr %high.at
  %is.high = icmp ugt i64 %beyond, %high
  %until = select i1 %is.high, i64 %high, i64 %beyond
  %round.stop.at = getelementptr %gpu.row, ptr %row, i32 0, i32 5, i64 5
  %round.stop = load i64, ptr %round.stop.at
  %is.beyond = icmp ugt i64 %until, %round.stop
  %stop = select i1 %is.beyond, i64 %round.stop, i64 %until
  store i64 %stop, ptr %stop.at
  %empty = icmp uge i64 %from, %stop
  br i1 %empty, label %round.end, label %segments

; Threads before, in and behind the range where comparisons are settled.
segments:
  store i32 -1, ptr %failure.at
  %all.from = load i64, ptr %from.at
  %all.stop = load i64, ptr %stop.at
  %plain.low.at = getelementptr %gpu.row, ptr %row, i32 0, i32 5, i64 2
  %plain.low = load i64, ptr %plain.low.at
  %is.plain.low = icmp ult i64 %all.from, %plain.low
  %plain.begin = select i1 %is.plain.low, i64 %plain.low, i64 %all.from
  %is.none = icmp ugt i64 %plain.begin, %all.stop
  %plain.from = select i1 %is.none, i64 %all.stop, i64 %plain.begin
  store i64 %plain.from, ptr %plain.from.at
  %plain.high.at = getelementptr %gpu.row, ptr %row, i32 0, i32 5, i64 3
  %plain.high = load i64, ptr %plain.high.at
  %is.plain.high = icmp ult i64 %plain.from, %plain.high
  %plain.end = select i1 %is.plain.high, i64 %plain.high, i64 %plain.from
  %is.all = icmp ugt i64 %plain.end, %all.stop
  %plain.stop = select i1 %is.all, i64 %all.stop, i64 %plain.end
  store i64 %plain.stop, ptr %plain.stop.at
  %none.before = icmp eq i64 %all.from, %plain.from
  br i1 %none.before, label %plain, label %before
before:
  %before.from = load i64, ptr %from.at
  %before.stop = load i64, ptr %plain.from.at
  %before.begin = load i64, ptr %begin.at
  %before.skipped = sub i64 %before.from, %before.begin
  %before.place = trunc i64 %before.skipped to i32
  %before.failure = call i32 @gpu.run_threads(ptr %launch, ptr %scratch, ptr %row, i64 %before.from, i64 %before.stop, i32 %before.place, i32 -1)
  store i32 %before.failure, ptr %failure.at
  br label %plain
plain:
  %run.from = load i64, ptr %plain.from.at
  %run.stop = load i64, ptr %plain.stop.at
  %none.plain = icmp eq i64 %run.from, %run.stop
  br i1 %none.plain, label %behind, label %plain.run
plain.run:
  %run.plain.from = load i64, ptr %plain.from.at
  %run.plain.stop = load i64, ptr %plain.stop.at
  %plain.origin = load i64, ptr %begin.at
  %plain.skipped = sub i64 %run.plain.from, %plain.origin
  %plain.place = trunc i64 %plain.skipped to i32
  %plain.failure.from = load i32, ptr %failure.at
  %plain.failure = call i32 @gpu.run_plain_threads(ptr %launch, ptr %scratch, ptr %row, i64 %run.plain.from, i64 %run.plain.stop, i32 %plain.place, i32 %plain.failure.from)
  store i32 %plain.failure, ptr %failure.at
  br label %behind
behind:
  %rest.from = load i64, ptr %plain.stop.at
  %rest.stop = load i64, ptr %stop.at
  %none.behind = icmp eq i64 %rest.from, %rest.stop
  br i1 %none.behind, label %check, label %behind.run
behind.run:
  %behind.from = load i64, ptr %plain.stop.at
  %behind.stop = load i64, ptr %stop.at
  %behind.begin = load i64, ptr %begin.at
  %behind.skipped = sub i64 %behind.from, %behind.begin
  %behind.place = trunc i64 %behind.skipped to i32
  %behind.failure.from = load i32, ptr %failure.at
  %behind.failure = call i32 @gpu.run_threads(ptr %launch, ptr %scratch, ptr %row, i64 %behind.from, i64 %behind.stop, i32 %behind.place, i32 %behind.failure.from)
  store i32 %behind.failure, ptr %failure.at
  br label %check

check:
  %failure = load i32, ptr %failure.at
  %fine = icmp eq i32 %failure, -1
  br i1 %fine, label %round.end, label %report
report:
  %failed = load i32, ptr %failure.at
  %failed.place = lshr i32 %failed, 12
  %failed.place.wide = zext i32 %failed.place to i64
  ; The thread's own x, not that of its round.
  %failed.first = load i64, ptr %x.first.at
  %failed.x = add i64 %failed.first, %failed.place.wide
  %site = and i32 %failed, 4095
  %failed.by.at = getelementptr %gpu.row, ptr %row, i32 0, i32 1
  %failed.by = load i32, ptr %failed.by.at
  %failed.bz.at = getelementptr %gpu.row, ptr %row, i32 0, i32 2
  %failed.bz = load i32, ptr %failed.bz.at
  %failed.ty.at = getelementptr %gpu.row, ptr %row, i32 0, i32 3
  %failed.ty = load i32, ptr %failed.ty.at
  %failed.tz.at = getelementptr %gpu.row, ptr %row, i32 0, i32 4
  %failed.tz = load i32, ptr %failed.tz.at
  %failed.stride.at = getelementptr %gpu.row, ptr %row, i32 0, i32 5, i64 4
  %failed.stride = load i64, ptr %failed.stride.at
  %failed.strides = icmp ne i64 %failed.stride, 0
  %details = select i1 %failed.strides, i32 2, i32 0
  call void @gpu.report(ptr %launch, i64 %failed.x, i32 %failed.by, i32 %failed.bz, i32 %failed.ty, i32 %failed.tz, i32 %site, i32 %details, i64 0, i64 0, i64 0, i64 0)
  br label %round.end

round.end:
  %stride.at = getelementptr %gpu.row, ptr %row, i32 0, i32 5, i64 4
  %stride = load i64, ptr %stride.at
  %offset.old = load i64, ptr %offset.at
  %offset.next = add i64 %offset.old, %stride
  store i64 %offset.next, ptr %offset.at
  %strides = icmp ne i64 %stride, 0
  br i1 %strides, label %round.next, label %rows.end
round.next:
  %again.first = load i64, ptr %x.first.at
  %again.offset = load i64, ptr %offset.at
  %x.again = add i64 %again.first, %again.offset
  %again.stop.at = getelementptr %gpu.row, ptr %row, i32 0, i32 5, i64 5
  %again.stop = load i64, ptr %again.stop.at
  %round.left = icmp ult i64 %x.again, %again.stop
  br i1 %round.left, label %round, label %rows.end

rows.end:
  %ty.at = getelementptr %gpu.row, ptr %row, i32 0, i32 3
  %ty = load i32, ptr %ty.at
  %ty.next = add i32 %ty, 1
  store i32 %ty.next, ptr %ty.at
  %height.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 1, i32 1
  %height = load i32, ptr %height.at
  %rows.left = icmp ult i32 %ty.next, %height
  br i1 %rows.left, label %rows, label %plane.end
plane.end:
  %ty.again.at = getelementptr %gpu.row, ptr %row, i32 0, i32 3
  store i32 0, ptr %ty.again.at
  %tz.at = getelementptr %gpu.row, ptr %row, i32 0, i32 4
  %tz = load i32, ptr %tz.at
  %tz.next = add i32 %tz, 1
  store i32 %tz.next, ptr %tz.at
  %depth.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 1, i32 2
  %depth = load i32, ptr %depth.at
  %planes.left = icmp ult i32 %tz.next, %depth
  br i1 %planes.left, label %rows, label %blocks.end
blocks.end:
  %b.left = load i64, ptr %b.at
  %blocks.left = icmp ult i64 %b.left, %end
  br i1 %blocks.left, label %blocks, label %exit
exit:
  ret void
}

declare void @gpu.find_bounds(ptr, ptr)
declare i32 @gpu.run_threads(ptr, ptr, ptr, i64, i64, i32, i32)
declare i32 @gpu.run_plain_threads(ptr, ptr, ptr, i64, i64, i32, i32)
declare void @gpu.report(ptr, i64, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64)
