// RUN: spyre-opt %s --split-input-file --convert-torch-to-spyre | FileCheck %s

// CHECK-LABEL: func @broadcast(%arg0: tensor<4x8xf16>, %arg1: tensor<8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT: %[[R:.*]] = spyre.add (d0 = 4, d1 = 8) ins(%arg0[d0, d1], %arg1[d1]) -> [d0, d1]
// CHECK-NEXT: return %[[R]]
func.func @broadcast(%x: !torch.vtensor<[4,8],f16>, %y: !torch.vtensor<[8],f16>) -> !torch.vtensor<[4,8],f16> {
  %int1 = torch.constant.int 1
  %0 = torch.aten.add.Tensor %x, %y, %int1 : !torch.vtensor<[4,8],f16>, !torch.vtensor<[8],f16>, !torch.int -> !torch.vtensor<[4,8],f16>
  return %0 : !torch.vtensor<[4,8],f16>
}

// -----

// alpha, a number, a 0-d tensor of a number (wrapped-number promotion), rsub.
// CHECK-LABEL: func @scalars
// CHECK-DAG: %[[HALF:.*]] = spyre.constant dense<5.000000e-01> : tensor<f16>
// CHECK: %[[SCALED:.*]] = spyre.mul (d0 = 4) ins(%arg1[d0], %[[HALF]][])
// CHECK: %[[A:.*]] = spyre.sub (d0 = 4) ins(%arg0[d0], %[[SCALED]][d0])
// CHECK: %[[SIX:.*]] = spyre.constant dense<6.000000e+00> : tensor<f16>
// CHECK: %[[B:.*]] = spyre.add (d0 = 4) ins(%[[A]][d0], %[[SIX]][])
// CHECK: %[[TWO:.*]] = spyre.constant dense<2.000000e+00> : tensor<f16>
// CHECK: %[[C:.*]] = spyre.sub (d0 = 4) ins(%[[TWO]][], %[[B]][d0])
// CHECK: %[[D:.*]] = spyre.sub (d0 = 4) ins(%{{.*}}[], %[[C]][d0])
// CHECK: return %[[D]]
func.func @scalars(%x: !torch.vtensor<[4],f16>, %y: !torch.vtensor<[4],f16>) -> !torch.vtensor<[4],f16> {
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %half = torch.constant.float 5.000000e-01
  %0 = torch.aten.sub.Tensor %x, %y, %half : !torch.vtensor<[4],f16>, !torch.vtensor<[4],f16>, !torch.float -> !torch.vtensor<[4],f16>
  %1 = torch.aten.add.Scalar %0, %int3, %int2 : !torch.vtensor<[4],f16>, !torch.int, !torch.int -> !torch.vtensor<[4],f16>
  %2 = torch.prim.NumToTensor.Scalar %int2 : !torch.int -> !torch.vtensor<[],si64>
  %3 = torch.aten.sub.Tensor %2, %1, %int1 : !torch.vtensor<[],si64>, !torch.vtensor<[4],f16>, !torch.int -> !torch.vtensor<[4],f16>
  %4 = torch.aten.rsub.Scalar %3, %int3, %int1 : !torch.vtensor<[4],f16>, !torch.int, !torch.int -> !torch.vtensor<[4],f16>
  return %4 : !torch.vtensor<[4],f16>
}

// -----

// A product with 1 is nothing; the exporter's assertions are checked and dropped.
// CHECK-LABEL: func @nothing
// CHECK-NEXT: return %arg0
func.func @nothing(%x: !torch.vtensor<[4],f16>) -> !torch.vtensor<[4],f16> {
  %int1 = torch.constant.int 1
  %int5 = torch.constant.int 5
  %none = torch.constant.none
  torch.aten._assert_tensor_metadata %x, %none, %none, %int5, %none, %none : !torch.vtensor<[4],f16>, !torch.none, !torch.none, !torch.int, !torch.none, !torch.none
  %0 = torch.aten.mul.Scalar %x, %int1 : !torch.vtensor<[4],f16>, !torch.int -> !torch.vtensor<[4],f16>
  %1 = torch.aten.clone %0, %none : !torch.vtensor<[4],f16>, !torch.none -> !torch.vtensor<[4],f16>
  return %1 : !torch.vtensor<[4],f16>
}

// -----

// An operand is converted to the result's type, which the text decides.
// CHECK-LABEL: func @promotion
// CHECK: %[[X:.*]] = spyre.convert %arg0 : tensor<4xf16> to tensor<4xf32>
// CHECK: spyre.maximum (d0 = 4) ins(%[[X]][d0], %arg1[d0])
func.func @promotion(%x: !torch.vtensor<[4],f16>, %y: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %0 = torch.aten.maximum %x, %y : !torch.vtensor<[4],f16>, !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

// The values of max.dim; a dim that is dropped, one that is kept.
// CHECK-LABEL: func @reductions
// CHECK: %[[M:.*]] = spyre.max (d0 = 4, d1 = 8) ins(%arg0[d0, d1]) -> [d0] : tensor<4x8xf16> -> tensor<4xf16>
// CHECK: %[[S:.*]] = spyre.sum (d0 = 4, d1 = 8) ins(%arg0[d0, d1]) -> [0, d1] : tensor<4x8xf16> -> tensor<1x8xf16>
// CHECK: %[[A:.*]] = spyre.mean (d0 = 4, d1 = 8) ins(%arg0[d0, d1]) -> [] constants {scaling_factor = 3.125000e-02 : f64} : tensor<4x8xf16> -> tensor<f16>
// CHECK: return %[[M]], %[[S]], %[[A]]
func.func @reductions(%x: !torch.vtensor<[4,8],f16>) -> (!torch.vtensor<[4],f16>, !torch.vtensor<[1,8],f16>, !torch.vtensor<[],f16>) {
  %int-1 = torch.constant.int -1
  %int0 = torch.constant.int 0
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %none = torch.constant.none
  %values, %indices = torch.aten.max.dim %x, %int-1, %false : !torch.vtensor<[4,8],f16>, !torch.int, !torch.bool -> !torch.vtensor<[4],f16>, !torch.vtensor<[4],si64>
  %1 = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
  %2 = torch.aten.sum.dim_IntList %x, %1, %true, %none : !torch.vtensor<[4,8],f16>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,8],f16>
  %3 = torch.aten.mean %x, %none : !torch.vtensor<[4,8],f16>, !torch.none -> !torch.vtensor<[],f16>
  return %values, %2, %3 : !torch.vtensor<[4],f16>, !torch.vtensor<[1,8],f16>, !torch.vtensor<[],f16>
}

// -----

// CHECK-LABEL: func @views
// CHECK: %[[P:.*]] = spyre.view %arg0[d1, d2, d0] : tensor<2x3x4xf16> -> tensor<4x2x3xf16>
// CHECK: %[[R:.*]] = spyre.view %[[P]][d0, d1 floordiv 3, d1 mod 3] : tensor<4x2x3xf16> -> tensor<4x6xf16>
// CHECK: %[[S:.*]] = spyre.view %[[R]][d0, d1 * 2 + 1] : tensor<4x6xf16> -> tensor<4x3xf16>
// CHECK: %[[T:.*]] = spyre.view %[[S]][d1, d0] : tensor<4x3xf16> -> tensor<3x4xf16>
// CHECK: %[[U:.*]] = spyre.view %[[T]][d0, d2] : tensor<3x4xf16> -> tensor<3x1x4xf16>
// CHECK: %[[E:.*]] = spyre.view %[[U]][d0, 0, d2] : tensor<3x1x4xf16> -> tensor<3x5x4xf16>
// CHECK: %[[L:.*]] = spyre.view %[[E]][d0, 4, d1] : tensor<3x5x4xf16> -> tensor<3x4xf16>
// CHECK: return %[[L]]
func.func @views(%x: !torch.vtensor<[2,3,4],f16>) -> !torch.vtensor<[3,4],f16> {
  %int-1 = torch.constant.int -1
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %int4 = torch.constant.int 4
  %int5 = torch.constant.int 5
  %int6 = torch.constant.int 6
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.prim.ListConstruct %int2, %int0, %int1 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.permute %x, %0 : !torch.vtensor<[2,3,4],f16>, !torch.list<int> -> !torch.vtensor<[4,2,3],f16>
  %2 = torch.prim.ListConstruct %int4, %int6 : (!torch.int, !torch.int) -> !torch.list<int>
  %3 = torch.aten.view %1, %2 : !torch.vtensor<[4,2,3],f16>, !torch.list<int> -> !torch.vtensor<[4,6],f16>
  %4 = torch.aten.slice.Tensor %3, %int1, %int1, %none, %int2 : !torch.vtensor<[4,6],f16>, !torch.int, !torch.int, !torch.none, !torch.int -> !torch.vtensor<[4,3],f16>
  %5 = torch.aten.t %4 : !torch.vtensor<[4,3],f16> -> !torch.vtensor<[3,4],f16>
  %6 = torch.aten.unsqueeze %5, %int1 : !torch.vtensor<[3,4],f16>, !torch.int -> !torch.vtensor<[3,1,4],f16>
  %7 = torch.prim.ListConstruct %int-1, %int5, %int-1 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %8 = torch.aten.expand %6, %7, %false : !torch.vtensor<[3,1,4],f16>, !torch.list<int>, !torch.bool -> !torch.vtensor<[3,5,4],f16>
  %9 = torch.aten.select.int %8, %int1, %int-1 : !torch.vtensor<[3,5,4],f16>, !torch.int, !torch.int -> !torch.vtensor<[3,4],f16>
  return %9 : !torch.vtensor<[3,4],f16>
}

// -----

// CHECK-LABEL: func @composites
// CHECK: %[[L:.*]] = spyre.linear %arg0, %arg1 bias(%arg2 : tensor<6xf16>)
// CHECK: %[[S:.*]] = spyre.softmax %[[L]] along 1
// CHECK: %[[N:.*]] = spyre.rms_norm %[[S]] over 1 epsilon 1.1920928955078125E-7
// CHECK: %[[M:.*]] = spyre.matmul %[[N]], %{{.*}} : tensor<4x6xf16>, tensor<6x1xf16> -> tensor<4x1xf16>
// CHECK: spyre.view %[[M]][d0, 0] : tensor<4x1xf16> -> tensor<4xf16>
func.func @composites(%x: !torch.vtensor<[4,8],f16>, %w: !torch.vtensor<[6,8],f16>, %b: !torch.vtensor<[6],f16>) -> !torch.vtensor<[4],f16> {
  %int-1 = torch.constant.int -1
  %int6 = torch.constant.int 6
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.linear %x, %w, %b : !torch.vtensor<[4,8],f16>, !torch.vtensor<[6,8],f16>, !torch.vtensor<[6],f16> -> !torch.vtensor<[4,6],f16>
  %1 = torch.aten._softmax %0, %int-1, %false : !torch.vtensor<[4,6],f16>, !torch.int, !torch.bool -> !torch.vtensor<[4,6],f16>
  %2 = torch.prim.ListConstruct %int6 : (!torch.int) -> !torch.list<int>
  %3 = torch.aten.rms_norm %1, %2, %none, %none : !torch.vtensor<[4,6],f16>, !torch.list<int>, !torch.none, !torch.none -> !torch.vtensor<[4,6],f16>
  %4 = torch.aten.matmul %3, %b : !torch.vtensor<[4,6],f16>, !torch.vtensor<[6],f16> -> !torch.vtensor<[4],f16>
  return %4 : !torch.vtensor<[4],f16>
}

// -----

// CHECK-LABEL: func @chosen
// CHECK: %[[C:.*]] = spyre.greaterthan (d0 = 4) ins(%arg0[d0], %arg1[d0]) -> [d0] : tensor<4xf16>, tensor<4xf16> -> tensor<4xi1>
// CHECK: spyre.where3 (d0 = 4) ins(%[[C]][d0], %arg0[d0], %arg1[d0])
func.func @chosen(%x: !torch.vtensor<[4],f16>, %y: !torch.vtensor<[4],f16>) -> !torch.vtensor<[4],f16> {
  %0 = torch.aten.gt.Tensor %x, %y : !torch.vtensor<[4],f16>, !torch.vtensor<[4],f16> -> !torch.vtensor<[4],i1>
  %1 = torch.aten.where.self %0, %x, %y : !torch.vtensor<[4],i1>, !torch.vtensor<[4],f16>, !torch.vtensor<[4],f16> -> !torch.vtensor<[4],f16>
  return %1 : !torch.vtensor<[4],f16>
}

// -----

// The pass run on L1 finds nothing to do.
// CHECK-LABEL: func @negative
// CHECK-NEXT: spyre.exp
// CHECK-NEXT: return
func.func @negative(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = spyre.exp (d0 = 4) ins(%x[d0]) -> [d0] : tensor<4xf16> -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// A tensor of one number has it as its type does: any number but 0 is true.
// CHECK-LABEL: func @rounded
// CHECK-DAG: spyre.constant dense<true> : tensor<i1>
// CHECK-DAG: spyre.constant dense<0.000000e+00> : tensor<f16>
// CHECK-DAG: spyre.constant dense<9.997550e-02> : tensor<f16>
func.func @rounded() -> (!torch.vtensor<[4],i1>, !torch.vtensor<[4],f16>, !torch.vtensor<[4],f16>) {
  %int4 = torch.constant.int 4
  %none = torch.constant.none
  %two = torch.constant.float 2.000000e+00
  %tiny = torch.constant.float 1.000000e-09
  %tenth = torch.constant.float 1.000000e-01
  %s = torch.prim.ListConstruct %int4 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.full %s, %two, %none, %none, %none, %none : !torch.list<int>, !torch.float, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4],i1>
  %1 = torch.aten.full %s, %tiny, %none, %none, %none, %none : !torch.list<int>, !torch.float, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4],f16>
  %2 = torch.aten.full %s, %tenth, %none, %none, %none, %none : !torch.list<int>, !torch.float, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4],f16>
  return %0, %1, %2 : !torch.vtensor<[4],i1>, !torch.vtensor<[4],f16>, !torch.vtensor<[4],f16>
}
