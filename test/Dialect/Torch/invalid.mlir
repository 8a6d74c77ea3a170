// RUN: spyre-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{unknown torch type 'vtensr'}}
func.func private @f(!torch.vtensr<[2],f16>)

// -----

// expected-error @+1 {{a size of a tensor cannot be negative, it is -2}}
func.func private @f(!torch.vtensor<[-2],f16>)

// -----

// expected-error @+1 {{a torch tensor cannot have elements of type 'tensor<2xf16>'}}
func.func private @f(!torch.vtensor<[2],tensor<2xf16>>)

// -----

// expected-error @+1 {{torch type 'dict' takes 2 types, not 1}}
func.func private @f(!torch.dict<int>)

// -----

func.func @f(%x: !torch.vtensor<[2],f16>) {
  // expected-error @+2 {{expected ':' and the types of 'torch.aten.relu'}}
  %0 = torch.aten.relu %x
  return
}

// -----

func.func @f(%x: !torch.vtensor<[2],f16>, %n: !torch.int) {
  // expected-error @+1 {{number of operands and types do not match: got 2 operands and 1 types}}
  %0 = torch.aten.mul.Scalar %x, %n : !torch.vtensor<[2],f16> -> !torch.vtensor<[2],f16>
  return
}

// -----

func.func @f(%x: !torch.vtensor<[?],f16>, %n: !torch.int) {
  // expected-error @+1 {{the map must have no dims and 1 symbols, one for each symbolic integer}}
  torch.bind_symbolic_shape %x, [%n], affine_map<()[s0, s1] -> (s0)> : !torch.vtensor<[?],f16>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected a torch tensor type, not 'f16'}}
  %0 = torch.vtensor.literal(dense<1> : tensor<2xsi64>) : f16
  return
}

// -----

// A text that ends in the middle.
func.func @f(%x: !torch.vtensor<[2],f16>) {
  // expected-error @+1 {{expected SSA operand}}
  %0 = torch.aten.add.Tensor %x,
