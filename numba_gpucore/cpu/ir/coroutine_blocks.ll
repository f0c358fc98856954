; The records of blocks whose threads are coroutines. The same for every kernel, so it is linked when the rest is
; optimised.

@gpu.thread_nbytes = external hidden constant i64

; Frames that do not fit behind their thread's record. Rare: coroutine_program.py builds again with room for them.
define ptr @gpu.allocate_frame(i32 %nbytes) noinline optnone {
  %wide = zext i32 %nbytes to i64
  %frame = call ptr @malloc(i64 %wide)
  ret ptr %frame
}
define void @gpu.free_frame(ptr %frame) noinline optnone {
  call void @free(ptr %frame)
  ret void
}

; Lay a block and its threads out in memory that starts at `home`; what differs between blocks comes later.
define void @gpu.open_block(ptr %home, ptr %launch) noinline optnone {
entry:
  %shared.offset.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 9
  %shared.offset = load i64, ptr %shared.offset.at
  %shared = getelementptr i8, ptr %home, i64 %shared.offset
  call void @gpu.describe_block(ptr %home, ptr %launch, ptr %shared)
  %warps.offset.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 10
  %warps.offset = load i64, ptr %warps.offset.at
  %warps = getelementptr i8, ptr %home, i64 %warps.offset
  %threads.offset.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 11
  %threads.offset = load i64, ptr %threads.offset.at
  %threads = getelementptr i8, ptr %home, i64 %threads.offset
  %threads.at = getelementptr %gpu.block, ptr %home, i32 0, i32 7
  store ptr %threads, ptr %threads.at
  %warps.at = getelementptr %gpu.block, ptr %home, i32 0, i32 8
  store ptr %warps, ptr %warps.at
  %arriving.at = getelementptr %gpu.block, ptr %home, i32 0, i32 9
  store [2 x i32] zeroinitializer, ptr %arriving.at
  %width = call i32 @gpu.block_extent(ptr %launch, i32 0)
  %height = call i32 @gpu.block_extent(ptr %launch, i32 1)
  %depth = call i32 @gpu.block_extent(ptr %launch, i32 2)
  %area = mul i32 %width, %height
  %count = mul i32 %area, %depth
  %count.at = getelementptr %gpu.block, ptr %home, i32 0, i32 11
  store i32 %count, ptr %count.at
  br label %threads.loop
threads.loop:
  %number = phi i32 [ 0, %entry ], [ %number.next, %threads.loop ]
  %x = phi i32 [ 0, %entry ], [ %x.next, %threads.loop ]
  %y = phi i32 [ 0, %entry ], [ %y.next, %threads.loop ]
  %z = phi i32 [ 0, %entry ], [ %z.next, %threads.loop ]
  %thread = call ptr @gpu.thread_of(ptr %threads, i32 %number)
  store ptr %home, ptr %thread
  %x.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 1, i32 0
  %y.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 1, i32 1
  %z.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 1, i32 2
  %number.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 2
  store i32 %x, ptr %x.at
  store i32 %y, ptr %y.at
  store i32 %z, ptr %z.at
  store i32 %number, ptr %number.at
  %x.up = add i32 %x, 1
  %x.full = icmp eq i32 %x.up, %width
  %x.next = select i1 %x.full, i32 0, i32 %x.up
  %y.add = zext i1 %x.full to i32
  %y.up = add i32 %y, %y.add
  %y.full = icmp eq i32 %y.up, %height
  %y.next = select i1 %y.full, i32 0, i32 %y.up
  %z.add = zext i1 %y.full to i32
  %z.next = add i32 %z, %z.add
  %number.next = add i32 %number, 1
  %more = icmp ult i32 %number.next, %count
  br i1 %more, label %threads.loop, label %exit
exit:
  ret void
}

define ptr @gpu.thread_of(ptr %threads, i32 %number) alwaysinline {
  %wide = zext i32 %number to i64
  %nbytes = load i64, ptr @gpu.thread_nbytes
  %offset = mul nuw nsw i64 %wide, %nbytes
  %thread = getelementptr i8, ptr %threads, i64 %offset
  ret ptr %thread
}

; All threads have arrived at the block's barrier: their counts become the barrier's result.
define void @gpu.complete_barrier(ptr %block) alwaysinline {
  %arriving.at = getelementptr %gpu.block, ptr %block, i32 0, i32 9
  %arrived.at = getelementptr %gpu.block, ptr %block, i32 0, i32 10
  %counts = load [2 x i32], ptr %arriving.at
  store [2 x i32] %counts, ptr %arrived.at
  store [2 x i32] zeroinitializer, ptr %arriving.at
  ret void
}

declare void @gpu.describe_block(ptr, ptr, ptr)
declare i32 @gpu.block_extent(ptr, i32)
declare noalias ptr @malloc(i64)
declare void @free(ptr)
