; Warp operations and grid barriers, as threads call them; warp_blocks.ll tells how threads wait. First the warp's record
; and the lane's place in it:

define ptr @gpu.warp_of(ptr %thread) alwaysinline {
  %block = load ptr, ptr %thread
  %warps.at = getelementptr %gpu.block, ptr %block, i32 0, i32 8
  %warps = load ptr, ptr %warps.at
  %number.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 2
  %number = load i32, ptr %number.at
  %w = lshr i32 %number, 5
  %warp = getelementptr %gpu.warp, ptr %warps, i32 %w
  ret ptr %warp
}
define i32 @gpu.lane_of(ptr %thread) alwaysinline {
  %number.at = getelementptr %gpu.thread, ptr %thread, i32 0, i32 2
  %number = load i32, ptr %number.at
  %lane = and i32 %number, 31
  ret i32 %lane
}

define void @gpu.wait_with_key(ptr %thread, i64 %key) alwaysinline {
  %warp = call ptr @gpu.warp_of(ptr %thread)
  %lane = call i32 @gpu.lane_of(ptr %thread)
  %key.at = getelementptr %gpu.warp, ptr %warp, i32 0, i32 0, i32 %lane
  store i64 %key, ptr %key.at
  call void @gpu.suspend()
  ret void
}
define void @gpu.wait_for_block(ptr %thread) alwaysinline {
  call void @gpu.wait_with_key(ptr %thread, i64 0)
  ret void
}
define void @gpu.barrier.grid(ptr %thread) alwaysinline {
  call void @gpu.wait_with_key(ptr %thread, i64 4294967296)
  ret void
}

; Bring a value to the lanes of `mask` that do the same operation; the own lane always takes part.
define void @gpu.meet(ptr %thread, i32 %kind, i32 %mask, i64 %value) alwaysinline {
  %warp = call ptr @gpu.warp_of(ptr %thread)
  %lane = call i32 @gpu.lane_of(ptr %thread)
  %value.at = getelementptr %gpu.warp, ptr %warp, i32 0, i32 1, i32 %lane
  store i64 %value, ptr %value.at
  %own = shl nuw i32 1, %lane
  %mask.own = or i32 %mask, %own
  %mask.wide = zext i32 %mask.own to i64
  %kind.wide = zext i32 %kind to i64
  %kind.high = shl nuw i64 %kind.wide, 32
  %key = or disjoint i64 %kind.high, %mask.wide
  call void @gpu.wait_with_key(ptr %thread, i64 %key)
  ret void
}
define i32 @gpu.lanes_met(ptr %thread) alwaysinline {
  %warp = call ptr @gpu.warp_of(ptr %thread)
  %lane = call i32 @gpu.lane_of(ptr %thread)
  %met.at = getelementptr %gpu.warp, ptr %warp, i32 0, i32 3, i32 %lane
  %met = load i32, ptr %met.at
  ret i32 %met
}
define i32 @gpu.lanes_true(ptr %thread) alwaysinline {
  %warp = call ptr @gpu.warp_of(ptr %thread)
  %lane = call i32 @gpu.lane_of(ptr %thread)
  %ballot.at = getelementptr %gpu.warp, ptr %warp, i32 0, i32 4, i32 %lane
  %ballot = load i32, ptr %ballot.at
  ret i32 %ballot
}

; Exchange values; a source outside the warp, or one that was not met, gives the own value.
define i64 @gpu.fetch(ptr %thread, i32 %kind, i32 %mask, i64 %value, i32 %source) alwaysinline {
  call void @gpu.meet(ptr %thread, i32 %kind, i32 %mask, i64 %value)
  %met = call i32 @gpu.lanes_met(ptr %thread)
  %own = call i32 @gpu.lane_of(ptr %thread)
  %inside = icmp ult i32 %source, 32
  %source.lane = and i32 %source, 31
  %bit = lshr i32 %met, %source.lane
  %arrived = trunc i32 %bit to i1
  %usable = and i1 %inside, %arrived
  %lane = select i1 %usable, i32 %source.lane, i32 %own
  %warp = call ptr @gpu.warp_of(ptr %thread)
  %sent.at = getelementptr %gpu.warp, ptr %warp, i32 0, i32 2, i32 %lane
  %result = load i64, ptr %sent.at
  ret i64 %result
}

; PTX ISA, shfl.sync: only the low five bits of the third operand count.
define i64 @gpu.shuffle.idx.i64(ptr %thread, i32 %mask, i64 %value, i32 %lane) alwaysinline {
  %source = and i32 %lane, 31
  %result = call i64 @gpu.fetch(ptr %thread, i32 3, i32 %mask, i64 %value, i32 %source)
  ret i64 %result
}
define i64 @gpu.shuffle.up.i64(ptr %thread, i32 %mask, i64 %value, i32 %delta) alwaysinline {
  %own = call i32 @gpu.lane_of(ptr %thread)
  %distance = and i32 %delta, 31
  %source = sub i32 %own, %distance
  %result = call i64 @gpu.fetch(ptr %thread, i32 4, i32 %mask, i64 %value, i32 %source)
  ret i64 %result
}
define i64 @gpu.shuffle.down.i64(ptr %thread, i32 %mask, i64 %value, i32 %delta) alwaysinline {
  %own = call i32 @gpu.lane_of(ptr %thread)
  %distance = and i32 %delta, 31
  %source = add i32 %own, %distance
  %result = call i64 @gpu.fetch(ptr %thread, i32 5, i32 %mask, i64 %value, i32 %source)
  ret i64 %result
}
define i64 @gpu.shuffle.xor.i64(ptr %thread, i32 %mask, i64 %value, i32 %bits) alwaysinline {
  %own = call i32 @gpu.lane_of(ptr %thread)
  %low = and i32 %bits, 31
  %source = xor i32 %own, %low
  %result = call i64 @gpu.fetch(ptr %thread, i32 6, i32 %mask, i64 %value, i32 %source)
  ret i64 %result
}

define i32 @gpu.vote.ballot(ptr %thread, i32 %mask, i32 %predicate) alwaysinline {
  %value = zext i32 %predicate to i64
  call void @gpu.meet(ptr %thread, i32 7, i32 %mask, i64 %value)
  %true = call i32 @gpu.lanes_true(ptr %thread)
  ret i32 %true
}
define i32 @gpu.vote.any(ptr %thread, i32 %mask, i32 %predicate) alwaysinline {
  %value = zext i32 %predicate to i64
  call void @gpu.meet(ptr %thread, i32 8, i32 %mask, i64 %value)
  %true = call i32 @gpu.lanes_true(ptr %thread)
  %any = icmp ne i32 %true, 0
  %result = zext i1 %any to i32
  ret i32 %result
}
define i32 @gpu.vote.all(ptr %thread, i32 %mask, i32 %predicate) alwaysinline {
  %value = zext i32 %predicate to i64
  call void @gpu.meet(ptr %thread, i32 9, i32 %mask, i64 %value)
  %true = call i32 @gpu.lanes_true(ptr %thread)
  %met = call i32 @gpu.lanes_met(ptr %thread)
  %all = icmp eq i32 %true, %met
  %result = zext i1 %all to i32
  ret i32 %result
}
define i32 @gpu.vote.eq(ptr %thread, i32 %mask, i32 %predicate) alwaysinline {
  %value = zext i32 %predicate to i64
  call void @gpu.meet(ptr %thread, i32 10, i32 %mask, i64 %value)
  %true = call i32 @gpu.lanes_true(ptr %thread)
  %met = call i32 @gpu.lanes_met(ptr %thread)
  %all = icmp eq i32 %true, %met
  %none = icmp eq i32 %true, 0
  %equal = or i1 %all, %none
  %result = zext i1 %equal to i32
  ret i32 %result
}

; Lanes that brought the same value.
define i32 @gpu.match.any.i64(ptr %thread, i32 %mask, i64 %value) alwaysinline {
  call void @gpu.meet(ptr %thread, i32 11, i32 %mask, i64 %value)
  %same = call i32 @gpu.lanes_with_value(ptr %thread, i64 %value)
  ret i32 %same
}
; All lanes met if they all brought the same value, else 0.
define i32 @gpu.match.all.i64(ptr %thread, i32 %mask, i64 %value) alwaysinline {
  call void @gpu.meet(ptr %thread, i32 12, i32 %mask, i64 %value)
  %same = call i32 @gpu.lanes_with_value(ptr %thread, i64 %value)
  %met = call i32 @gpu.lanes_met(ptr %thread)
  %all = icmp eq i32 %same, %met
  %result = select i1 %all, i32 %met, i32 0
  ret i32 %result
}
; Not inlined: LLVM would move the comparison behind the thread's next wait and keep 256 bytes for it in the frame, at a
; multiple of 256 bytes, which frames are not.
define i32 @gpu.lanes_with_value(ptr %thread, i64 %value) noinline {
  %warp = call ptr @gpu.warp_of(ptr %thread)
  %sent.at = getelementptr %gpu.warp, ptr %warp, i32 0, i32 2
  %sent = load <32 x i64>, ptr %sent.at, align 8
  %one = insertelement <32 x i64> poison, i64 %value, i64 0
  %all = shufflevector <32 x i64> %one, <32 x i64> poison, <32 x i32> zeroinitializer
  %same = icmp eq <32 x i64> %sent, %all
  %bits = bitcast <32 x i1> %same to i32
  %met = call i32 @gpu.lanes_met(ptr %thread)
  %lanes = and i32 %bits, %met
  ret i32 %lanes
}

; Lanes that are at the same place: kind 2 with an empty mask, so that nobody is waited for.
define i32 @gpu.active_mask(ptr %thread) alwaysinline {
  call void @gpu.wait_with_key(ptr %thread, i64 8589934592)
  %met = call i32 @gpu.lanes_met(ptr %thread)
  ret i32 %met
}
define void @gpu.warp_barrier(ptr %thread, i32 %mask) alwaysinline {
  call void @gpu.meet(ptr %thread, i32 13, i32 %mask, i64 0)
  ret void
}

declare void @gpu.suspend()
