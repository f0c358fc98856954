// msl_run: runs a compiled kernel over a grid on the calling CPU thread. Before: library.py fills in a dispatch_t.
// After: schedule.c. Faults in the kernel (guard pages, memory that is not resident, division by zero, sanitizer traps,
// time-out) end the dispatch with an error and the thread that did it, not the process. One dispatch at a time.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime.h"

#ifndef sigev_notify_thread_id  // glibc before 2.41 lacks the name of timer_create(2)
#define sigev_notify_thread_id _sigev_un._tid
#endif

static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGALRM};
enum { SIGNAL_COUNT = sizeof SIGNALS / sizeof SIGNALS[0] };

static dispatch_t *dispatch;
static sigjmp_buf escape;
static volatile sig_atomic_t is_inside;

static void fiber_main(void) {
  const position_t *position = &current_fiber->position;
  if (dispatch->row_entry)
    dispatch->row_entry(position, dispatch->args, position->group_size[0]);
  else
    dispatch->thread_entry(position, dispatch->args);
  leave_fiber(FIBER_DONE);
  __builtin_trap();  // a done fiber is never resumed, only started anew
}

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)context;
  if (!is_inside) {
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  is_inside = 0;
  dispatch->signal = number;
  dispatch->fault_address = (uint64_t)info->si_addr;
  siglongjmp(escape, number == SIGALRM ? END_TIMEOUT : END_FAULT);
}

// Positions of all threads of the group at `group`, each in a new fiber. Returns how many threads it has.
static uint32_t place_threads(const uint32_t group[3], const uint32_t groups[3]) {
  position_t base;
  memset(&base, 0, sizeof base);
  for (int d = 0; d < 3; d++) {
    uint32_t left = dispatch->grid[d] - group[d] * dispatch->group[d];
    base.group_position[d] = group[d];
    base.grid_size[d] = dispatch->grid[d];
    base.group_size[d] = left < dispatch->group[d] ? left : dispatch->group[d];
    base.full_group_size[d] = dispatch->group[d];
    base.groups_per_grid[d] = groups[d];
  }
  uint32_t threads = base.group_size[0] * base.group_size[1] * base.group_size[2];
  base.simdgroups = (threads + 31) / 32;
  base.full_simdgroups = (dispatch->group[0] * dispatch->group[1] * dispatch->group[2] + 31) / 32;
  for (uint32_t t = 0; t < threads; t++) {
    position_t *p = &fibers[t].position;
    *p = base;
    p->position_in_group[0] = t % base.group_size[0];
    p->position_in_group[1] = t / base.group_size[0] % base.group_size[1];
    p->position_in_group[2] = t / base.group_size[0] / base.group_size[1];
    for (int d = 0; d < 3; d++) p->position_in_grid[d] = group[d] * dispatch->group[d] + p->position_in_group[d];
    p->index_in_group = t;
    p->lane = t & 31;
    p->simdgroup = t >> 5;
    fibers[t].state = FIBER_NEW;
  }
  return threads;
}

static void run_grid(void) {
  uint32_t groups[3];
  for (int d = 0; d < 3; d++) groups[d] = (dispatch->grid[d] + dispatch->group[d] - 1) / dispatch->group[d];
  uint64_t total = (uint64_t)groups[0] * groups[1] * groups[2];
  for (uint64_t i = 0; i < total && dispatch->end == END_OK; i++) {
    uint64_t linear = dispatch->order == ORDER_REVERSED ? total - 1 - i : i;
    uint32_t group[3] = {(uint32_t)(linear % groups[0]), (uint32_t)(linear / groups[0] % groups[1]),
                         (uint32_t)(linear / groups[0] / groups[1])};
    // fresh threadgroup memory holds anything; all ones is a NaN, and an index far out of range
    if (dispatch->static_nbytes) memset(dispatch->static_memory, 0xff, dispatch->static_nbytes);
    if (dispatch->dynamic_nbytes) memset(dispatch->dynamic_memory, 0xff, dispatch->dynamic_nbytes);
    uint32_t threads = place_threads(group, groups);
    if (dispatch->row_entry) {
      for (uint32_t t = 0; t < threads; t += fibers[t].position.group_size[0]) resume_fiber(&fibers[t], fiber_main);
    } else {
      dispatch->end = run_threadgroup(dispatch, threads, fiber_main);
    }
  }
}

static int start_timer(timer_t *timer) {
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  if (timer_create(CLOCK_MONOTONIC, &event, timer)) return 0;
  struct itimerspec time = {{0, 0}, {dispatch->timeout_ms / 1000, (long)(dispatch->timeout_ms % 1000) * 1000000}};
  return timer_settime(*timer, 0, &time, NULL) == 0;
}

#if defined(__x86_64__)
static uint32_t read_float_mode(void) { return __builtin_ia32_stmxcsr(); }
static void write_float_mode(uint32_t mode) { __builtin_ia32_ldmxcsr(mode); }
enum { FLUSH = 0x8040 };  // FTZ | DAZ
#else
static uint32_t read_float_mode(void) {
  uint64_t mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return (uint32_t)mode;
}
static void write_float_mode(uint32_t mode) { __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)mode)); }
enum { FLUSH = 1 << 24 };  // FZ
#endif

// Runs the dispatch; its `end` says how it ended.
void msl_run(dispatch_t *given) {
  static char signal_stack[65536];
  stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack}, old_stack;
  struct sigaction old[SIGNAL_COUNT], action;
  timer_t timer;
  dispatch = given;
  dispatch->end = END_OK;
  current_fiber = NULL;
  seed_schedule(dispatch->seed);
  if (!reserve_fibers(dispatch->group[0] * dispatch->group[1] * dispatch->group[2], dispatch->stack_nbytes)) {
    dispatch->end = END_NO_MEMORY;
    return;
  }
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaltstack(&stack, &old_stack);
  for (int i = 0; i < SIGNAL_COUNT; i++) sigaction(SIGNALS[i], &action, &old[i]);
  int has_timer = start_timer(&timer);
  uint32_t float_mode = read_float_mode();
  write_float_mode(dispatch->flush_subnormals ? float_mode | FLUSH : float_mode);
  int end = sigsetjmp(escape, 1);
  if (end == 0) {
    is_inside = 1;
    run_grid();
  } else {
    dispatch->end = end;
  }
  is_inside = 0;
  write_float_mode(float_mode);
  if (has_timer) timer_delete(timer);
  for (int i = 0; i < SIGNAL_COUNT; i++) sigaction(SIGNALS[i], &old[i], NULL);
  sigaltstack(&old_stack, NULL);
  if (dispatch->end != END_OK && current_fiber) {
    memcpy(dispatch->fault_position, current_fiber->position.position_in_grid, sizeof dispatch->fault_position);
    memcpy(dispatch->fault_group, current_fiber->position.group_position, sizeof dispatch->fault_group);
  }
}
