; A throw is reported with all details; settle_throws.py says which (ir/work.ll).
define i32 @gpu.note_throw(ptr %launch, i64 %x, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 %place, i32 %failure, ptr %numbers, i32 %site, i64 %n0, i64 %n1, i64 %n2, i64 %n3) alwaysinline {
  call void @gpu.report(ptr %launch, i64 %x, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 %site, i32 DETAILS, i64 %n0, i64 %n1, i64 %n2, i64 %n3)
  ret i32 %failure
}

declare void @gpu.report(ptr, i64, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64)
