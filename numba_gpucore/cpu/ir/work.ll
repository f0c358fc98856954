; What every program has: taking blocks, and reporting a thread that threw. The same for every kernel, so it is linked
; when the rest is optimised. `optnone`: what runs once for many threads is worth no time of the code generator
; (8 of 20 ms for a small kernel). It is written for LLVM's fast instruction selection: what that does not know
; (minima) and values that live across loops cost more than loads and stores.

declare void @gpu.run_blocks(ptr, ptr, i64, i64)

; Which axis the program takes for x, and x for it (choose_row_axis.py); in reports all are what they are.
@gpu.row_axis = external constant i64

; Take blocks from the launch and run them, until none is left or `limit` blocks have been run. Any number of
; workers may be in here for the same launch, each with its own scratch memory. How many a worker takes at a time changes
; meanwhile (work_off.py).
define void @gpu.work(ptr %launch, ptr %scratch, i64 %limit) noinline optnone {
entry:
  %chunk.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 7
  %count.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 6
  %count = load i64, ptr %count.at
  %next.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 8
  br label %take
take:
  %done = phi i64 [ 0, %entry ], [ %done.next, %run ]
  %enough = icmp uge i64 %done, %limit
  br i1 %enough, label %exit, label %claim
claim:
  %chunk = load atomic i64, ptr %chunk.at monotonic, align 8
  %first = atomicrmw add ptr %next.at, i64 %chunk monotonic
  %none = icmp uge i64 %first, %count
  br i1 %none, label %exit, label %run
run:
  %beyond = add i64 %first, %chunk
  %partial = icmp ult i64 %count, %beyond
  %end = select i1 %partial, i64 %count, i64 %beyond
  call void @gpu.run_blocks(ptr %launch, ptr %scratch, i64 %first, i64 %end)
  %done.next = add i64 %done, %chunk
  br label %take
exit:
  ret void
}

; Claim the mailbox for a thread that threw; every thrower counts. `x` is the thread's x in the whole grid, or that of
; one of its rounds of a grid-stride loop: bit 1 of `details` says so, and that the same thread may throw again. The lock
; becomes 2 when all fields are written, since the host may look while other blocks are still running. Takes numbers
; only: a pointer to the running block's record would keep that out of registers.
define void @gpu.report(ptr %launch, i64 %x, i32 %by, i32 %bz, i32 %ty, i32 %tz, i32 %site, i32 %details, i64 %n0, i64 %n1, i64 %n2, i64 %n3) noinline optnone cold {
entry:
  %mailbox.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 4
  %mailbox = load ptr, ptr %mailbox.at
  %rounds = and i32 %details, 2
  %once = icmp ne i32 %rounds, 0
  %more = select i1 %once, i32 0, i32 1
  %count = atomicrmw add ptr %mailbox, i32 %more monotonic
  %one = cmpxchg ptr %mailbox, i32 0, i32 1 monotonic monotonic
  %lock = getelementptr i8, ptr %mailbox, i64 4
  %claim = cmpxchg ptr %lock, i32 0, i32 1 acquire monotonic
  %won = extractvalue { i32, i1 } %claim, 1
  br i1 %won, label %write, label %exit
write:
  %width.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 1, i32 0
  %width = load i32, ptr %width.at
  %width.wide = zext i32 %width to i64
  %grid.width.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 0, i32 0
  %grid.width = load i32, ptr %grid.width.at
  %grid.width.wide = zext i32 %grid.width to i64
  %size = mul i64 %grid.width.wide, %width.wide
  %own.x = urem i64 %x, %size
  %bx.wide = udiv i64 %own.x, %width.wide
  %tx.wide = urem i64 %own.x, %width.wide
  %bx = trunc i64 %bx.wide to i32
  %tx = trunc i64 %tx.wide to i32
  %program.from = getelementptr %gpu.launch, ptr %launch, i32 0, i32 5
  %program = load i64, ptr %program.from
  %site.at = getelementptr i8, ptr %mailbox, i64 8
  store i32 %site, ptr %site.at
  %details.at = getelementptr i8, ptr %mailbox, i64 12
  store i32 %details, ptr %details.at
  %bx.at = getelementptr i8, ptr %mailbox, i64 16
  store i32 %bx, ptr %bx.at
  %by.at = getelementptr i8, ptr %mailbox, i64 20
  store i32 %by, ptr %by.at
  %bz.at = getelementptr i8, ptr %mailbox, i64 24
  store i32 %bz, ptr %bz.at
  %tx.at = getelementptr i8, ptr %mailbox, i64 28
  store i32 %tx, ptr %tx.at
  %ty.at = getelementptr i8, ptr %mailbox, i64 32
  store i32 %ty, ptr %ty.at
  %tz.at = getelementptr i8, ptr %mailbox, i64 36
  store i32 %tz, ptr %tz.at
  %axis = load i64, ptr @gpu.row_axis
  %row.block.at = getelementptr i32, ptr %bx.at, i64 %axis
  %row.block = load i32, ptr %row.block.at
  store i32 %bx, ptr %row.block.at
  store i32 %row.block, ptr %bx.at
  %row.thread.at = getelementptr i32, ptr %tx.at, i64 %axis
  %row.thread = load i32, ptr %row.thread.at
  store i32 %tx, ptr %row.thread.at
  store i32 %row.thread, ptr %tx.at
  %program.at = getelementptr i8, ptr %mailbox, i64 40
  store i64 %program, ptr %program.at
  %n0.at = getelementptr i8, ptr %mailbox, i64 48
  store i64 %n0, ptr %n0.at
  %n1.at = getelementptr i8, ptr %mailbox, i64 56
  store i64 %n1, ptr %n1.at
  %n2.at = getelementptr i8, ptr %mailbox, i64 64
  store i64 %n2, ptr %n2.at
  %n3.at = getelementptr i8, ptr %mailbox, i64 72
  store i64 %n3, ptr %n3.at
  store atomic i32 2, ptr %lock release, align 4
  br label %exit
exit:
  ret void
}
