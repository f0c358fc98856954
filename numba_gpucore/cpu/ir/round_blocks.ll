; The scheduler of programs whose threads only ever wait for their block: plain rounds over the threads. A thread that
; has ended counts as arrived, so early returns and barriers in divergent code hang nobody. Threads remember turns
; (resume_together.py): functions that resume all threads from one on that wait at the same place. The same for every
; kernel, so it is linked when the rest is optimised.

@gpu.thread_nbytes = external hidden constant i64

define void @gpu.run_blocks(ptr %launch, ptr %home, i64 %first, i64 %end) noinline optnone {
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

define void @gpu.run_block(ptr %block) noinline {
entry:
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
  %s.frame = getelementptr %gpu.thread, ptr %s, i32 1
  %s.then = call ptr @gpu.run_thread(ptr %s.frame, ptr %s)
  %s.ended = icmp eq ptr %s.then, null
  %s.turn = select i1 %s.ended, ptr @gpu.ended, ptr %s.then
  %s.turn.at = getelementptr %gpu.thread, ptr %s, i32 0, i32 3
  store ptr %s.turn, ptr %s.turn.at
  %s.next = getelementptr i8, ptr %s, i64 %nbytes
  %s.last = icmp eq ptr %s.next, %threads.end
  br i1 %s.last, label %round, label %start
round:
  call void @gpu.complete_barrier(ptr %block)
  br label %turn
turn:
  %t = phi ptr [ %threads, %round ], [ %t.next, %turn ]
  %idle = phi i1 [ true, %round ], [ %idle.next, %turn ]
  %turn.at = getelementptr %gpu.thread, ptr %t, i32 0, i32 3
  %now = load ptr, ptr %turn.at
  %none = icmp eq ptr %now, @gpu.ended
  %idle.next = and i1 %idle, %none
  %t.next = call ptr %now(ptr %t, ptr %threads.end)
  %t.last = icmp eq ptr %t.next, %threads.end
  br i1 %t.last, label %round.end, label %turn
round.end:
  br i1 %idle.next, label %exit, label %round
exit:
  ret void
}

declare ptr @gpu.run_thread(ptr, ptr)
declare void @gpu.open_block(ptr, ptr)
declare void @gpu.number_block(ptr, ptr, i64)
declare void @gpu.complete_barrier(ptr)

; The turn of threads that have ended: pass over them.
define ptr @gpu.ended(ptr %first, ptr %end) noinline {
entry:
  %nbytes = load i64, ptr @gpu.thread_nbytes
  br label %thread
thread:
  %t = phi ptr [ %first, %entry ], [ %next, %more ]
  %next = getelementptr i8, ptr %t, i64 %nbytes
  %last = icmp eq ptr %next, %end
  br i1 %last, label %exit, label %more
more:
  %now.at = getelementptr %gpu.thread, ptr %next, i32 0, i32 3
  %now = load ptr, ptr %now.at
  %same = icmp eq ptr %now, @gpu.ended
  br i1 %same, label %thread, label %exit
exit:
  ret ptr %next
}
