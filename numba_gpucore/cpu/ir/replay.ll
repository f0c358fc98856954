; Run one thread of a flat program again, alone, to find the numbers of its exception, which its vectorised code does
; not keep. replay_text.py takes its stores to memory of others away and bounds its loops.
;
; `numbers`: what is found, as i64: site + 1 (0: the thread did not throw), then the numbers of the site.
; `x`: of the thread in the grid.
define void @gpu.replay(ptr %launch, ptr %scratch, i64 %x, i32 %by, i32 %bz, i32 %ty, i32 %tz, ptr noalias %numbers) {
entry:
  %thread = alloca %gpu.thread
  %block = alloca %gpu.block
  call void @gpu.describe_block(ptr %block, ptr %launch, ptr %scratch)
  %width = call i32 @gpu.block_extent(ptr %launch, i32 0)
  %width.wide = zext i32 %width to i64
  %bx.wide = udiv i64 %x, %width.wide
  %tx.wide = urem i64 %x, %width.wide
  %bx = trunc i64 %bx.wide to i32
  %tx = trunc i64 %tx.wide to i32
  store ptr %block, ptr %thread
  %bx.at = getelementptr %gpu.block, ptr %block, i32 0, i32 2, i32 0
  %by.at = getelementptr %gpu.block, ptr %block, i32 0, i32 2, i32 1
  %bz.at = getelementptr %gpu.block, ptr %block, i32 0, i32 2, i32 2
  %x.at = getelementptr %gpu.block, ptr %block, i32 0, i32 6
  %tx.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 1, i32 0
  %ty.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 1, i32 1
  %tz.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 1, i32 2
  %numbers.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 3
  store i32 %bx, ptr %bx.at
  store i32 %by, ptr %by.at
  store i32 %bz, ptr %bz.at
  store i64 %x, ptr %x.at
  store i32 %tx, ptr %tx.at
  store i32 %ty, ptr %ty.at
  store i32 %tz, ptr %tz.at
  store ptr %numbers, ptr %numbers.at
  %params = call %gpu.params @gpu.load_params(ptr %launch)
  call void @gpu.call_kernel(ptr %thread, %gpu.params %params)
  ret void
}

define i64 @gpu.global_id.x(ptr %thread) alwaysinline {
  %block = load ptr, ptr %thread
  %x.at = getelementptr %gpu.block, ptr %block, i32 0, i32 6
  %x = load i64, ptr %x.at
  ret i64 %x
}

; Keep the first throw.
define void @gpu.throw.replay(ptr %thread, i32 %site, i64 %n0, i64 %n1, i64 %n2, i64 %n3) alwaysinline {
entry:
  %numbers.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 3
  %numbers = load ptr, ptr %numbers.at
  %found = load i64, ptr %numbers
  %first = icmp eq i64 %found, 0
  br i1 %first, label %keep, label %exit
keep:
  %site.wide = zext i32 %site to i64
  %site.up = add i64 %site.wide, 1
  store i64 %site.up, ptr %numbers
  %n0.at = getelementptr i64, ptr %numbers, i64 1
  %n1.at = getelementptr i64, ptr %numbers, i64 2
  %n2.at = getelementptr i64, ptr %numbers, i64 3
  %n3.at = getelementptr i64, ptr %numbers, i64 4
  store i64 %n0, ptr %n0.at
  store i64 %n1, ptr %n1.at
  store i64 %n2, ptr %n2.at
  store i64 %n3, ptr %n3.at
  br label %exit
exit:
  ret void
}

declare %gpu.params @gpu.load_params(ptr)
declare void @gpu.call_kernel(ptr, %gpu.params)
declare void @gpu.describe_block(ptr, ptr, ptr)
declare i32 @gpu.block_extent(ptr, i32)
