#include <metal_stdlib>
using namespace metal;

kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    int _Tile = x[i];  // REJECT: reserved
    x[i] = _Tile;  // REJECT: reserved
}
