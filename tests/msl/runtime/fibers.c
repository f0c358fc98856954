// Fibers: a stack and a saved stack pointer for each GPU thread of a threadgroup. Before: dispatch.c fills positions.
// After: schedule.c decides who runs.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime.h"

// Saves the callee-saved registers on the stack, stores its pointer in *save_sp, and continues on new_sp.
void msl_swap(void **save_sp, void *new_sp);
#if defined(__x86_64__)  // System V ABI, AMD64 supplement 1.0, section 3.2.1
__asm__(
    ".text\n.globl msl_swap\n.type msl_swap,@function\nmsl_swap:\n"
    "pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15\n"
    "movq %rsp,(%rdi); movq %rsi,%rsp\n"
    "popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp; ret\n"
    ".size msl_swap,.-msl_swap\n");
enum { FRAME_NBYTES = 64, RETURN_WORD = 6 };  // the return address leaves rsp % 16 == 8, as after a call
#elif defined(__aarch64__)  // AAPCS64, section 6.1
__asm__(
    ".text\n.globl msl_swap\n.type msl_swap,%function\nmsl_swap:\n"
    "sub sp,sp,#160\n"
    "stp x19,x20,[sp]; stp x21,x22,[sp,#16]; stp x23,x24,[sp,#32]; stp x25,x26,[sp,#48]\n"
    "stp x27,x28,[sp,#64]; stp x29,x30,[sp,#80]; stp d8,d9,[sp,#96]; stp d10,d11,[sp,#112]\n"
    "stp d12,d13,[sp,#128]; stp d14,d15,[sp,#144]\n"
    "mov x9,sp; str x9,[x0]; mov sp,x1\n"
    "ldp x19,x20,[sp]; ldp x21,x22,[sp,#16]; ldp x23,x24,[sp,#32]; ldp x25,x26,[sp,#48]\n"
    "ldp x27,x28,[sp,#64]; ldp x29,x30,[sp,#80]; ldp d8,d9,[sp,#96]; ldp d10,d11,[sp,#112]\n"
    "ldp d12,d13,[sp,#128]; ldp d14,d15,[sp,#144]; add sp,sp,#160; ret\n"
    ".size msl_swap,.-msl_swap\n");
enum { FRAME_NBYTES = 160, RETURN_WORD = 11 };  // x30
#else
#error "add a context switch for this CPU"
#endif

fiber_t *fibers, *current_fiber;
static char *stacks;
static size_t stack_stride;  // a guard page, then the stack
static uint32_t reserved;
static void *scheduler_sp;

int reserve_fibers(uint32_t count, size_t stack_nbytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t stride = (stack_nbytes + page - 1) / page * page + page;
  if (stacks && reserved >= count && stack_stride == stride) return 1;
  if (stacks) {
    munmap(stacks, stack_stride * reserved);
    free(fibers);
    stacks = NULL;
  }
  void *memory = mmap(NULL, stride * count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 0;
  stacks = memory;
  stack_stride = stride;
  reserved = count;
  for (uint32_t i = 0; i < count; i++) mprotect(stacks + i * stride, page, PROT_NONE);
  fibers = calloc(count, sizeof *fibers);
  return fibers != NULL;
}

// Runs a fiber until it ends or waits. A new one starts in `entry`, which never returns.
void resume_fiber(fiber_t *fiber, void (*entry)(void)) {
  current_fiber = fiber;
  if (fiber->state == FIBER_NEW) {
    size_t index = (size_t)(fiber - fibers);
    uintptr_t top = ((uintptr_t)stacks + (index + 1) * stack_stride) & ~(uintptr_t)15;
    uint64_t *frame = (uint64_t *)(top - FRAME_NBYTES);
    memset(frame, 0, FRAME_NBYTES);
    frame[RETURN_WORD] = (uint64_t)entry;
    fiber->stack_pointer = frame;
  }
  fiber->state = FIBER_READY;
  msl_swap(&scheduler_sp, fiber->stack_pointer);
}

void leave_fiber(int state) {
  current_fiber->state = (uint8_t)state;
  msl_swap(&current_fiber->stack_pointer, scheduler_sp);
}
