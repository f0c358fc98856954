// Who runs next inside a threadgroup, and what barriers and SIMD-group functions do (MSL spec, "Synchronization and
// SIMD-Group Functions"). Before: dispatch.c. A fiber runs until it ends or waits; then
//   SIMD function: once every lane of the SIMD-group waits or is done, the lanes at one call site (the lowest address
//     first, so that lanes still inside an `if` or loop catch up) get a snapshot of each other's operand and go on;
//   barrier: released when every thread of the threadgroup waits there.
#include <string.h>

#include "runtime.h"

static snapshot_t snapshots[1024];  // one a thread: it is read before the thread waits again
static uint64_t random_state;

static uint32_t random_below(uint32_t limit) {  // xorshift64
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)((random_state >> 16) % limit);
}

// ---- called by kernels, see mslshim/sync.h
void __msl_barrier(uint32_t flags) {
  (void)flags;
  leave_fiber(FIBER_AT_BARRIER);
}
uint32_t __msl_lane(void) { return current_fiber->position.lane; }

__attribute__((noinline)) const snapshot_t *__msl_simd_sync(const void *value, uint32_t nbytes) {
  current_fiber->site = __builtin_return_address(0);
  current_fiber->is_simd_barrier = 0;
  memcpy(current_fiber->value, value, nbytes);
  leave_fiber(FIBER_AT_SIMD);
  return current_fiber->snapshot;
}

__attribute__((noinline)) void __msl_simd_barrier(void) {
  current_fiber->site = __builtin_return_address(0);
  current_fiber->is_simd_barrier = 1;
  leave_fiber(FIBER_AT_SIMD);
}

// ---- one SIMD-group
static void *pick_site(dispatch_t *dispatch, const fiber_t *lanes, uint32_t count) {
  void *site = NULL;
  uint32_t sites = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (lanes[i].state != FIBER_AT_SIMD || lanes[i].site == site) continue;
    sites++;
    if (!site || lanes[i].site < site) site = lanes[i].site;
  }
  if (site) dispatch->simd_operations++;
  if (sites > 1) dispatch->divergent_simd_operations++;
  return site;
}

static void exchange_values(fiber_t *lanes, uint32_t first, uint32_t count, const void *site) {
  uint64_t mask = 0;
  for (uint32_t i = 0; i < count; i++)
    if (lanes[i].state == FIBER_AT_SIMD && lanes[i].site == site) mask |= 1ull << i;
  for (uint32_t i = 0; i < count; i++) {
    if (!(mask >> i & 1)) continue;
    if (!lanes[i].is_simd_barrier) {
      snapshot_t *snapshot = &snapshots[first + i];
      snapshot->mask = mask;
      snapshot->lane = i;
      snapshot->width = 32;
      for (uint32_t j = 0; j < count; j++)
        if (mask >> j & 1) memcpy(snapshot->slot[j], lanes[j].value, sizeof lanes[j].value);
      lanes[i].snapshot = snapshot;
    }
    lanes[i].state = FIBER_READY;
  }
}

// Runs until every lane is done or at a barrier of the threadgroup.
static void run_simdgroup(dispatch_t *dispatch, uint32_t first, uint32_t count, void (*entry)(void)) {
  fiber_t *lanes = fibers + first;
  uint8_t order[32];
  for (uint32_t i = 0; i < count; i++) order[i] = (uint8_t)(dispatch->order == ORDER_REVERSED ? count - 1 - i : i);
  for (;;) {
    for (uint32_t i = count; dispatch->order == ORDER_SHUFFLED && i > 1; i--) {
      uint32_t j = random_below(i);
      uint8_t other = order[i - 1];
      order[i - 1] = order[j];
      order[j] = other;
    }
    for (uint32_t i = 0; i < count; i++) {
      fiber_t *fiber = &lanes[order[i]];
      if (fiber->state == FIBER_NEW || fiber->state == FIBER_READY) resume_fiber(fiber, entry);
    }
    void *site = pick_site(dispatch, lanes, count);
    if (!site) return;
    exchange_values(lanes, first, count, site);
  }
}

// ---- one threadgroup
int run_threadgroup(dispatch_t *dispatch, uint32_t threads, void (*entry)(void)) {
  uint32_t simdgroups = (threads + 31) / 32;
  for (;;) {
    uint32_t rotation = dispatch->order == ORDER_SHUFFLED ? random_below(simdgroups) : 0;
    for (uint32_t i = 0; i < simdgroups; i++) {
      uint32_t s = dispatch->order == ORDER_REVERSED ? simdgroups - 1 - i : (i + rotation) % simdgroups;
      uint32_t left = threads - s * 32;
      run_simdgroup(dispatch, s * 32, left < 32 ? left : 32, entry);
    }
    uint32_t done = 0, waiting = 0;
    for (uint32_t i = 0; i < threads; i++) {
      if (fibers[i].state == FIBER_DONE)
        done++;
      else
        waiting = i;
    }
    if (done == threads) return END_OK;
    if (done && !dispatch->ended_threads_arrive) {
      current_fiber = &fibers[waiting];
      return END_DIVERGED;
    }
    dispatch->barriers++;
    for (uint32_t i = 0; i < threads; i++)
      if (fibers[i].state == FIBER_AT_BARRIER) fibers[i].state = FIBER_READY;
  }
}

void seed_schedule(uint32_t seed) { random_state = 0x9e3779b97f4a7c15ull ^ ((uint64_t)seed << 20) ^ 1; }
