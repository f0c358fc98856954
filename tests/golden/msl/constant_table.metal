#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Args {
    device int* index;
    long index_size;
    device float* out;
    long out_size;
};

constant float table[100] = {0.0f, 2.0f, 4.0f, 6.0f, 8.0f, 10.0f, 12.0f, 14.0f, 16.0f, 18.0f, 20.0f, 22.0f, 24.0f, 26.0f, 28.0f, 30.0f, 32.0f, 34.0f, 36.0f, 38.0f, 40.0f, 42.0f, 44.0f, 46.0f, 48.0f, 50.0f, 52.0f, 54.0f, 56.0f, 58.0f, 60.0f, 62.0f, 64.0f, 66.0f, 68.0f, 70.0f, 72.0f, 74.0f, 76.0f, 78.0f, 80.0f, 82.0f, 84.0f, 86.0f, 88.0f, 90.0f, 92.0f, 94.0f, 96.0f, 98.0f, 100.0f, 102.0f, 104.0f, 106.0f, 108.0f, 110.0f, 112.0f, 114.0f, 116.0f, 118.0f, 120.0f, 122.0f, 124.0f, 126.0f, 128.0f, 130.0f, 132.0f, 134.0f, 136.0f, 138.0f, 140.0f, 142.0f, 144.0f, 146.0f, 148.0f, 150.0f, 152.0f, 154.0f, 156.0f, 158.0f, 160.0f, 162.0f, 164.0f, 166.0f, 168.0f, 170.0f, 172.0f, 174.0f, 176.0f, 178.0f, 180.0f, 182.0f, 184.0f, 186.0f, 188.0f, 190.0f, 192.0f, 194.0f, 196.0f, 198.0f};

kernel void kernel_constant_table(constant Args& args [[buffer(0)]],
                                  uint3 gid [[thread_position_in_grid]])
{
    // constant_table +2
    long i = long(gid.x);
    // constant_table +3
    if (i < args.index_size) {
        // constant_table +4
        int loaded = args.index[i];
        ulong v = ulong(loaded);
        args.out[i] = table[long(loaded < 0 ? v + 100UL : v)] + table[long(ulong(loaded > 99 ? 199L : 99L) - v)];
    }
}
