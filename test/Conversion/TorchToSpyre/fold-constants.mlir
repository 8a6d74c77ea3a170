// RUN: spyre-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(spyre-fold-torch-constants))' | FileCheck %s

// A causal mask: positions, their difference, a comparison.
// CHECK-LABEL: func.func @mask
// CHECK: %[[M:.*]] = torch.vtensor.literal(dense<{{\[\[}}true, false], [true, true]]> : tensor<2x2xi1>)
// CHECK-NOT: torch.aten.arange
// CHECK: torch.aten.where.self %[[M]], %arg0
func.func @mask(%arg0: !torch.vtensor<[2,2],f16>, %arg1: !torch.vtensor<[],f16>) -> !torch.vtensor<[2,2],f16> {
  %none = torch.constant.none
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %0 = torch.aten.arange.start_step %int0, %int2, %int1, %none, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[2],si64>
  %1 = torch.aten.unsqueeze %0, %int1 : !torch.vtensor<[2],si64>, !torch.int -> !torch.vtensor<[2,1],si64>
  %2 = torch.aten.sub.Tensor %0, %1, %int1 : !torch.vtensor<[2],si64>, !torch.vtensor<[2,1],si64>, !torch.int -> !torch.vtensor<[2,2],si64>
  %3 = torch.aten.le.Scalar %2, %int0 : !torch.vtensor<[2,2],si64>, !torch.int -> !torch.vtensor<[2,2],i1>
  %4 = torch.aten.where.self %3, %arg0, %arg1 : !torch.vtensor<[2,2],i1>, !torch.vtensor<[2,2],f16>, !torch.vtensor<[],f16> -> !torch.vtensor<[2,2],f16>
  return %4 : !torch.vtensor<[2,2],f16>
}

// -----

// A number of a number; what is the same everywhere keeps its number as written.
// CHECK-LABEL: func.func @numbers
// CHECK: %[[I:.*]] = torch.constant.int 1
// CHECK: torch.aten.full_like %arg0, %[[I]]
func.func @numbers(%arg0: !torch.vtensor<[2,2],f16>) -> !torch.vtensor<[2,2],f16> {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %0 = torch.aten.Int.bool %true : !torch.bool -> !torch.int
  %1 = torch.aten.full_like %arg0, %0, %none, %none, %none, %none, %none : !torch.vtensor<[2,2],f16>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[2,2],f16>
  return %1 : !torch.vtensor<[2,2],f16>
}

// -----

// Integers are no matter for the device; what is repeated is not written out.
// CHECK-LABEL: func.func @integers
// CHECK: %[[L:.*]] = torch.vtensor.literal(dense<{{\[\[}}true, false]]> : tensor<1x2xi1>)
// CHECK: torch.aten.expand %[[L]]
func.func @integers() -> !torch.vtensor<[3,2],i1> {
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %int11 = torch.constant.int 11
  %false = torch.constant.bool false
  %0 = torch.vtensor.literal(dense<[[7, 0]]> : tensor<1x2xui8>) : !torch.vtensor<[1,2],ui8>
  %1 = torch.prims.convert_element_type %0, %int11 : !torch.vtensor<[1,2],ui8>, !torch.int -> !torch.vtensor<[1,2],i1>
  %2 = torch.prim.ListConstruct %int3, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  %3 = torch.aten.expand %1, %2, %false : !torch.vtensor<[1,2],i1>, !torch.list<int>, !torch.bool -> !torch.vtensor<[3,2],i1>
  return %3 : !torch.vtensor<[3,2],i1>
}

// -----

// A literal by itself is left to the device.
// CHECK-LABEL: func.func @negative_literal
// CHECK: torch.aten.neg
func.func @negative_literal() -> !torch.vtensor<[2],f16> {
  %0 = torch.vtensor.literal(dense<[1.0, 2.0]> : tensor<2xf16>) : !torch.vtensor<[2],f16>
  %1 = torch.aten.neg %0 : !torch.vtensor<[2],f16> -> !torch.vtensor<[2],f16>
  return %1 : !torch.vtensor<[2],f16>
}

// -----

// What depends on an argument is not touched.
// CHECK-LABEL: func.func @negative_argument
// CHECK: torch.aten.tril
func.func @negative_argument(%arg0: !torch.vtensor<[2,2],f16>) -> !torch.vtensor<[2,2],f16> {
  %int0 = torch.constant.int 0
  %0 = torch.aten.tril %arg0, %int0 : !torch.vtensor<[2,2],f16>, !torch.int -> !torch.vtensor<[2,2],f16>
  return %0 : !torch.vtensor<[2,2],f16>
}

// -----

// A complex number of its parts.
// CHECK-LABEL: func.func @complex_number
// CHECK: torch.constant.complex {value = dense<(1.000000e+00,-2.000000e+00)> : tensor<complex<f64>>}
func.func @complex_number(%arg0: !torch.vtensor<[2],complex<f32>>) -> !torch.vtensor<[2],complex<f32>> {
  %re = torch.constant.float 1.000000e+00
  %im = torch.constant.float -2.000000e+00
  %0 = torch.operator "torch.aten.Complex.float_float"(%re, %im) : (!torch.float, !torch.float) -> !torch.number
  %1 = torch.aten.mul.Scalar %arg0, %0 : !torch.vtensor<[2],complex<f32>>, !torch.number -> !torch.vtensor<[2],complex<f32>>
  return %1 : !torch.vtensor<[2],complex<f32>>
}

// -----

// A large mask is computed run by run: two of them in each row but the last.
// CHECK-LABEL: func.func @large_mask
// CHECK: torch.vtensor.literal(#spyre.runs<[2, 2, {{.*}}, 2, 1], [1, 8192, 2, 8192, {{.*}}, 8191, 8192, 8192], [0, 4286578688, 0, {{.*}}]> : tensor<8192x8192xf32>) : !torch.vtensor<[8192,8192],f32>
// CHECK-NOT: torch.aten
func.func @large_mask() -> !torch.vtensor<[8192,8192],f32> {
  %none = torch.constant.none
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int-1 = torch.constant.int -1
  %int6 = torch.constant.int 6
  %int8192 = torch.constant.int 8192
  %lowest = torch.constant.float 0xFFF0000000000000
  %zero = torch.constant.float 0.0
  %p = torch.aten.arange.start_step %int0, %int8192, %int1, %none, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[8192],si64>
  %r = torch.aten.unsqueeze %p, %int-1 : !torch.vtensor<[8192],si64>, !torch.int -> !torch.vtensor<[8192,1],si64>
  %d = torch.aten.sub.Tensor %p, %r, %int1 : !torch.vtensor<[8192],si64>, !torch.vtensor<[8192,1],si64>, !torch.int -> !torch.vtensor<[8192,8192],si64>
  %s = torch.aten.le.Scalar %d, %int0 : !torch.vtensor<[8192,8192],si64>, !torch.int -> !torch.vtensor<[8192,8192],i1>
  %a = torch.aten.scalar_tensor %zero, %int6, %none, %none, %none : !torch.float, !torch.int, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[],f32>
  %b = torch.aten.scalar_tensor %lowest, %int6, %none, %none, %none : !torch.float, !torch.int, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[],f32>
  %m = torch.aten.where.self %s, %a, %b : !torch.vtensor<[8192,8192],i1>, !torch.vtensor<[],f32>, !torch.vtensor<[],f32> -> !torch.vtensor<[8192,8192],f32>
  return %m : !torch.vtensor<[8192,8192],f32>
}
