; Programs without barriers and warp operations: loops over blocks and threads with the kernel inlined. The records are
; allocas that SROA removes, so that LLVM vectorises the innermost loop across GPU threads.

@gpu.row_threads = external constant i64
declare void @gpu.call_kernel(ptr)

; Run blocks [first, end). Blocks that are neighbours in x are run together, a row of up to @gpu.row_threads threads
; at a time: the innermost loop is long even where blocks are narrow. @gpu.row_threads is 1 for kernels that look at
; their block's x or share memory in a block: then a row is a row of one block.
define void @gpu.run_blocks(ptr %launch, ptr %scratch, i64 %first, i64 %end) noinline {
entry:
  %thread = alloca %gpu.thread
  %block = alloca %gpu.block
  call void @gpu.describe_block(ptr %block, ptr %launch, ptr %scratch)
  store ptr %block, ptr %thread
  %width = call i32 @gpu.block_extent(ptr %launch, i32 0)
  %height = call i32 @gpu.block_extent(ptr %launch, i32 1)
  %depth = call i32 @gpu.block_extent(ptr %launch, i32 2)
  %grid.width = call i32 @gpu.grid_extent(ptr %launch, i32 0)
  %width.wide = zext nneg i32 %width to i64
  %grid.width.wide = zext nneg i32 %grid.width to i64
  %row.threads = load i64, ptr @gpu.row_threads
  %row.fit = udiv i64 %row.threads, %width.wide
  %row.blocks = call i64 @llvm.umax.i64(i64 %row.fit, i64 1)
  %failure.at = getelementptr %gpu.block, ptr %block, i32 0, i32 5
  %x.at = getelementptr %gpu.block, ptr %block, i32 0, i32 6
  %x.first.at = getelementptr %gpu.block, ptr %block, i32 0, i32 7
  %tx.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 1, i32 0
  %ty.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 1, i32 1
  %tz.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 1, i32 2
  %bx.at = getelementptr %gpu.block, ptr %block, i32 0, i32 2, i32 0
  store i32 -1, ptr %failure.at
  br label %blocks

blocks:
  %b = phi i64 [ %first, %entry ], [ %b.next, %blocks.end ]
  call void @gpu.number_block(ptr %block, ptr %launch, i64 %b)
  %bx = load i32, ptr %bx.at
  %bx.wide = zext nneg i32 %bx to i64
  %left.chunk = sub nuw nsw i64 %end, %b
  %left.row = sub nuw nsw i64 %grid.width.wide, %bx.wide
  %left = call i64 @llvm.umin.i64(i64 %left.chunk, i64 %left.row)
  %n = call i64 @llvm.umin.i64(i64 %left, i64 %row.blocks)
  %x.first = mul nuw nsw i64 %bx.wide, %width.wide
  %length = mul nuw nsw i64 %n, %width.wide
  %x.end = add nuw nsw i64 %x.first, %length
  store i64 %x.first, ptr %x.first.at
  br label %planes

planes:
  %tz = phi i32 [ 0, %blocks ], [ %tz.next, %planes.end ]
  store i32 %tz, ptr %tz.at
  br label %rows

rows:
  %ty = phi i32 [ 0, %planes ], [ %ty.next, %rows.end ]
  store i32 %ty, ptr %ty.at
  br label %threads

threads:
  %x = phi i64 [ %x.first, %rows ], [ %x.next, %threads ]
  %tx = phi i32 [ 0, %rows ], [ %tx.next, %threads ]
  store i64 %x, ptr %x.at
  store i32 %tx, ptr %tx.at
  call void @gpu.call_kernel(ptr %thread)
  %x.next = add nuw nsw i64 %x, 1
  %tx.next = add nuw nsw i32 %tx, 1
  %threads.more = icmp ult i64 %x.next, %x.end
  br i1 %threads.more, label %threads, label %row.check

row.check:
  %failure = load i32, ptr %failure.at
  %failed = icmp ne i32 %failure, -1
  br i1 %failed, label %row.report, label %rows.end, !prof !{!"branch_weights", i32 1, i32 1000000}
row.report:
  %by.at = getelementptr %gpu.block, ptr %block, i32 0, i32 2, i32 1
  %by = load i32, ptr %by.at
  %bz.at = getelementptr %gpu.block, ptr %block, i32 0, i32 2, i32 2
  %bz = load i32, ptr %bz.at
  %place = lshr i32 %failure, 12
  %place.wide = zext i32 %place to i64
  %x.failed = add i64 %x.first, %place.wide
  %site = and i32 %failure, 4095
  call void @gpu.report(ptr %launch, i64 %x.failed, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 %site, i32 0, i64 0, i64 0, i64 0, i64 0)
  store i32 -1, ptr %failure.at
  br label %rows.end

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
  %place.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 1, i32 0
  %place = load i32, ptr %place.at
  %place.high = shl i32 %place, 12
  %failure = or disjoint i32 %place.high, %site
  %failure.at = getelementptr %gpu.block, ptr %block, i32 0, i32 5
  %old = load i32, ptr %failure.at
  %new = call i32 @llvm.umin.i32(i32 %old, i32 %failure)
  store i32 %new, ptr %failure.at
  ret void
}

declare void @gpu.describe_block(ptr, ptr, ptr)
declare void @gpu.number_block(ptr, ptr, i64)
declare i32 @gpu.block_extent(ptr, i32)
declare i32 @gpu.grid_extent(ptr, i32)
declare void @gpu.report(ptr, i64, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64)
declare i32 @llvm.umin.i32(i32, i32)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
