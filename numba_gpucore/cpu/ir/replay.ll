; Run one thread of a flat program again, alone, to find the numbers of its exception, which its vectorised code does
; not keep. replay_text.py takes the stores of @gpu.run_place to memory of others away and bounds its loops.
;
; `numbers`: what is found, as i64: site + 1 (0: the thread did not throw), then the numbers of the site.
; `x`: of the thread in the grid.
define void @gpu.replay(ptr %launch, ptr %scratch, i64 %x, i32 %by, i32 %bz, i32 %ty, i32 %tz, ptr %numbers) {
entry:
  %width = call i32 @gpu.block_extent(ptr %launch, i32 0)
  %width.wide = zext i32 %width to i64
  %bx.wide = udiv i64 %x, %width.wide
  %tx.wide = urem i64 %x, %width.wide
  %bx = trunc i64 %bx.wide to i32
  %tx = trunc i64 %tx.wide to i32
  %params = call %gpu.params @gpu.load_params(ptr %launch)
  call i32 @gpu.run_place(ptr %launch, ptr %scratch, i64 %x, i32 0, i32 %width, i32 %bx, i32 %tx, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 -1, ptr %numbers, %gpu.params %params)
  ret void
}

; Keep the first throw.
define i32 @gpu.keep_throw(ptr %launch, i64 %x, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 %place, i32 %failure, ptr %numbers, i32 %site, i64 %n0, i64 %n1, i64 %n2, i64 %n3) noinline {
entry:
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
  ret i32 %failure
}

declare i32 @gpu.run_place(ptr, ptr, i64, i32, i32, i32, i32, i32, i32, i32, i32, i32, ptr, %gpu.params)
declare %gpu.params @gpu.load_params(ptr)
declare i32 @gpu.block_extent(ptr, i32)
