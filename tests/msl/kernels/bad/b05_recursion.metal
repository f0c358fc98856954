#include <metal_stdlib>
using namespace metal;

static int odd(int n);
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }  // REJECT: recursion
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }  // REJECT: recursion
kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    x[i] = even(x[i]);
}
