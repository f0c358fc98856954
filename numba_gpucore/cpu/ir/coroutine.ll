; Programs with barriers or warp operations: each thread is a returned-continuation coroutine
; (LLVM, "Coroutines in LLVM", llvm.coro.id.retcon). A barrier is an inlined function that suspends; @gpu.run_thread,
; defined for the kernel by definitions.py, is the coroutine's start. It and every continuation take (frame, thread) and
; return the next continuation, null when the thread has ended.

declare ptr @llvm.coro.suspend.retcon.p0(...)

; Not to be merged with another suspension: gpu.active_mask tells lanes apart by the place where they wait.
define void @gpu.suspend() alwaysinline {
  %thread = call ptr (...) @llvm.coro.suspend.retcon.p0() nomerge convergent
  ret void
}

define void @gpu.barrier(ptr %thread) alwaysinline {
  call void @gpu.wait_for_block(ptr %thread)
  ret void
}

; Wait for the block. Returns how many threads arrived with a false and with a true predicate.
define [2 x i32] @gpu.vote_at_barrier(ptr %thread, i32 %predicate) alwaysinline {
  %block = load ptr, ptr %thread
  %true = icmp ne i32 %predicate, 0
  %index = zext i1 %true to i64
  %arriving.at = getelementptr %gpu.block, ptr %block, i32 0, i32 9, i64 %index
  %old = load i32, ptr %arriving.at
  %new = add i32 %old, 1
  store i32 %new, ptr %arriving.at
  call void @gpu.wait_for_block(ptr %thread)
  %arrived.at = getelementptr %gpu.block, ptr %block, i32 0, i32 10
  %counts = load [2 x i32], ptr %arrived.at
  ret [2 x i32] %counts
}
define i32 @gpu.barrier.count(ptr %thread, i32 %predicate) alwaysinline {
  %counts = call [2 x i32] @gpu.vote_at_barrier(ptr %thread, i32 %predicate)
  %true = extractvalue [2 x i32] %counts, 1
  ret i32 %true
}
define i32 @gpu.barrier.and(ptr %thread, i32 %predicate) alwaysinline {
  %counts = call [2 x i32] @gpu.vote_at_barrier(ptr %thread, i32 %predicate)
  %false = extractvalue [2 x i32] %counts, 0
  %all = icmp eq i32 %false, 0
  %result = zext i1 %all to i32
  ret i32 %result
}
define i32 @gpu.barrier.or(ptr %thread, i32 %predicate) alwaysinline {
  %counts = call [2 x i32] @gpu.vote_at_barrier(ptr %thread, i32 %predicate)
  %true = extractvalue [2 x i32] %counts, 1
  %any = icmp ne i32 %true, 0
  %result = zext i1 %any to i32
  ret i32 %result
}

define i64 @gpu.grid_x(ptr %thread) alwaysinline {
  %x = call i64 @gpu.global_id(ptr %thread, i32 0)
  ret i64 %x
}

declare void @gpu.wait_for_block(ptr)
declare i64 @gpu.global_id(ptr, i32)
