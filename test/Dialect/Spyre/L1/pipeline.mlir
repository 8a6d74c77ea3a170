// RUN: spyre-opt %s --spyre-torch-to-l1 --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: spyre-opt %s --spyre-torch-to-l1 | FileCheck %s
// RUN: spyre-opt %s --spyre-torch-to-l1=precision=strict --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=STRICT
// STRICT: spyre-pass-integers
// STRICT: spyre-strict-precision

// ORDER: spyre-collect-hints
// ORDER: spyre-specialize-shapes
// ORDER: spyre-fold-torch-constants
// ORDER: convert-torch-to-spyre,
// ORDER-NEXT: canonicalize{
// ORDER-NEXT: cse,
// ORDER-NEXT: func.func(
// ORDER-NEXT: spyre-pass-integers
// ORDER: spyre-widen-range
// ORDER: spyre-exact-jumps
// ORDER: spyre-centre-keys
// ORDER: spyre-resolve-precision
// ORDER: spyre-widen-arguments
// ORDER: spyre-decompose
// ORDER: spyre-split-products
// ORDER: spyre-expand-functions
// ORDER: spyre-fold-views
// ORDER: spyre-split-dims
// ORDER-NEXT: ),
// ORDER-NEXT: canonicalize{
// ORDER-NEXT: cse
// ORDER: spyre-separate-updates

// A biased projection of a rank-3 tensor, as the exporter writes it.
// CHECK-LABEL: func @linear(
// CHECK-NEXT: %[[M:.*]] = spyre.batchmatmul (d0 = 2, d1 = 32, d2 = 64, d3 = 128) ins(%arg0[d0, d1, d3], %arg1[d2, d3]) -> [d0, d1, d2]
// CHECK-NEXT: %[[A:.*]] = spyre.add (d0 = 2, d1 = 32, d2 = 64) ins(%[[M]][d0, d1, d2], %arg2[d2]) -> [d0, d1, d2]
// CHECK-NEXT: return %[[A]]
func.func @linear(%arg0: !torch.vtensor<[2,32,128],f16>, %arg1: !torch.vtensor<[64,128],f16>, %arg2: !torch.vtensor<[64],f16>) -> !torch.vtensor<[2,32,64],f16> {
  %int64 = torch.constant.int 64
  %int128 = torch.constant.int 128
  %int2 = torch.constant.int 2
  %int32 = torch.constant.int 32
  %int1 = torch.constant.int 1
  %int0 = torch.constant.int 0
  %int5 = torch.constant.int 5
  %int6 = torch.constant.int 6
  %0 = torch.prim.ListConstruct %int64, %int128 : (!torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.view %arg0, %0 : !torch.vtensor<[2,32,128],f16>, !torch.list<int> -> !torch.vtensor<[64,128],f16>
  %2 = torch.prim.ListConstruct %int1, %int0 : (!torch.int, !torch.int) -> !torch.list<int>
  %3 = torch.aten.permute %arg1, %2 : !torch.vtensor<[64,128],f16>, !torch.list<int> -> !torch.vtensor<[128,64],f16>
  %4 = torch.prims.convert_element_type %arg2, %int6 : !torch.vtensor<[64],f16>, !torch.int -> !torch.vtensor<[64],f32>
  %5 = torch.prims.convert_element_type %1, %int6 : !torch.vtensor<[64,128],f16>, !torch.int -> !torch.vtensor<[64,128],f32>
  %6 = torch.prims.convert_element_type %3, %int6 : !torch.vtensor<[128,64],f16>, !torch.int -> !torch.vtensor<[128,64],f32>
  %7 = torch.aten.mm %5, %6 : !torch.vtensor<[64,128],f32>, !torch.vtensor<[128,64],f32> -> !torch.vtensor<[64,64],f32>
  %8 = torch.aten.mul.Scalar %7, %int1 : !torch.vtensor<[64,64],f32>, !torch.int -> !torch.vtensor<[64,64],f32>
  %9 = torch.aten.mul.Scalar %4, %int1 : !torch.vtensor<[64],f32>, !torch.int -> !torch.vtensor<[64],f32>
  %10 = torch.aten.add.Tensor %8, %9, %int1 : !torch.vtensor<[64,64],f32>, !torch.vtensor<[64],f32>, !torch.int -> !torch.vtensor<[64,64],f32>
  %11 = torch.prims.convert_element_type %10, %int5 : !torch.vtensor<[64,64],f32>, !torch.int -> !torch.vtensor<[64,64],f16>
  %12 = torch.prim.ListConstruct %int2, %int32, %int64 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %13 = torch.aten.view %11, %12 : !torch.vtensor<[64,64],f16>, !torch.list<int> -> !torch.vtensor<[2,32,64],f16>
  return %13 : !torch.vtensor<[2,32,64],f16>
}
