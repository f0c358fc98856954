; The print ring of base.print_ring: words behind the mailbox. Linked into programs that print.

; Reserve a record for @gpu.print.begin. Not inlined, and takes no pointer to the running thread, which would keep that
; out of registers.
define i32 @gpu.print.reserve(ptr %launch, i32 %line, i32 %words) noinline {
entry:
  %mailbox.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 4
  %mailbox = load ptr, ptr %mailbox.at
  %head.at = getelementptr i8, ptr %mailbox, i64 128
  %tail.at = getelementptr i8, ptr %mailbox, i64 132
  %lost.at = getelementptr i8, ptr %mailbox, i64 136
  br label %try
try:
  %head = load atomic i32, ptr %head.at monotonic, align 4
  %tail = load atomic i32, ptr %tail.at acquire, align 4
  %used = sub i32 %head, %tail
  %free = sub i32 131072, %used
  %fits = icmp ule i32 %words, %free
  br i1 %fits, label %claim, label %full
claim:
  %head.new = add i32 %head, %words
  %swap = cmpxchg ptr %head.at, i32 %head, i32 %head.new monotonic monotonic
  %won = extractvalue { i32, i1 } %swap, 1
  br i1 %won, label %write, label %try
write:
  %program.from = getelementptr %gpu.launch, ptr %launch, i32 0, i32 5
  %program = load i64, ptr %program.from
  %program.low = trunc i64 %program to i32
  call void @gpu.print.word(ptr %launch, i32 %head, i32 1, i32 %program.low)
  call void @gpu.print.word(ptr %launch, i32 %head, i32 2, i32 %line)
  ret i32 %head
full:
  %lost = atomicrmw add ptr %lost.at, i32 1 monotonic
  ret i32 -1
}

; The address of word number `offset` of the record at `place`.
define ptr @gpu.print.word_at(ptr %launch, i32 %place, i32 %offset) alwaysinline {
  %mailbox.at = getelementptr %gpu.launch, ptr %launch, i32 0, i32 4
  %mailbox = load ptr, ptr %mailbox.at
  %sum = add i32 %place, %offset
  %index = and i32 %sum, 131071
  %index.wide = zext i32 %index to i64
  %offset.nbytes = shl i64 %index.wide, 2
  %past.head = add i64 %offset.nbytes, 192
  %at = getelementptr i8, ptr %mailbox, i64 %past.head
  ret ptr %at
}
define void @gpu.print.word(ptr %launch, i32 %place, i32 %offset, i32 %word) noinline {
  %at = call ptr @gpu.print.word_at(ptr %launch, i32 %place, i32 %offset)
  store i32 %word, ptr %at, align 4
  ret void
}
define void @gpu.print.close(ptr %launch, i32 %place, i32 %words) noinline {
  %at = call ptr @gpu.print.word_at(ptr %launch, i32 %place, i32 0)
  store atomic i32 %words, ptr %at release, align 4
  ret void
}

define i32 @gpu.print.begin(ptr %thread, i32 %line, i32 %words) alwaysinline {
  %block = load ptr, ptr %thread
  %launch = load ptr, ptr %block
  %place = call i32 @gpu.print.reserve(ptr %launch, i32 %line, i32 %words)
  ret i32 %place
}
define void @gpu.print.number(ptr %thread, i32 %place, i32 %position, i64 %number) alwaysinline {
  %block = load ptr, ptr %thread
  %launch = load ptr, ptr %block
  %twice = shl i32 %position, 1
  %low.offset = add i32 %twice, 4
  %high.offset = add i32 %twice, 5
  %low = trunc i64 %number to i32
  %shifted = lshr i64 %number, 32
  %high = trunc i64 %shifted to i32
  call void @gpu.print.word(ptr %launch, i32 %place, i32 %low.offset, i32 %low)
  call void @gpu.print.word(ptr %launch, i32 %place, i32 %high.offset, i32 %high)
  ret void
}
define void @gpu.print.end(ptr %thread, i32 %place, i32 %words) alwaysinline {
  %block = load ptr, ptr %thread
  %launch = load ptr, ptr %block
  call void @gpu.print.close(ptr %launch, i32 %place, i32 %words)
  ret void
}
