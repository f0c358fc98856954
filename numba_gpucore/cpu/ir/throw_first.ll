; A throw only lowers the row's first failure: place << 12 | site.
define i32 @gpu.note_throw(ptr %launch, i64 %x, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 %place, i32 %failure, ptr %numbers, i32 %site, i64 %n0, i64 %n1, i64 %n2, i64 %n3) alwaysinline {
  %place.high = shl i32 %place, 12
  %this = or disjoint i32 %place.high, %site
  %first = call i32 @llvm.umin.i32(i32 %failure, i32 %this)
  ret i32 %first
}

declare i32 @llvm.umin.i32(i32, i32)
