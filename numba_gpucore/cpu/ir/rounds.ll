; Programs whose threads only ever wait for their block.

define void @gpu.wait_for_block(ptr %thread) alwaysinline {
  call void @gpu.suspend()
  ret void
}

declare void @gpu.suspend()
