; The scheduler of programs whose threads only ever wait for their block: plain rounds over the threads. A thread that
; has ended counts as arrived, so early returns and barriers in divergent code hang nobody.

@gpu.thread_nbytes = external constant i64

define void @gpu.run_blocks(ptr %launch, ptr %home, i64 %first, i64 %end) noinline {
entry:
  call void @gpu.open_block(ptr %home, ptr %launch)
  br label %blocks
blocks:
  %b = phi i64 [ %first, %entry ], [ %b.next, %blocks ]
  call void @gpu.number_block(ptr %home, ptr %launch, i64 %b)
  call void @gpu.run_block(ptr %home)
  %b.next = add i64 %b, 1
  %more = icmp ult i64 %b.next, %end
  br i1 %more, label %blocks, label %exit
exit:
  ret void
}

define internal void @gpu.run_block(ptr %block) noinline {
entry:
  %run_thread = call ptr @llvm.coro.prepare.retcon(ptr @gpu.run_thread)
  %threads.at = getelementptr %gpu.block, ptr %block, i32 0, i32 7
  %threads = load ptr, ptr %threads.at
  %count.at = getelementptr %gpu.block, ptr %block, i32 0, i32 11
  %count.narrow = load i32, ptr %count.at
  %count = zext i32 %count.narrow to i64
  %nbytes = load i64, ptr @gpu.thread_nbytes
  %length = mul nuw nsw i64 %count, %nbytes
  %threads.end = getelementptr i8, ptr %threads, i64 %length
  br label %start
start:
  %s = phi ptr [ %threads, %entry ], [ %s.next, %start ]
  %s.alive = phi i64 [ 0, %entry ], [ %s.alive.next, %start ]
  %s.frame = getelementptr %gpu.thread, ptr %s, i32 1
  %s.then = call ptr %run_thread(ptr %s.frame, ptr %s)
  %s.then.at = getelementptr %gpu.thread, ptr %s, i32 0, i32 3
  store ptr %s.then, ptr %s.then.at
  %s.bits = ptrtoint ptr %s.then to i64
  %s.alive.next = or i64 %s.alive, %s.bits
  %s.next = getelementptr i8, ptr %s, i64 %nbytes
  %s.last = icmp eq ptr %s.next, %threads.end
  br i1 %s.last, label %round.end, label %start
round.end:
  %alive = phi i64 [ %s.alive.next, %start ], [ %t.alive.next, %thread.end ]
  %over = icmp eq i64 %alive, 0
  br i1 %over, label %exit, label %round
round:
  call void @gpu.complete_barrier(ptr %block)
  br label %thread
thread:
  %t = phi ptr [ %threads, %round ], [ %t.next, %thread.end ]
  %t.alive = phi i64 [ 0, %round ], [ %t.alive.next, %thread.end ]
  %now.at = getelementptr %gpu.thread, ptr %t, i32 0, i32 3
  %now = load ptr, ptr %now.at
  %ended = icmp eq ptr %now, null
  br i1 %ended, label %thread.end, label %resume
resume:
  %frame = getelementptr %gpu.thread, ptr %t, i32 1
  %then = call ptr %now(ptr %frame, ptr %t)
  store ptr %then, ptr %now.at
  br label %thread.end
thread.end:
  %left = phi ptr [ null, %thread ], [ %then, %resume ]
  %left.bits = ptrtoint ptr %left to i64
  %t.alive.next = or i64 %t.alive, %left.bits
  %t.next = getelementptr i8, ptr %t, i64 %nbytes
  %t.last = icmp eq ptr %t.next, %threads.end
  br i1 %t.last, label %round.end, label %thread
exit:
  ret void
}

define void @gpu.wait_for_block(ptr %thread) alwaysinline {
  call void @gpu.suspend()
  ret void
}

declare ptr @gpu.run_thread(ptr, ptr)
declare void @gpu.open_block(ptr, ptr)
declare void @gpu.number_block(ptr, ptr, i64)
declare void @gpu.complete_barrier(ptr)
declare void @gpu.suspend()
declare ptr @llvm.coro.prepare.retcon(ptr)
