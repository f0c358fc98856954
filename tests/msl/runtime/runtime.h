// What the files of this folder share. Compiled once into a shared object by tests/msl/toolchain.py; Python's view of
// the structures is in tests/msl/library.py and memory.py, the kernels' view in include/mslshim/sync.h.
#pragma once
#include <stddef.h>
#include <stdint.h>

// One GPU thread's position; the same as __msl_ctx in mslshim/sync.h.
typedef struct {
  uint32_t position_in_grid[3], position_in_group[3], group_position[3];
  uint32_t grid_size[3], group_size[3], full_group_size[3], groups_per_grid[3];
  uint32_t index_in_group, lane, simdgroup, simdgroups, full_simdgroups;
} position_t;

// What the lanes of a SIMD-group brought to one call; the same as __msl_snap in mslshim/sync.h.
typedef struct {
  uint64_t mask;
  uint32_t lane, width;
  uint8_t slot[32][16];
} snapshot_t;

typedef void (*thread_entry_t)(const position_t *, const uint64_t *args);
typedef void (*row_entry_t)(const position_t *, const uint64_t *args, uint32_t count);

enum { ORDER_FORWARD, ORDER_REVERSED, ORDER_SHUFFLED };
enum { END_OK, END_DIVERGED, END_FAULT, END_TIMEOUT, END_NO_MEMORY };

// A dispatch, filled in by Python. Sizes of grid and group in threads.
typedef struct {
  thread_entry_t thread_entry;
  row_entry_t row_entry;  // not null: the kernel never waits, so a row of threads runs as one plain loop
  const uint64_t *args;
  uint32_t grid[3], group[3];
  uint8_t *static_memory;  // threadgroup variables
  uint64_t static_nbytes;
  uint8_t *dynamic_memory;  // [[threadgroup(n)]] arguments
  uint64_t dynamic_nbytes;
  uint32_t order, seed, stack_nbytes, timeout_ms, flush_subnormals, ended_threads_arrive;
  // results
  int32_t end, signal;
  uint64_t fault_address;
  uint32_t fault_position[3], fault_group[3];
  uint64_t barriers, simd_operations, divergent_simd_operations;
} dispatch_t;

// ---- fibers.c
enum { FIBER_NEW, FIBER_READY, FIBER_AT_BARRIER, FIBER_AT_SIMD, FIBER_DONE };
typedef struct {
  void *stack_pointer;
  uint8_t state, is_simd_barrier, value[16];
  void *site;  // where in the code it waits for its SIMD-group
  snapshot_t *snapshot;
  position_t position;
} fiber_t;

extern fiber_t *fibers, *current_fiber;
int reserve_fibers(uint32_t count, size_t stack_nbytes);
void resume_fiber(fiber_t *fiber, void (*entry)(void));
void leave_fiber(int state);

// ---- schedule.c
void seed_schedule(uint32_t seed);
int run_threadgroup(dispatch_t *dispatch, uint32_t threads, void (*entry)(void));
