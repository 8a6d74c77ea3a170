// A tile that waits for one that never produces: an error that names tiles, operation and place.

// RUN: not spyre-run %s -o 4x64@fp16 2>&1 | FileCheck %s

// CHECK: deadlock.mlir:[[#@LINE+14]]:10: ktdp.inter_tile_gather: deadlock: compute tile 0 waits in ktdp.inter_tile_gather at {{.*}}deadlock.mlir:[[#@LINE+14]]:10 for compute tile 3; compute tile 1 waits

#four = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
#one = affine_set<(g) : (g == 0)>
func.func @kernel(%o: index) attributes {grid = [4]} {
  %id = ktdp.get_compute_tile_id : index
  %c3 = arith.constant 3 : index
  %x = arith.constant dense<1.0> : tensor<1x64xf16>
  %isFew = arith.cmpi ult, %id, %c3 : index
  scf.if %isFew {
    %f = ktdp.inter_tile_produce producer_tiles_per_group = #four -> !ktdp.tile_future<(tensor<1x64xf16>), groups = #one> {
    ^bb0(%gid: index):
      ktdp.yield_partial %x : tensor<1x64xf16>
    }
    %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #four, gather_dimensions = [0]
        : <(tensor<1x64xf16>), groups = #one> -> tensor<4x64xf16>
  }
  return
}
