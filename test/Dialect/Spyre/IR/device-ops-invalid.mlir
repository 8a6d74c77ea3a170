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
