// RUN: spyre-opt %s --split-input-file --verify-diagnostics | FileCheck %s

#wide = #spyre.layout<[1, 8, 32], order [0, 1], IEEE_FP32>
#half = #spyre.layout<[1, 8, 64], order [0, 1], SEN169_FP16>

// CHECK-LABEL: func.func @tensor
// CHECK: spyre.reinterpret %arg0 : tensor<8x32xf32, {{.*}}> to tensor<8x64xf16
func.func @tensor(%x: tensor<8x32xf32, #wide>) -> tensor<8x64xf16, #half> {
  %0 = spyre.reinterpret %x : tensor<8x32xf32, #wide> to tensor<8x64xf16, #half>
  return %0 : tensor<8x64xf16, #half>
}

// CHECK-LABEL: func.func @buffer
// CHECK: spyre.reinterpret %{{.*}} : !spyre.buffer<8x32xf32, {{.*}}> to !spyre.buffer<8x64xf16
func.func @buffer() {
  %0 = spyre.alloc pool(0) : !spyre.buffer<8x32xf32, #wide, hbm>
  %1 = spyre.reinterpret %0 : !spyre.buffer<8x32xf32, #wide, hbm> to !spyre.buffer<8x64xf16, #half, hbm>
  return
}

// -----

#wide = #spyre.layout<[1, 8, 32], order [0, 1], IEEE_FP32>
#half = #spyre.layout<[1, 8, 64], order [0, 1], SEN169_FP16>
func.func @extent(%x: tensor<8x32xf32, #wide>) {
  // expected-error @below {{changes the bits along dim 1}}
  %0 = spyre.reinterpret %x : tensor<8x32xf32, #wide> to tensor<8x60xf16, #half>
  return
}

// -----

#wide = #spyre.layout<[1, 8, 32], order [0, 1], IEEE_FP32>
#half = #spyre.layout<[1, 64, 64], order [1, 0], SEN169_FP16>
func.func @order(%x: tensor<8x32xf32, #wide>) {
  // expected-error @below {{cannot change the order of the dims}}
  %0 = spyre.reinterpret %x : tensor<8x32xf32, #wide> to tensor<8x64xf16, #half>
  return
}

// -----

#half = #spyre.layout<[1, 8, 64], order [0, 1], SEN169_FP16>
func.func @no_layout(%x: tensor<8x32xf32>) {
  // expected-error @below {{needs operands with a layout}}
  %0 = spyre.reinterpret %x : tensor<8x32xf32> to tensor<8x64xf16, #half>
  return
}

// -----

#wide = #spyre.layout<[1, 8, 32], order [0, 1], IEEE_FP32>
#half = #spyre.layout<[1, 8, 64], order [0, 1], SEN169_FP16>
func.func @kinds(%x: tensor<8x32xf32, #wide>) {
  // expected-error @below {{makes no tensor of a buffer, nor a buffer of a tensor}}
  %0 = spyre.reinterpret %x : tensor<8x32xf32, #wide> to !spyre.buffer<8x64xf16, #half, hbm>
  return
}
