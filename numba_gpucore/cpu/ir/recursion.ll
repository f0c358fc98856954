; Programs that recurse: whether a thread has taken as much of the stack as a GPU has local memory for one at most, which
; definitions.py writes here. Workers' stacks are larger on every platform.
define i1 @gpu.stack_is_spent(ptr %thread) alwaysinline {
  %block = load ptr, ptr %thread
  %stack.at = getelementptr %gpu.block, ptr %block, i32 0, i32 12
  %stack = load ptr, ptr %stack.at
  %here = call ptr @llvm.frameaddress.p0(i32 0)
  %from = ptrtoint ptr %stack to i64
  %to = ptrtoint ptr %here to i64
  %taken = sub i64 %from, %to
  %spent = icmp sgt i64 %taken, LOCAL_NBYTES
  ret i1 %spent
}

declare ptr @llvm.frameaddress.p0(i32)
