// RUN: spyre-opt %s -split-input-file -verify-diagnostics

func.func @bounds(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @+1 {{access map of input #0 reaches coordinates 1..4 of dim 0, whose extent is 4}}
  %0 = spyre.exp (d0 = 4, d1 = 8) ins(%x[d0 + 1, d1]) -> [d0, d1] : tensor<4x8xf16> -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// -----

func.func @inputs(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @+1 {{takes 2 inputs, got 1}}
  %0 = spyre.add (d0 = 4, d1 = 8) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x8xf16> -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// -----

func.func @constant(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @+1 {{needs the constant 'clipMin'}}
  %0 = spyre.clip (d0 = 4, d1 = 8) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x8xf16> -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// -----

func.func @unknown_constant(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @+1 {{has no constant 'beta'}}
  %0 = spyre.exp (d0 = 4, d1 = 8) ins(%x[d0, d1]) -> [d0, d1] constants {beta = 1.0} : tensor<4x8xf16> -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// -----

func.func @rank(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @+1 {{access map of input #0 gives 1 coordinates, its shape has 2}}
  %0 = spyre.exp (d0 = 4, d1 = 8) ins(%x[d0]) -> [d0, d1] : tensor<4x8xf16> -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// -----

func.func @names(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @+1 {{iteration dims are named in order: expected 'd0', got 'd1'}}
  %0 = spyre.exp (d1 = 4) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x8xf16> -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// -----

func.func @slices(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @+1 {{d0 is cut into 0 work slices}}
  %0 = spyre.exp (d0 = 4 / 0, d1 = 8) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x8xf16> -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// -----

// expected-error @+1 {{device sizes [4, 100, 64] do not hold the tensor in this order; they should be [4, 128, 64]}}
func.func @layout(%x: !spyre.buffer<128x256xf16, #spyre.layout<[4, 100, 64], order [0, 1], SEN169_FP16>, hbm>) {
  return
}

// -----

// expected-error @+1 {{the innermost device size is 32, but a stick of SEN169_FP16 has 64 elements}}
func.func @stick(%x: !spyre.buffer<128x256xf16, #spyre.layout<[8, 128, 32], order [0, 1], SEN169_FP16>, hbm>) {
  return
}

// -----

func.func @place() {
  // expected-error @+1 {{is placed in lx, but its type says hbm}}
  %0 = spyre.alloc lx(0) : !spyre.buffer<64xf16, #spyre.layout<[1, 64], order [0], SEN169_FP16>, hbm>
  return
}

// -----

func.func @address() {
  // expected-error @+1 {{address 100 is not a non-negative multiple of 128 bytes}}
  %0 = spyre.alloc hbm(100) : !spyre.buffer<64xf16, #spyre.layout<[1, 64], order [0], SEN169_FP16>, hbm>
  return
}

// -----

func.func @view(%x: tensor<4x8xf16>) -> tensor<8x5xf16> {
  // expected-error @+1 {{reaches coordinates 0..4 of dim 0, whose extent is 4}}
  %0 = spyre.view %x[d1, d0] : tensor<4x8xf16> -> tensor<8x5xf16>
  return %0 : tensor<8x5xf16>
}

// -----

func.func @holding() {
  // expected-error @+1 {{a distribution over 2147483647 cores: no more than 4096 are supported}}
  %0 = spyre.alloc lx(0) holding<cores 2147483647, slices[1], (d0) -> (0)> : !spyre.buffer<64xf16, #spyre.layout<[1, 64], order [0], SEN169_FP16>, lx>
  return
}

// -----

!i = !spyre.buffer<64xi32, #spyre.layout<[2, 32], order [0], IEEE_INT32>, hbm>
!t = !spyre.buffer<100x64xf16, #spyre.layout<[1, 100, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>

func.func @gathered_by_the_map_too(%i: !i, %t: !t, %o: !o) {
  // expected-error @+1 {{the access map of input #1 must be 0 at dim 0, which the index addresses}}
  spyre.identity (d0 = 64, d1 = 64) ins(%i[d0], %t[d0, d1]) outs(%o[d0, d1]) gather(1[0] by 0) : !i, !t -> !o
  return
}

func.func @gather_along_no_dim(%i: !i, %t: !t, %o: !o) {
  // expected-error @+1 {{gathers along dim 2 of input #1, which has 2}}
  spyre.identity (d0 = 64, d1 = 64) ins(%i[d0], %t[0, d1]) outs(%o[d0, d1]) gather(1[2] by 0) : !i, !t -> !o
  return
}

func.func @gather_by_itself(%i: !i, %t: !t, %o: !o) {
  // expected-error @+1 {{gathers from input #1 by input #1; two of its 2 inputs are needed}}
  spyre.identity (d0 = 64, d1 = 64) ins(%i[d0], %t[0, d1]) outs(%o[d0, d1]) gather(1[0] by 1) : !i, !t -> !o
  return
}

func.func @gather_by_floats(%i: !t, %t: !t, %o: !o) {
  // expected-error @+1 {{an index has 32-bit or 64-bit integers, input #0 has 'f16'}}
  spyre.identity (d0 = 64, d1 = 64) ins(%i[d0, 0], %t[0, d1]) outs(%o[d0, d1]) gather(1[0] by 0) : !t, !t -> !o
  return
}

func.func @gather_without_index(%t: !t, %o: !o) {
  // expected-error @+1 {{takes 1 inputs, got 0 beside the index}}
  spyre.identity (d0 = 64, d1 = 64) ins(%t[0, d1]) outs(%o[d0, d1]) gather(0[0] by 0) : !t -> !o
  return
}

// -----

func.func @gather_of_tensors(%i: tensor<64xi32>, %t: tensor<100x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{a gather works on buffers}}
  %0 = spyre.identity (d0 = 64, d1 = 64) ins(%i[d0], %t[0, d1]) -> [d0, d1] gather(1[0] by 0) : tensor<64xi32>, tensor<100x64xf16> -> tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

// expected-error @+1 {{the innermost device sizes hold 256, but a stick of SEN143_FP8 has 128 elements}}
func.func @stick_of_two_dims(%x: !spyre.buffer<64x128xf8E4M3FN, #spyre.layout<[1, 32, 2, 128], order [0, 1], SEN143_FP8, stick [[0, 2], [1, 128]]>, hbm>) {
  return
}

// -----

func.func @lost_dim(%x: tensor<4x64xf16>) -> tensor<4xf16> {
  // expected-error @+1 {{reduces nothing, but d1 of extent 64 is in no coordinate of its output}}
  %0 = spyre.exp (d0 = 4, d1 = 64) ins(%x[d0, d1]) -> [d0] : tensor<4x64xf16> -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// A layout is asked even where the element type was refused.
// expected-error @+1 {{expected non-function type}}
func.func private @no_element(tensor<64x128x, #spyre.layout<[4, 64, 32], order [0, 1], IEEE_FP32>>)
