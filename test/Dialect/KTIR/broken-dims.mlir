// RUN: not spyre-opt %s 2>&1 | FileCheck %s
// RUN: not spyre-translate --explain %s 2>&1 | FileCheck %s

// A list that upstream's parser would go on with.
func.func @f(%x: tensor<4x64xf16>, %y: tensor<4xf16>) {
  %id = ktdp.get_compute_tile_id : index
  // CHECK: broken-dims.mlir:8:102: error: expected a list of numbers in brackets
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4x64xf16>) outs(%y : tensor<4xf16>) dimensions = [one]
  return
}
