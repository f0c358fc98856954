; Where a thread is, read from its record; `axis` is a constant once inlined. The ranges are CUDA's limits.

define i32 @gpu.thread_id(ptr %thread, i32 %axis) alwaysinline {
  %at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 1, i32 %axis
  %v = load i32, ptr %at, !range !{i32 0, i32 1024}
  ret i32 %v
}
define i32 @gpu.block_id(ptr %thread, i32 %axis) alwaysinline {
  %block = load ptr, ptr %thread
  %at = getelementptr %gpu.block, ptr %block, i32 0, i32 2, i32 %axis
  %v = load i32, ptr %at, !range !{i32 0, i32 2147483647}
  ret i32 %v
}
define i32 @gpu.block_dim(ptr %thread, i32 %axis) alwaysinline {
  %block = load ptr, ptr %thread
  %at = getelementptr %gpu.block, ptr %block, i32 0, i32 3, i32 %axis
  %v = load i32, ptr %at, !range !{i32 1, i32 1025}
  ret i32 %v
}
define i32 @gpu.grid_dim(ptr %thread, i32 %axis) alwaysinline {
  %block = load ptr, ptr %thread
  %at = getelementptr %gpu.block, ptr %block, i32 0, i32 4, i32 %axis
  %v = load i32, ptr %at, !range !{i32 1, i32 -2147483648}
  ret i32 %v
}
define i64 @gpu.global_id(ptr %thread, i32 %axis) alwaysinline {
  %t = call i32 @gpu.thread_id(ptr %thread, i32 %axis)
  %b = call i32 @gpu.block_id(ptr %thread, i32 %axis)
  %n = call i32 @gpu.block_dim(ptr %thread, i32 %axis)
  %t.wide = zext nneg i32 %t to i64
  %b.wide = zext nneg i32 %b to i64
  %n.wide = zext nneg i32 %n to i64
  %first = mul nuw nsw i64 %b.wide, %n.wide
  %v = add nuw nsw i64 %first, %t.wide
  ret i64 %v
}
define i64 @gpu.global_size(ptr %thread, i32 %axis) alwaysinline {
  %g = call i32 @gpu.grid_dim(ptr %thread, i32 %axis)
  %n = call i32 @gpu.block_dim(ptr %thread, i32 %axis)
  %g.wide = zext nneg i32 %g to i64
  %n.wide = zext nneg i32 %n to i64
  %v = mul nuw nsw i64 %g.wide, %n.wide
  ret i64 %v
}

; Number of the thread in its block, x fastest.
define i32 @gpu.thread_number(ptr %thread) alwaysinline {
  %x = call i32 @gpu.thread_id(ptr %thread, i32 0)
  %y = call i32 @gpu.thread_id(ptr %thread, i32 1)
  %z = call i32 @gpu.thread_id(ptr %thread, i32 2)
  %width = call i32 @gpu.block_dim(ptr %thread, i32 0)
  %height = call i32 @gpu.block_dim(ptr %thread, i32 1)
  %z.rows = mul nuw nsw i32 %z, %height
  %rows = add nuw nsw i32 %z.rows, %y
  %before = mul nuw nsw i32 %rows, %width
  %number = add nuw nsw i32 %before, %x
  ret i32 %number
}
define i32 @gpu.lane_id(ptr %thread) alwaysinline {
  %number = call i32 @gpu.thread_number(ptr %thread)
  %lane = and i32 %number, 31
  ret i32 %lane
}
define i32 @gpu.warp_size(ptr %thread) alwaysinline {
  ret i32 32
}

define ptr @gpu.shared_memory(ptr %thread) alwaysinline {
  %block = load ptr, ptr %thread
  %at = getelementptr %gpu.block, ptr %block, i32 0, i32 1
  %shared = load ptr, ptr %at
  ret ptr %shared
}
define i64 @gpu.dynamic_shared_nbytes(ptr %thread) alwaysinline {
  %block = load ptr, ptr %thread
  %launch = load ptr, ptr %block
  %at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 2
  %nbytes = load i64, ptr %at, !range !{i64 0, i64 2147483648}
  ret i64 %nbytes
}

; CUDA's __threadfence orders like a sequentially consistent fence (CUDA C++ Programming Guide, memory fence functions).
define void @gpu.fence.block(ptr %thread) alwaysinline {
  fence seq_cst
  ret void
}
define void @gpu.fence.device(ptr %thread) alwaysinline {
  fence seq_cst
  ret void
}
define void @gpu.fence.system(ptr %thread) alwaysinline {
  fence seq_cst
  ret void
}
define void @gpu.nanosleep(ptr %thread, i32 %ns) alwaysinline {
  ret void
}
