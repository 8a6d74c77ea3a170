// A remark for each rule by which spyre-resolve-precision computes at 16 bits, and none where no rule holds.
// RUN: spyre-opt %s --spyre-resolve-precision -split-input-file -verify-diagnostics --remarks-filter=precision --remark-format=emitRemark -o /dev/null
// RUN: spyre-opt %s --spyre-resolve-precision -split-input-file --remarks-filter=precision --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s
// CHECK: :[[@LINE+10]]:8: remark: [Passed] dl16 | Category:precision{{.*}} | Function=single | Remark="spyre.add is computed at DL16

!h = tensor<4x64xf16>
!f = tensor<4x64xf32>
// One operation on widened 16-bit numbers, rounded again; a factor that the device's format holds.
func.func @single(%x: !h, %y: !h) -> (!h, !h) {
  %c = spyre.constant dense<0.1> : tensor<f32> : tensor<f32>
  %0 = spyre.convert %x : !h to !f
  %1 = spyre.convert %y : !h to !f
  // expected-remark @+1 {{spyre.add is computed at DL16, by rule single-operation}}
  %2 = spyre.add (d0 = 4, d1 = 64) ins(%0[d0, d1], %1[d0, d1]) -> [d0, d1] : !f, !f -> !f
  // expected-remark @+1 {{spyre.mul is computed at DL16, by rule single-operation}}
  %3 = spyre.mul (d0 = 4, d1 = 64) ins(%0[d0, d1], %c[]) -> [d0, d1] : !f, tensor<f32> -> !f
  %4 = spyre.convert %2 : !f to !h
  %5 = spyre.convert %3 : !f to !h
  return %4, %5 : !h, !h
}

// -----

!h = tensor<4x64xf16>
!f = tensor<4x64xf32>
// A constant that rounds may cancel where it is added, and a factor may be out of range.
func.func @negative_single(%x: !h) -> (!h, !h) {
  %c = spyre.constant dense<0.1> : tensor<f32> : tensor<f32>
  %tiny = spyre.constant dense<1.0e-30> : tensor<f32> : tensor<f32>
  %0 = spyre.convert %x : !h to !f
  %1 = spyre.sub (d0 = 4, d1 = 64) ins(%0[d0, d1], %c[]) -> [d0, d1] : !f, tensor<f32> -> !f
  %2 = spyre.mul (d0 = 4, d1 = 64) ins(%0[d0, d1], %tiny[]) -> [d0, d1] : !f, tensor<f32> -> !f
  %3 = spyre.convert %1 : !f to !h
  %4 = spyre.convert %2 : !f to !h
  return %3, %4 : !h, !h
}

// -----

!h = tensor<4x64xf16>
!f = tensor<4x64xf32>
// Parts that are only joined.
func.func @movement(%x: !h, %y: !h) -> tensor<8x64xf32> {
  %0 = spyre.convert %x : !h to !f
  %1 = spyre.convert %y : !h to !f
  // expected-remark @+1 {{spyre.concat is computed at DL16, by rule movement}}
  %2 = spyre.concat %0, %1 along 0 : !f, !f -> tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}

// -----

!f = tensor<4x64xf32>
func.func @negative_movement(%x: !f, %y: !f) -> tensor<8x64xf32> {
  %2 = spyre.concat %x, %y along 0 : !f, !f -> tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}
