; The scheduler of programs with warp operations or grid barriers. A thread that waits says for what: its key is
; kind << 32 | lane mask; kind 0 waits for the block, 1 for the grid, those from 2 on for lanes of its warp, one kind for
; each operation.
;
; A warp's lanes run until all of them wait. Lanes that wait at warp operations go on when every living lane of their
; mask waits with the same key; where no such group is complete (lanes ended or went elsewhere) all go on, so that
; nothing hangs. At that moment the scheduler copies what they brought (`value`) to where they read it (`sent`), and
; notes which lanes each of them met: a lane sees exactly those that arrived at the same operation. The same for every
; kernel, so it is linked when the rest is optimised.

@gpu.uses_grid_barrier = external constant i1

; One block with its own record, or all blocks where threads wait for the grid.
define void @gpu.run_blocks(ptr %launch, ptr %home, i64 %first, i64 %end) noinline optnone {
entry:
  %stride.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 12
  %stride.all = load i64, ptr %stride.at
  %together = load i1, ptr @gpu.uses_grid_barrier
  %stride = select i1 %together, i64 %stride.all, i64 0
  br label %open
open:
  %b = phi i64 [ %first, %entry ], [ %b.next, %opened ]
  %b.place = sub i64 %b, %first
  %b.offset = mul i64 %b.place, %stride
  %block = getelementptr i8, ptr %home, i64 %b.offset
  call void @gpu.open_block(ptr %block, ptr %launch)
  call void @gpu.number_block(ptr %block, ptr %launch, i64 %b)
  call void @gpu.start_block(ptr %block)
  %waits = call i1 @gpu.advance_block(ptr %block)
  br label %opened
opened:
  %b.next = add i64 %b, 1
  %b.more = icmp ult i64 %b.next, %end
  br i1 %b.more, label %open, label %grid
grid:
  br i1 %together, label %round, label %exit
round:
  br label %again
again:
  %a = phi i64 [ %first, %round ], [ %a.next, %again ]
  %any = phi i1 [ false, %round ], [ %any.next, %again ]
  %a.place = sub i64 %a, %first
  %a.offset = mul i64 %a.place, %stride
  %a.block = getelementptr i8, ptr %home, i64 %a.offset
  %a.waits = call i1 @gpu.advance_block(ptr %a.block)
  %any.next = or i1 %any, %a.waits
  %a.next = add i64 %a, 1
  %a.more = icmp ult i64 %a.next, %end
  br i1 %a.more, label %again, label %round.end
round.end:
  br i1 %any.next, label %round, label %exit
exit:
  ret void
}

; Make every thread ready to start.
define void @gpu.start_block(ptr %block) noinline {
entry:
  %threads.at = getelementptr %gpu.block, ptr %block, i32 0, i32 7
  %threads = load ptr, ptr %threads.at
  %warps.at = getelementptr %gpu.block, ptr %block, i32 0, i32 8
  %warps = load ptr, ptr %warps.at
  %count.at = getelementptr %gpu.block, ptr %block, i32 0, i32 11
  %count = load i32, ptr %count.at
  br label %threads.loop
threads.loop:
  %t = phi i32 [ 0, %entry ], [ %t.next, %threads.loop ]
  %thread = call ptr @gpu.thread_of(ptr %threads, i32 %t)
  %then.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 3
  store ptr @gpu.run_thread, ptr %then.at
  %t.next = add i32 %t, 1
  %t.more = icmp ult i32 %t.next, %count
  br i1 %t.more, label %threads.loop, label %warps.loop
warps.loop:
  %w = phi i32 [ 0, %threads.loop ], [ %w.next, %warps.loop ]
  %warp = getelementptr %gpu.warp, ptr %warps, i32 %w
  %done = shl i32 %w, 5
  %left = sub i32 %count, %done
  %short = icmp ult i32 %left, 32
  %left.bits = and i32 %left, 31
  %part.high = shl i32 -1, %left.bits
  %part = xor i32 %part.high, -1
  %lanes = select i1 %short, i32 %part, i32 -1
  %live.at = getelementptr %gpu.warp, ptr %warp, i32 0, i32 5
  %ready.at = getelementptr %gpu.warp, ptr %warp, i32 0, i32 6
  store i32 %lanes, ptr %live.at
  store i32 %lanes, ptr %ready.at
  %w.next = add i32 %w, 1
  %w.done = shl i32 %w.next, 5
  %w.more = icmp ult i32 %w.done, %count
  br i1 %w.more, label %warps.loop, label %exit
exit:
  ret void
}

; Resume the block's threads until all have ended (false) or all that live wait for the grid (true; ready to resume).
define i1 @gpu.advance_block(ptr %block) noinline {
entry:
  %threads.at = getelementptr %gpu.block, ptr %block, i32 0, i32 7
  %threads = load ptr, ptr %threads.at
  %warps.at = getelementptr %gpu.block, ptr %block, i32 0, i32 8
  %warps = load ptr, ptr %warps.at
  %count.at = getelementptr %gpu.block, ptr %block, i32 0, i32 11
  %count = load i32, ptr %count.at
  br label %round
round:
  br label %warp
warp:
  %w = phi i32 [ 0, %round ], [ %w.next, %warp ]
  %alive = phi i32 [ 0, %round ], [ %alive.next, %warp ]
  %at_block = phi i32 [ 0, %round ], [ %at_block.next, %warp ]
  %warp.at = getelementptr %gpu.warp, ptr %warps, i32 %w
  %w.first = shl i32 %w, 5
  %lanes = call ptr @gpu.thread_of(ptr %threads, i32 %w.first)
  %live = call i32 @gpu.advance_warp(ptr %warp.at, ptr %lanes)
  %here = call i32 @gpu.lanes_with_kind(ptr %warp.at, i64 0, i32 %live)
  %alive.next = or i32 %alive, %live
  %at_block.next = or i32 %at_block, %here
  %w.next = add i32 %w, 1
  %w.done = shl i32 %w.next, 5
  %w.more = icmp ult i32 %w.done, %count
  br i1 %w.more, label %warp, label %round.end
round.end:
  %over = icmp eq i32 %alive.next, 0
  br i1 %over, label %ended, label %release
release:
  ; Threads that wait for the block go on; where there are none, all wait for the grid, and these go on next time.
  %any_at_block = icmp ne i32 %at_block.next, 0
  %kind = select i1 %any_at_block, i64 0, i64 1
  call void @gpu.complete_barrier(ptr %block)
  br label %release.warp
release.warp:
  %r = phi i32 [ 0, %release ], [ %r.next, %release.warp ]
  %r.warp = getelementptr %gpu.warp, ptr %warps, i32 %r
  %r.live.at = getelementptr %gpu.warp, ptr %r.warp, i32 0, i32 5
  %r.live = load i32, ptr %r.live.at
  %r.ready = call i32 @gpu.lanes_with_kind(ptr %r.warp, i64 %kind, i32 %r.live)
  %r.ready.at = getelementptr %gpu.warp, ptr %r.warp, i32 0, i32 6
  store i32 %r.ready, ptr %r.ready.at
  %r.next = add i32 %r, 1
  %r.done = shl i32 %r.next, 5
  %r.more = icmp ult i32 %r.done, %count
  br i1 %r.more, label %release.warp, label %released
released:
  br i1 %any_at_block, label %round, label %at_grid
ended:
  ret i1 false
at_grid:
  ret i1 true
}

; Living lanes of a warp whose key has this kind.
define i32 @gpu.lanes_with_kind(ptr %warp, i64 %kind, i32 %live) alwaysinline {
  %keys = load <32 x i64>, ptr %warp, align 8
  %kinds = lshr <32 x i64> %keys, splat (i64 32)
  %one = insertelement <32 x i64> poison, i64 %kind, i64 0
  %all = shufflevector <32 x i64> %one, <32 x i64> poison, <32 x i32> zeroinitializer
  %same = icmp eq <32 x i64> %kinds, %all
  %bits = bitcast <32 x i1> %same to i32
  %lanes = and i32 %bits, %live
  ret i32 %lanes
}

; Resume a warp's ready lanes, complete warp operations, and so on until all living lanes wait for more than their
; warp. Returns the living lanes.
define i32 @gpu.advance_warp(ptr %warp, ptr %lanes) noinline {
entry:
  %live.at = getelementptr %gpu.warp, ptr %warp, i32 0, i32 5
  %live.first = load i32, ptr %live.at
  %ready.at = getelementptr %gpu.warp, ptr %warp, i32 0, i32 6
  %ready.first = load i32, ptr %ready.at
  br label %test
test:
  %live = phi i32 [ %live.first, %entry ], [ %live.next, %match ]
  %ready = phi i32 [ %ready.first, %entry ], [ %ready.next, %match ]
  %none = icmp eq i32 %ready, 0
  br i1 %none, label %exit, label %lane
lane:
  %todo = phi i32 [ %ready, %test ], [ %todo.next, %lane ]
  %l.live = phi i32 [ %live, %test ], [ %live.next, %lane ]
  %index = call i32 @llvm.cttz.i32(i32 %todo, i1 true)
  %thread = call ptr @gpu.thread_of(ptr %lanes, i32 %index)
  %frame = getelementptr %gpu.thread, ptr %thread, i32 1
  %then.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 3
  %now = load ptr, ptr %then.at
  %then = call ptr %now(ptr %frame, ptr %thread)
  store ptr %then, ptr %then.at
  %ended = icmp eq ptr %then, null
  %ended.bit = zext i1 %ended to i32
  %ended.lane = shl i32 %ended.bit, %index
  %live.next = xor i32 %l.live, %ended.lane
  %todo.less = add i32 %todo, -1
  %todo.next = and i32 %todo, %todo.less
  %last = icmp eq i32 %todo.next, 0
  br i1 %last, label %match, label %lane
match:
  %ready.next = call i32 @gpu.match_lanes(ptr %warp, ptr %lanes, i32 %live.next)
  br label %test
exit:
  store i32 %live, ptr %live.at
  ret i32 %live
}

; All living lanes wait. Returns those that go on, after handing them what the lanes that they met have brought.
define i32 @gpu.match_lanes(ptr %warp, ptr %lanes, i32 %live) noinline {
entry:
  %keys = load <32 x i64>, ptr %warp, align 8
  %at_warp = icmp uge <32 x i64> %keys, splat (i64 8589934592)
  %at_warp.bits = bitcast <32 x i1> %at_warp to i32
  %waiting = and i32 %at_warp.bits, %live
  %none = icmp eq i32 %waiting, 0
  br i1 %none, label %exit.none, label %pass
pass:
  %forced = phi i1 [ false, %entry ], [ true, %pass.end ]
  br label %group
group:
  %todo = phi i32 [ %waiting, %pass ], [ %todo.next, %group.end ]
  %going = phi i32 [ 0, %pass ], [ %going.next, %group.end ]
  %leader = call i32 @llvm.cttz.i32(i32 %todo, i1 true)
  %key.at = getelementptr [32 x i64], ptr %warp, i32 0, i32 %leader
  %key = load i64, ptr %key.at
  %key.one = insertelement <32 x i64> poison, i64 %key, i64 0
  %key.all = shufflevector <32 x i64> %key.one, <32 x i64> poison, <32 x i32> zeroinitializer
  %same = icmp eq <32 x i64> %keys, %key.all
  %same.bits = bitcast <32 x i1> %same to i32
  %same.waiting = and i32 %same.bits, %todo
  %is_active_mask = icmp eq i64 %key, 8589934592
  br i1 %is_active_mask, label %place, label %meet
place:
  %same.place = call i32 @gpu.lanes_at(ptr %lanes, i32 %leader, i32 %same.waiting)
  br label %meet
meet:
  %met = phi i32 [ %same.waiting, %group ], [ %same.place, %place ]
  %mask = trunc i64 %key to i32
  %awaited = and i32 %mask, %live
  %unmet = xor i32 %met, -1
  %absent = and i32 %awaited, %unmet
  %complete = icmp eq i32 %absent, 0
  %go = or i1 %complete, %forced
  %todo.next = and i32 %todo, %unmet
  br i1 %go, label %send, label %group.end
send:
  %who = bitcast i32 %met to <32 x i1>
  %value.at = getelementptr %gpu.warp, ptr %warp, i32 0, i32 1
  %values = load <32 x i64>, ptr %value.at, align 8
  %nonzero = icmp ne <32 x i64> %values, zeroinitializer
  %nonzero.bits = bitcast <32 x i1> %nonzero to i32
  %ballot = and i32 %nonzero.bits, %met
  %sent.at = getelementptr %gpu.warp, ptr %warp, i32 0, i32 2
  %sent.old = load <32 x i64>, ptr %sent.at, align 8
  %sent = select <32 x i1> %who, <32 x i64> %values, <32 x i64> %sent.old
  store <32 x i64> %sent, ptr %sent.at, align 8
  %met.at = getelementptr %gpu.warp, ptr %warp, i32 0, i32 3
  %met.one = insertelement <32 x i32> poison, i32 %met, i64 0
  %met.all = shufflevector <32 x i32> %met.one, <32 x i32> poison, <32 x i32> zeroinitializer
  %met.old = load <32 x i32>, ptr %met.at, align 8
  %met.new = select <32 x i1> %who, <32 x i32> %met.all, <32 x i32> %met.old
  store <32 x i32> %met.new, ptr %met.at, align 8
  %ballot.at = getelementptr %gpu.warp, ptr %warp, i32 0, i32 4
  %ballot.one = insertelement <32 x i32> poison, i32 %ballot, i64 0
  %ballot.all = shufflevector <32 x i32> %ballot.one, <32 x i32> poison, <32 x i32> zeroinitializer
  %ballot.old = load <32 x i32>, ptr %ballot.at, align 8
  %ballot.new = select <32 x i1> %who, <32 x i32> %ballot.all, <32 x i32> %ballot.old
  store <32 x i32> %ballot.new, ptr %ballot.at, align 8
  %going.sent = or i32 %going, %met
  br label %group.end
group.end:
  %going.next = phi i32 [ %going, %meet ], [ %going.sent, %send ]
  %groups.over = icmp eq i32 %todo.next, 0
  br i1 %groups.over, label %pass.end, label %group
pass.end:
  %stuck = icmp eq i32 %going.next, 0
  br i1 %stuck, label %pass, label %exit
exit.none:
  ret i32 0
exit:
  ret i32 %going.next
}

; Which of `some` lanes wait at the same place in the code as `leader`: they have the same continuation.
define i32 @gpu.lanes_at(ptr %lanes, i32 %leader, i32 %some) noinline {
entry:
  %first = call ptr @gpu.thread_of(ptr %lanes, i32 %leader)
  %wanted.at = getelementptr %gpu.thread, ptr %first, i32 0, i32 3
  %wanted = load ptr, ptr %wanted.at
  br label %lane
lane:
  %todo = phi i32 [ %some, %entry ], [ %todo.next, %lane ]
  %found = phi i32 [ 0, %entry ], [ %found.next, %lane ]
  %index = call i32 @llvm.cttz.i32(i32 %todo, i1 true)
  %thread = call ptr @gpu.thread_of(ptr %lanes, i32 %index)
  %then.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 3
  %then = load ptr, ptr %then.at
  %same = icmp eq ptr %then, %wanted
  %same.bit = zext i1 %same to i32
  %same.lane = shl i32 %same.bit, %index
  %found.next = or i32 %found, %same.lane
  %todo.less = add i32 %todo, -1
  %todo.next = and i32 %todo, %todo.less
  %last = icmp eq i32 %todo.next, 0
  br i1 %last, label %exit, label %lane
exit:
  ret i32 %found.next
}

declare i32 @llvm.cttz.i32(i32, i1)
declare ptr @gpu.run_thread(ptr, ptr)
declare void @gpu.open_block(ptr, ptr)
declare void @gpu.number_block(ptr, ptr, i64)
declare void @gpu.complete_barrier(ptr)
declare ptr @gpu.thread_of(ptr, i32)
