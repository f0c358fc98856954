#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device int* counter;
    long counter_size;
    device int* tickets;
    long tickets_size;
};

kernel void kernel_add_tickets(constant Args& args [[buffer(0)]],
                               uint3 gid [[thread_position_in_grid]])
{
    // add_tickets +3
    if (long(gid.x) < args.tickets_size) {
        // add_tickets +4
        int old = atomic_fetch_add_explicit((device atomic_int*)args.counter, 1, memory_order_relaxed);
        args.tickets[(old < 0 ? args.tickets_size : 0L) + long(old)] = 1;
    }
}
