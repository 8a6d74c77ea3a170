// RUN: spyre-opt %s --split-input-file --verify-diagnostics --convert-torch-to-spyre

// Numbers of these types are in arrays only.
// expected-error @below {{'filled' cannot be compiled: 5 operations are not supported}}
func.func @filled() -> (!torch.vtensor<[4],complex<f32>>, !torch.vtensor<[4],f8E4M3FN>, !torch.vtensor<[4],f8E8M0FNU>, !torch.vtensor<[4],si8>, !torch.vtensor<[4],si16>) {
  %int4 = torch.constant.int 4
  %none = torch.constant.none
  %two = torch.constant.float 2.000000e+00
  %s = torch.prim.ListConstruct %int4 : (!torch.int) -> !torch.list<int>
  // expected-note-re @below {{torch.aten.zeros {{.*}}: the device keeps no number of its result's type}}
  %0 = torch.aten.zeros %s, %none, %none, %none, %none : !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4],complex<f32>>
  // expected-note-re @below {{torch.aten.ones {{.*}}: the device keeps no number of its result's type}}
  %1 = torch.aten.ones %s, %none, %none, %none, %none : !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4],f8E4M3FN>
  // expected-note-re @below {{torch.aten.full {{.*}}: the device keeps no number of its result's type}}
  %2 = torch.aten.full %s, %two, %none, %none, %none, %none : !torch.list<int>, !torch.float, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4],f8E8M0FNU>
  // expected-note-re @below {{torch.aten.full {{.*}}: the device keeps no number of its result's type}}
  %3 = torch.aten.full %s, %two, %none, %none, %none, %none : !torch.list<int>, !torch.float, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4],si8>
  // expected-note-re @below {{torch.aten.zeros {{.*}}: the device keeps no number of its result's type}}
  %4 = torch.aten.zeros %s, %none, %none, %none, %none : !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4],si16>
  return %0, %1, %2, %3, %4 : !torch.vtensor<[4],complex<f32>>, !torch.vtensor<[4],f8E4M3FN>, !torch.vtensor<[4],f8E8M0FNU>, !torch.vtensor<[4],si8>, !torch.vtensor<[4],si16>
}

// -----

// expected-error @below {{'literals' cannot be compiled: 3 operations are not supported}}
func.func @literals() -> (!torch.vtensor<[],f8E5M2>, !torch.vtensor<[],complex<f64>>, !torch.vtensor<[],si8>) {
  // expected-note-re @below {{torch.vtensor.literal {{.*}}: the device keeps no number of the type of its result}}
  %0 = torch.vtensor.literal(dense<1.5> : tensor<f8E5M2>) : !torch.vtensor<[],f8E5M2>
  // expected-note-re @below {{torch.vtensor.literal {{.*}}: the device keeps no number of the type of its result}}
  %1 = torch.vtensor.literal(dense<(1.0,2.0)> : tensor<complex<f64>>) : !torch.vtensor<[],complex<f64>>
  // expected-note-re @below {{torch.vtensor.literal {{.*}}: the device keeps no number of the type of its result}}
  %2 = torch.vtensor.literal(dense<-1> : tensor<si8>) : !torch.vtensor<[],si8>
  return %0, %1, %2 : !torch.vtensor<[],f8E5M2>, !torch.vtensor<[],complex<f64>>, !torch.vtensor<[],si8>
}

// -----

// Elements that are not those of the type: another kind, width or number.
// expected-error @below {{'others' cannot be compiled: 4 operations are not supported}}
func.func @others() -> (!torch.vtensor<[2],f16>, !torch.vtensor<[2],si64>, !torch.vtensor<[4],f32>, !torch.vtensor<[2,2],f32>) {
  // expected-note-re @below {{torch.vtensor.literal {{.*}}: has no value of the type of its result}}
  %0 = torch.vtensor.literal(dense<[1, 2]> : tensor<2xi16>) : !torch.vtensor<[2],f16>
  // expected-note-re @below {{torch.vtensor.literal {{.*}}: has no value of the type of its result}}
  %1 = torch.vtensor.literal(dense<[1, 2]> : tensor<2xsi32>) : !torch.vtensor<[2],si64>
  // expected-note-re @below {{torch.vtensor.literal {{.*}}: has no value of the type of its result}}
  %2 = torch.vtensor.literal(dense<[1.0, 2.0]> : tensor<2xf32>) : !torch.vtensor<[4],f32>
  // expected-note-re @below {{torch.vtensor.literal {{.*}}: has no value of the type of its result}}
  %3 = torch.vtensor.literal(dense<(1.0,2.0)> : tensor<2x2xcomplex<f32>>) : !torch.vtensor<[2,2],f32>
  return %0, %1, %2, %3 : !torch.vtensor<[2],f16>, !torch.vtensor<[2],si64>, !torch.vtensor<[4],f32>, !torch.vtensor<[2,2],f32>
}

// -----

// Numbers beside tensors of a type without numbers.
// expected-error @below {{'beside' cannot be compiled: 3 operations are not supported}}
func.func @beside(%m: !torch.vtensor<[4],i1>, %z: !torch.vtensor<[4],si8>, %f: !torch.vtensor<[4],f8E4M3FN>) -> (!torch.vtensor<[4],si8>, !torch.vtensor<[4],f8E4M3FN>, !torch.vtensor<[6],f8E4M3FN>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %two = torch.constant.float 2.000000e+00
  // expected-note-re @below {{torch.aten.masked_fill.Scalar {{.*}}: the device does not compute it in i8}}
  %0 = torch.aten.masked_fill.Scalar %z, %m, %int0 : !torch.vtensor<[4],si8>, !torch.vtensor<[4],i1>, !torch.int -> !torch.vtensor<[4],si8>
  // expected-note-re @below {{torch.aten.where.ScalarOther {{.*}}: the device does not compute it in f8E4M3FN}}
  %1 = torch.aten.where.ScalarOther %m, %f, %two : !torch.vtensor<[4],i1>, !torch.vtensor<[4],f8E4M3FN>, !torch.float -> !torch.vtensor<[4],f8E4M3FN>
  %p = torch.prim.ListConstruct %int1, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-note-re @below {{torch.aten.constant_pad_nd {{.*}}: the device keeps no number of the operand's type to pad with}}
  %2 = torch.aten.constant_pad_nd %f, %p, %two : !torch.vtensor<[4],f8E4M3FN>, !torch.list<int>, !torch.float -> !torch.vtensor<[6],f8E4M3FN>
  return %0, %1, %2 : !torch.vtensor<[4],si8>, !torch.vtensor<[4],f8E4M3FN>, !torch.vtensor<[6],f8E4M3FN>
}
