// RUN: spyre-opt %s --split-input-file --ktir-check-legality | FileCheck %s
// RUN: spyre-opt %s --split-input-file --verify-diagnostics -o /dev/null

// Sets of groups within the type, with the sign that ends a type in MLIR's eyes.

// CHECK: #[[$G:.*]] = affine_set<(d0) : (d0 >= 0, -d0 + 1 >= 0)>
#pairs = affine_set<(i)[g] : (i - g * 2 >= 0, -i + g * 2 + 1 >= 0)>
// CHECK-LABEL: func.func @sum
func.func @sum(%x: tensor<1x64xf16>, %zero: tensor<1x64xf16>) attributes {grid = [4]} {
  // CHECK: -> !ktdp.tile_future<(tensor<1x64xf16>), groups = #[[$G]]> {
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #pairs
      : tensor<1x64xf16> -> !ktdp.tile_future<tensor<1x64xf16>, groups = affine_set<(g) : (g >= 0, -g + 1 >= 0)>> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<1x64xf16>
  }
  // CHECK: ktdp.inter_tile_reduce
  %r = ktdp.inter_tile_reduce(%f) consumer_tiles_per_group = #pairs, identity(%zero : tensor<1x64xf16>)
      : !ktdp.tile_future<tensor<1x64xf16>, groups = affine_set<(g) : (g >= 0, -g + 1 >= 0)>> -> tensor<1x64xf16> {
  ^bb0(%a: tensor<1x64xf16>, %b: tensor<1x64xf16>):
    %s = arith.addf %a, %b : tensor<1x64xf16>
    ktdp.yield_reduced %s : tensor<1x64xf16>
  }
  return
}

// -----

// CHECK-LABEL: func.func private @other
func.func private @other(!ktdp.tile_future<(tensor<4xf16>), groups =
    affine_set<(g) : (g - 1 >= 0, -g + 2 >= 0)>>)
