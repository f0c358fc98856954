; double -> half, which LLVM calls on x86-64 (also for fma of halves, which it computes in doubles), and which is in no
; library of the process: MCJIT would jump to address 0. The name and signature are those of LLVM's compiler-rt; rounding
; is to nearest, ties to even. Weak, since other objects may bring their own, and so that it is kept. Linked when the rest
; is optimised: it is written as LLVM would leave it.

define weak hidden half @__truncdfhf2(double %x) nounwind memory(none) {
  %bits = bitcast double %x to i64
  %sign.low = lshr i64 %bits, 48
  %sign = and i64 %sign.low, 32768
  %abs = and i64 %bits, 9223372036854775807
  %odd.low = lshr i64 %abs, 42
  %odd = and i64 %odd.low, 1
  ; normal results: move the exponent's bias from 1023 to 15 (-1008 << 52), round off 42 bits (2^41 - 1, and 1 more where
  ; the result would be odd); a carry runs into the exponent
  %half_unit = add i64 %abs, -4539626225366204417
  %rounded = add i64 %half_unit, %odd
  %normal = lshr i64 %rounded, 42
  ; subnormal results: adding 2^28 leaves multiples of 2^-24 in the low bits; the rest is cut off below
  %magnitude = bitcast i64 %abs to double
  %shifted = fadd double %magnitude, 268435456.0
  %subnormal = bitcast double %shifted to i64
  %is_normal = icmp ugt i64 %abs, 4544132024016830463
  %finite = select i1 %is_normal, i64 %normal, i64 %subnormal
  %is_large = icmp ugt i64 %abs, 4679240012837945343
  %or_infinite = select i1 %is_large, i64 31744, i64 %finite
  %payload = and i64 %odd.low, 511
  %nan = or disjoint i64 %payload, 32256
  %is_nan = icmp ugt i64 %abs, 9218868437227405312
  %result = select i1 %is_nan, i64 %nan, i64 %or_infinite
  %signed = or i64 %result, %sign
  %narrow = trunc i64 %signed to i16
  %y = bitcast i16 %narrow to half
  ret half %y
}
