// What cannot run is refused before anything runs, all of it in one report.

// RUN: not spyre-run %s 2>&1 | FileCheck %s

func.func @kernel() {
  %id = ktdp.get_compute_tile_id : index
  // CHECK: refused.mlir:[[#@LINE+1]]:8: arith.constant: numbers of type f64 are not supported
  %a = arith.constant 1.0 : f64
  // CHECK: refused.mlir:[[#@LINE+1]]:8: memref.alloc: is not supported
  %m = memref.alloc() : memref<4xf32>
  %c = arith.constant 1.0 : f32
  // CHECK: refused.mlir:[[#@LINE+1]]:3: linalg.fill: operands in memory are not supported; load them first
  linalg.fill ins(%c : f32) outs(%m : memref<4xf32>)
  // CHECK: refused.mlir:[[#@LINE+1]]:8: arith.constant: numbers of type vector<4xf32> are not supported
  %v = arith.constant dense<1.0> : vector<4xf32>
  // CHECK: refused.mlir:[[#@LINE+1]]:8: arith.addf: numbers of type vector<4xf32> are not supported
  %w = arith.addf %v, %v : vector<4xf32>
  return
}
