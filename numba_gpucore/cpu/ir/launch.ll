; What a launch tells every program: its extents, and the records of blocks.

; Extents of a block or grid, with the facts that let LLVM prove index arithmetic free of overflow. Nothing writes them
; while the launch is being worked on.
define i32 @gpu.block_extent(ptr %launch, i32 %axis) alwaysinline {
  %at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 1, i32 %axis
  %n = load i32, ptr %at, !range !{i32 1, i32 1025}, !invariant.load !{}
  ret i32 %n
}
define i32 @gpu.grid_extent(ptr %launch, i32 %axis) alwaysinline {
  %at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 0, i32 %axis
  %n = load i32, ptr %at, !range !{i32 1, i32 -2147483648}, !invariant.load !{}
  ret i32 %n
}

; Write the extents and index of block number `b` (x runs fastest) into its record.
define void @gpu.number_block(ptr %block, ptr %launch, i64 %b) alwaysinline {
  %gx = call i32 @gpu.grid_extent(ptr %launch, i32 0)
  %gy = call i32 @gpu.grid_extent(ptr %launch, i32 1)
  %gx.wide = zext nneg i32 %gx to i64
  %gy.wide = zext nneg i32 %gy to i64
  %row = udiv i64 %b, %gx.wide
  %x.wide = urem i64 %b, %gx.wide
  %z.wide = udiv i64 %row, %gy.wide
  %y.wide = urem i64 %row, %gy.wide
  %x = trunc nuw nsw i64 %x.wide to i32
  %y = trunc nuw nsw i64 %y.wide to i32
  %z = trunc nuw nsw i64 %z.wide to i32
  %x.at = getelementptr %gpu.block, ptr %block, i32 0, i32 2, i32 0
  %y.at = getelementptr %gpu.block, ptr %block, i32 0, i32 2, i32 1
  %z.at = getelementptr %gpu.block, ptr %block, i32 0, i32 2, i32 2
  store i32 %x, ptr %x.at
  store i32 %y, ptr %y.at
  store i32 %z, ptr %z.at
  ret void
}

; Fill what all blocks of a launch have in common.
define void @gpu.describe_block(ptr %block, ptr %launch, ptr %shared) alwaysinline {
  store ptr %launch, ptr %block
  %shared.at = getelementptr %gpu.block, ptr %block, i32 0, i32 1
  store ptr %shared, ptr %shared.at
  %bx = call i32 @gpu.block_extent(ptr %launch, i32 0)
  %by = call i32 @gpu.block_extent(ptr %launch, i32 1)
  %bz = call i32 @gpu.block_extent(ptr %launch, i32 2)
  %bx.at = getelementptr %gpu.block, ptr %block, i32 0, i32 3, i32 0
  %by.at = getelementptr %gpu.block, ptr %block, i32 0, i32 3, i32 1
  %bz.at = getelementptr %gpu.block, ptr %block, i32 0, i32 3, i32 2
  store i32 %bx, ptr %bx.at
  store i32 %by, ptr %by.at
  store i32 %bz, ptr %bz.at
  %gx = call i32 @gpu.grid_extent(ptr %launch, i32 0)
  %gy = call i32 @gpu.grid_extent(ptr %launch, i32 1)
  %gz = call i32 @gpu.grid_extent(ptr %launch, i32 2)
  %gx.at = getelementptr %gpu.block, ptr %block, i32 0, i32 4, i32 0
  %gy.at = getelementptr %gpu.block, ptr %block, i32 0, i32 4, i32 1
  %gz.at = getelementptr %gpu.block, ptr %block, i32 0, i32 4, i32 2
  store i32 %gx, ptr %gx.at
  store i32 %gy, ptr %gy.at
  store i32 %gz, ptr %gz.at
  %stack = call ptr @llvm.frameaddress.p0(i32 0)
  %stack.at = getelementptr %gpu.block, ptr %block, i32 0, i32 12
  store ptr %stack, ptr %stack.at
  ret void
}

; Throw with all details: an atomic and a call, for programs that LLVM does not vectorise anyway.
define void @gpu.throw.report(ptr %thread, i32 %site, i64 %n0, i64 %n1, i64 %n2, i64 %n3) alwaysinline {
  %block = load ptr, ptr %thread
  %launch = load ptr, ptr %block
  %x = call i64 @gpu.grid_x(ptr %thread)
  %by = call i32 @gpu.block_id(ptr %thread, i32 1)
  %bz = call i32 @gpu.block_id(ptr %thread, i32 2)
  %ty = call i32 @gpu.thread_id(ptr %thread, i32 1)
  %tz = call i32 @gpu.thread_id(ptr %thread, i32 2)
  call void @gpu.report(ptr %launch, i64 %x, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 %site, i32 1, i64 %n0, i64 %n1, i64 %n2, i64 %n3)
  ret void
}

declare ptr @llvm.frameaddress.p0(i32)
declare i64 @gpu.grid_x(ptr)
declare i32 @gpu.block_id(ptr, i32)
declare i32 @gpu.thread_id(ptr, i32)
declare void @gpu.report(ptr, i64, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64)
