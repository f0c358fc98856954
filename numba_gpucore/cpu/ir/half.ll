; Conversions that LLVM calls where the processor lacks them (on x86-64 all without F16C, f64 -> half always), and that
; are in no library of the process: MCJIT would jump to address 0. Names and signatures are those of LLVM's compiler-rt;
; rounding is to nearest, ties to even. Weak, since other objects may bring their own, and so that they are kept.

define weak hidden half @__truncdfhf2(double %x) nounwind memory(none) {
  %bits = bitcast double %x to i64
  %sign.low = lshr i64 %bits, 48
  %sign = and i64 %sign.low, 32768
  %abs = and i64 %bits, 9223372036854775807
  ; normal results: move the exponent's bias from 1023 to 15, round off 42 bits; a carry runs into the exponent
  %biased = sub i64 %abs, 4539628424389459968
  %odd.low = lshr i64 %biased, 42
  %odd = and i64 %odd.low, 1
  %half_unit = add i64 %biased, 2199023255551
  %rounded = add i64 %half_unit, %odd
  %normal = lshr i64 %rounded, 42
  ; subnormal results: adding 2^28 leaves multiples of 2^-24 in the low bits
  %magnitude = bitcast i64 %abs to double
  %shifted = fadd double %magnitude, 268435456.0
  %shifted.bits = bitcast double %shifted to i64
  %subnormal = sub i64 %shifted.bits, 4733283208366391296
  %is_normal = icmp uge i64 %abs, 4544132024016830464
  %finite = select i1 %is_normal, i64 %normal, i64 %subnormal
  %is_large = icmp uge i64 %abs, 4679240012837945344
  %or_infinite = select i1 %is_large, i64 31744, i64 %finite
  %payload.low = lshr i64 %abs, 42
  %payload = and i64 %payload.low, 511
  %nan = or i64 %payload, 32256
  %is_nan = icmp ugt i64 %abs, 9218868437227405312
  %result = select i1 %is_nan, i64 %nan, i64 %or_infinite
  %signed = or i64 %result, %sign
  %narrow = trunc i64 %signed to i16
  %y = bitcast i16 %narrow to half
  ret half %y
}

define weak hidden half @__truncsfhf2(float %x) nounwind memory(none) {
  %bits = bitcast float %x to i32
  %sign.low = lshr i32 %bits, 16
  %sign = and i32 %sign.low, 32768
  %abs = and i32 %bits, 2147483647
  %biased = sub i32 %abs, 939524096
  %odd.low = lshr i32 %biased, 13
  %odd = and i32 %odd.low, 1
  %half_unit = add i32 %biased, 4095
  %rounded = add i32 %half_unit, %odd
  %normal = lshr i32 %rounded, 13
  ; adding 2^-1 leaves multiples of 2^-24 in the low bits
  %magnitude = bitcast i32 %abs to float
  %shifted = fadd float %magnitude, 0.5
  %shifted.bits = bitcast float %shifted to i32
  %subnormal = sub i32 %shifted.bits, 1056964608
  %is_normal = icmp uge i32 %abs, 947912704
  %finite = select i1 %is_normal, i32 %normal, i32 %subnormal
  %is_large = icmp uge i32 %abs, 1199570944
  %or_infinite = select i1 %is_large, i32 31744, i32 %finite
  %payload.low = lshr i32 %abs, 13
  %payload = and i32 %payload.low, 511
  %nan = or i32 %payload, 32256
  %is_nan = icmp ugt i32 %abs, 2139095040
  %result = select i1 %is_nan, i32 %nan, i32 %or_infinite
  %signed = or i32 %result, %sign
  %narrow = trunc i32 %signed to i16
  %y = bitcast i16 %narrow to half
  ret half %y
}

define weak hidden float @__extendhfsf2(half %x) nounwind memory(none) {
  %narrow = bitcast half %x to i16
  %bits = zext i16 %narrow to i32
  %sign.low = and i32 %bits, 32768
  %sign = shl i32 %sign.low, 16
  %abs = and i32 %bits, 32767
  %moved = shl i32 %abs, 13
  %normal = add i32 %moved, 939524096
  %count = uitofp i32 %abs to float
  %small = fmul float %count, 0x3E70000000000000
  %subnormal = bitcast float %small to i32
  %is_normal = icmp uge i32 %abs, 1024
  %finite = select i1 %is_normal, i32 %normal, i32 %subnormal
  %special = or i32 %moved, 2139095040
  %is_special = icmp uge i32 %abs, 31744
  %is_nan = icmp ugt i32 %abs, 31744
  %quiet = select i1 %is_nan, i32 4194304, i32 0
  %special.quiet = or i32 %special, %quiet
  %result = select i1 %is_special, i32 %special.quiet, i32 %finite
  %signed = or i32 %result, %sign
  %y = bitcast i32 %signed to float
  ret float %y
}
