// RUN: spyre-opt %s --split-input-file --verify-diagnostics --convert-torch-to-spyre

// Everything that is unsupported, in one report; what can be converted is not listed.
// expected-error @below {{'many' cannot be compiled: its signature has 2 unsupported types and 6 operations are not supported}}
// expected-note @below {{argument #1: !torch.vtensor<[?,8],f16>: dim 0 is dynamic; shapes must be static}}
// expected-note @below {{argument #3: !torch.int: only value tensors are passed to the device}}
func.func @many(%x: !torch.vtensor<[4,8],f16>, %y: !torch.vtensor<[?,8],f16>, %z: !torch.vtensor<[4],si64>, %n: !torch.int) -> (!torch.vtensor<[4],si64>, !torch.vtensor<[4,8],f16>) {
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  // expected-note @below {{torch.aten.argmax (!torch.vtensor<[4,8],f16>, !torch.int, !torch.bool) -> (!torch.vtensor<[4],si64>): its indices are read inside of the program}}
  %0 = torch.aten.argmax %x, %int1, %false : !torch.vtensor<[4,8],f16>, !torch.int, !torch.bool -> !torch.vtensor<[4],si64>
  // expected-note @below {{torch.aten.add.Tensor (!torch.vtensor<[4],si64>, !torch.vtensor<[4],si64>, !torch.int) -> (!torch.vtensor<[4],si64>): the device does not compute it in i64}}
  %1 = torch.aten.add.Tensor %0, %z, %int1 : !torch.vtensor<[4],si64>, !torch.vtensor<[4],si64>, !torch.int -> !torch.vtensor<[4],si64>
  // expected-note @below {{torch.operator "torch.my.thing" (!torch.vtensor<[4,8],f16>) -> (!torch.vtensor<[4,8],f16>): no device operation}}
  %2 = torch.operator "torch.my.thing"(%x) : (!torch.vtensor<[4,8],f16>) -> !torch.vtensor<[4,8],f16>
  // expected-note @below {{torch.aten.sin (!torch.vtensor<[4,8],f16>) -> (!torch.vtensor<[4,8],f16>): it magnifies the last bit of f16}}
  %3 = torch.aten.sin %2 : !torch.vtensor<[4,8],f16> -> !torch.vtensor<[4,8],f16>
  // expected-note-re @below {{torch.aten.add.Tensor {{.*}}: !torch.vtensor<[?,8],f16>: dim 0 is dynamic; shapes must be static}}
  %4 = torch.aten.add.Tensor %3, %y, %int1 : !torch.vtensor<[4,8],f16>, !torch.vtensor<[?,8],f16>, !torch.int -> !torch.vtensor<[4,8],f16>
  %5 = torch.aten.exp %4 : !torch.vtensor<[4,8],f16> -> !torch.vtensor<[4,8],f16>
  %float3 = torch.constant.float 3.700000e+00
  // expected-note-re @below {{torch.aten.pow.Tensor_Scalar {{.*}}: the device has no power of 3.70}}
  %6 = torch.aten.pow.Tensor_Scalar %5, %float3 : !torch.vtensor<[4,8],f16>, !torch.float -> !torch.vtensor<[4,8],f16>
  return %1, %6 : !torch.vtensor<[4],si64>, !torch.vtensor<[4,8],f16>
}

// -----

// Indices that are used have no device form.
// expected-error @below {{'indices' cannot be compiled: 1 operation is not supported}}
func.func @indices(%x: !torch.vtensor<[4,8],f16>) -> !torch.vtensor<[4],si64> {
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  // expected-note-re @below {{torch.aten.max.dim {{.*}}: its indices are read inside of the program}}
  %values, %indices = torch.aten.max.dim %x, %int1, %false : !torch.vtensor<[4,8],f16>, !torch.int, !torch.bool -> !torch.vtensor<[4],f16>, !torch.vtensor<[4],si64>
  return %indices : !torch.vtensor<[4],si64>
}

// -----

// An assertion that does not hold, operands that are computed, wrong shapes.
// expected-error @below {{'wrong' cannot be compiled: 5 operations are not supported}}
func.func @wrong(%x: !torch.vtensor<[4,8],f16>, %y: !torch.vtensor<[4,8],f16>) -> !torch.vtensor<[4,8],f16> {
  %none = torch.constant.none
  %int6 = torch.constant.int 6
  %int1 = torch.constant.int 1
  %int7 = torch.constant.int 7
  %false = torch.constant.bool false
  // expected-note-re @below {{torch.aten._assert_tensor_metadata {{.*}}: asserts another element type (6) than the operand has}}
  torch.aten._assert_tensor_metadata %x, %none, %none, %int6, %none, %none : !torch.vtensor<[4,8],f16>, !torch.none, !torch.none, !torch.int, !torch.none, !torch.none
  // expected-note-re @below {{torch.aten.size.int {{.*}}: no device operation}}
  %0 = torch.aten.size.int %x, %int1 : !torch.vtensor<[4,8],f16>, !torch.int -> !torch.int
  // expected-note-re @below {{torch.aten._softmax {{.*}}: operand #1 is no constant integer}}
  %1 = torch.aten._softmax %x, %0, %false : !torch.vtensor<[4,8],f16>, !torch.int, !torch.bool -> !torch.vtensor<[4,8],f16>
  // expected-note-re @below {{torch.aten._softmax {{.*}}: dim 7 does not exist; the tensor has 2}}
  %2 = torch.aten._softmax %1, %int7, %false : !torch.vtensor<[4,8],f16>, !torch.int, !torch.bool -> !torch.vtensor<[4,8],f16>
  // expected-note-re @below {{torch.aten.mm {{.*}}: contracts 8 with 4 elements}}
  %3 = torch.aten.mm %2, %y : !torch.vtensor<[4,8],f16>, !torch.vtensor<[4,8],f16> -> !torch.vtensor<[4,8],f16>
  return %3 : !torch.vtensor<[4,8],f16>
}

// -----

// expected-error @below {{a program has one public function, this module has 2}}
module {
  func.func @one() { return }
  func.func @two() { return }
}

// -----

// f64 that is no statistics of narrower values; NaN, which has no code of its own; shapes
// and modes without a device form.
// expected-error @below {{'composites' cannot be compiled: 6 operations are not supported}}
func.func @composites(%x: !torch.vtensor<[4,8],f16>, %d: !torch.vtensor<[4,8],f64>) -> (!torch.vtensor<[4,8],f64>, !torch.vtensor<[4,8],i1>, !torch.vtensor<[4,8],f16>, !torch.vtensor<[4,8],f16>, !torch.vtensor<[4,8],f16>, !torch.vtensor<[4,8],f16>) {
  %int1 = torch.constant.int 1
  %int8 = torch.constant.int 8
  %int7 = torch.constant.int 7
  %true = torch.constant.bool true
  %none = torch.constant.none
  %half = torch.constant.float 5.000000e-01
  %eps = torch.constant.float 1.000000e-05
  %str = torch.constant.str "quick"
  // expected-note-re @below {{torch.aten.mul.Tensor {{.*}}: the device does not compute it in f64}}
  %0 = torch.aten.mul.Tensor %d, %d : !torch.vtensor<[4,8],f64>, !torch.vtensor<[4,8],f64> -> !torch.vtensor<[4,8],f64>
  // expected-note-re @below {{torch.aten.ne.Tensor {{.*}}: asks for NaN, which the device does not tell from infinity}}
  %1 = torch.aten.ne.Tensor %x, %x : !torch.vtensor<[4,8],f16>, !torch.vtensor<[4,8],f16> -> !torch.vtensor<[4,8],i1>
  // expected-note-re @below {{torch.aten.gelu {{.*}}: 'quick' is no form of gelu}}
  %2 = torch.aten.gelu %x, %str : !torch.vtensor<[4,8],f16>, !torch.str -> !torch.vtensor<[4,8],f16>
  %3 = torch.prim.ListConstruct %int7 : (!torch.int) -> !torch.list<int>
  // expected-note-re @below {{torch.aten.layer_norm {{.*}}: normalized_shape must be the operand's last dims}}
  %4 = torch.aten.layer_norm %x, %3, %none, %none, %eps, %true : !torch.vtensor<[4,8],f16>, !torch.list<int>, !torch.none, !torch.none, !torch.float, !torch.bool -> !torch.vtensor<[4,8],f16>
  // expected-note-re @below {{torch.aten.scaled_dot_product_attention {{.*}}: the device does not drop out}}
  %5 = torch.aten.scaled_dot_product_attention %x, %x, %x, %none, %half, %true, %none, %true : !torch.vtensor<[4,8],f16>, !torch.vtensor<[4,8],f16>, !torch.vtensor<[4,8],f16>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[4,8],f16>
  // expected-note-re @below {{torch.aten.bitwise_and.Tensor {{.*}}: the device combines bits of bools only}}
  %6 = torch.aten.bitwise_and.Tensor %x, %x : !torch.vtensor<[4,8],f16>, !torch.vtensor<[4,8],f16> -> !torch.vtensor<[4,8],f16>
  return %0, %1, %2, %4, %5, %6 : !torch.vtensor<[4,8],f64>, !torch.vtensor<[4,8],i1>, !torch.vtensor<[4,8],f16>, !torch.vtensor<[4,8],f16>, !torch.vtensor<[4,8],f16>, !torch.vtensor<[4,8],f16>
}
