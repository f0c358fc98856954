; float -> half and back, which LLVM calls where the processor lacks them (x86-64 without F16C). As in half_double.ll.

define weak hidden half @__truncsfhf2(float %x) nounwind memory(none) {
  %bits = bitcast float %x to i32
  %sign.low = lshr i32 %bits, 16
  %sign = and i32 %sign.low, 32768
  %abs = and i32 %bits, 2147483647
  %odd.low = lshr i32 %abs, 13
  %odd = and i32 %odd.low, 1
  ; -112 << 23, and 2^12 - 1
  %half_unit = add i32 %abs, -939520001
  %rounded = add i32 %half_unit, %odd
  %normal = lshr i32 %rounded, 13
  ; adding 2^-1 leaves multiples of 2^-24 in the low bits
  %magnitude = bitcast i32 %abs to float
  %shifted = fadd float %magnitude, 0.5
  %subnormal = bitcast float %shifted to i32
  %is_normal = icmp ugt i32 %abs, 947912703
  %finite = select i1 %is_normal, i32 %normal, i32 %subnormal
  %is_large = icmp ugt i32 %abs, 1199570943
  %or_infinite = select i1 %is_large, i32 31744, i32 %finite
  %payload = and i32 %odd.low, 511
  %nan = or disjoint i32 %payload, 32256
  %is_nan = icmp ugt i32 %abs, 2139095040
  %result = select i1 %is_nan, i32 %nan, i32 %or_infinite
  %signed = or i32 %result, %sign
  %narrow = trunc i32 %signed to i16
  %y = bitcast i16 %narrow to half
  ret half %y
}

define weak hidden float @__extendhfsf2(half %x) nounwind memory(none) {
  %narrow = bitcast half %x to i16
  %wide = sext i16 %narrow to i32
  %sign = and i32 %wide, -2147483648
  %abs = and i32 %wide, 32767
  %moved = shl nuw nsw i32 %abs, 13
  %normal = add nuw nsw i32 %moved, 939524096
  %count = uitofp i32 %abs to float
  %small = fmul float %count, 0x3E70000000000000
  %subnormal = bitcast float %small to i32
  %is_normal = icmp ugt i32 %abs, 1023
  %finite = select i1 %is_normal, i32 %normal, i32 %subnormal
  %is_special = icmp ugt i32 %abs, 31743
  %is_nan = icmp ugt i32 %abs, 31744
  %special = select i1 %is_nan, i32 2143289344, i32 2139095040
  %special.quiet = or i32 %special, %moved
  %result = select i1 %is_special, i32 %special.quiet, i32 %finite
  %signed = or disjoint i32 %result, %sign
  %y = bitcast i32 %signed to float
  ret float %y
}
