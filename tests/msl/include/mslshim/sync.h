// Barriers and fences. MSL spec, "Threadgroup and SIMD-Group Synchronization Functions" and "Fence Functions".
#pragma once
#include "integer.h"

// ---- supplied by runtime/schedule.c
struct __msl_snap {
  metal::ulong mask;
  metal::uint lane, width;
  metal::uchar slot[32][16];
};
extern "C" {
void __msl_barrier(metal::uint flags);
void __msl_simd_barrier(void);
thread const __msl_snap *__msl_simd_sync(thread const void *value, metal::uint bytes);
}
struct __msl_ctx { // the same as position_t in runtime/runtime.h
  metal::uint gpos[3], tpos[3], tgpos[3], gsize[3], tgsize[3], dtgsize[3], ntg[3];
  metal::uint tidx, lane, simd, nsimd, dnsimd;
};

namespace metal {
enum class mem_flags : uint {
  mem_none = 0,
  mem_device = 1,
  mem_threadgroup = 2,
  mem_texture = 4,
  mem_threadgroup_imageblock = 8,
  mem_object_data = 16
};
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return (mem_flags)((uint)a | (uint)b); }
constexpr mem_flags operator&(mem_flags a, mem_flags b) { return (mem_flags)((uint)a & (uint)b); }
inline void threadgroup_barrier(mem_flags f) { __msl_barrier((uint)f); }
inline void simdgroup_barrier(mem_flags) { __msl_simd_barrier(); }
} // namespace metal
