// RUN: spyre-opt %s | FileCheck %s
// RUN: spyre-opt %s | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --verify-roundtrip -o /dev/null

#quad = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
#first = affine_set<(i)[g] : (i - g * 4 == 0)>
#two = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
#pair = affine_set<(p)[c, g] : (p + c - g * 8 - 3 == 0)>
#left = affine_set<(p)[c] : (p - c + 2 == 0)>

// CHECK-DAG: #[[$QUAD:.*]] = affine_set<(d0)[s0] : (d0 - s0 * 4 >= 0, -d0 + s0 * 4 + 3 >= 0)>
// CHECK-DAG: #[[$TWO:.*]] = affine_set<(d0) : (d0 >= 0, -d0 + 1 >= 0)>

// CHECK-LABEL: func.func @deliver
func.func @deliver(%x: tensor<4x64xf16>, %zero: tensor<4x64xf16>) attributes {grid = [8]} {
  // CHECK: %[[F:.*]] = ktdp.inter_tile_produce producer_tiles_per_group = #{{.*}} -> !ktdp.tile_future<(tensor<4x64xf16>), groups = #[[$TWO]]> {
  // CHECK-NEXT: ^bb0(%{{.*}}: index):
  // CHECK-NEXT: ktdp.yield_partial %arg0 : tensor<4x64xf16>
  %f0 = ktdp.inter_tile_produce producer_tiles_per_group = #first -> !ktdp.tile_future<(tensor<4x64xf16>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4x64xf16>
  }
  // CHECK: ktdp.inter_tile_consume(%[[F]]) consumer_tiles_per_group = #[[$QUAD]] : <(tensor<4x64xf16>), groups = #[[$TWO]]> -> tensor<4x64xf16>
  %r0 = ktdp.inter_tile_consume(%f0) consumer_tiles_per_group = #quad : <(tensor<4x64xf16>), groups = #two> -> tensor<4x64xf16>

  // Earlier spellings: partial types ahead of the arrow, no parentheses.
  // CHECK: ktdp.inter_tile_produce producer_tiles_per_group = #[[$QUAD]] -> !ktdp.tile_future<(tensor<4x64xf16>), groups = #[[$TWO]]> {
  %f1 = ktdp.inter_tile_produce producer_tiles_per_group = #quad : tensor<4x64xf16> -> !ktdp.tile_future<tensor<4x64xf16>, groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4x64xf16>
  }
  // CHECK: ktdp.inter_tile_consume(%{{.*}}) consumer_tiles_per_group = #[[$QUAD]], producer_dependency_per_consumer = #{{.*}} {note = 3 : i64} :
  %r1 = ktdp.inter_tile_consume(%f1) consumer_tiles_per_group = #quad, producer_dependency_per_consumer = #pair
      {note = 3 : i64} : !ktdp.tile_future<tensor<4x64xf16>, groups = #two> -> (tensor<4x64xf16>)

  %f2 = ktdp.inter_tile_produce producer_tiles_per_group = #quad -> <(tensor<4x64xf16>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4x64xf16>
  }
  // CHECK: ktdp.inter_tile_reduce(%{{.*}}) consumer_tiles_per_group = #[[$QUAD]], producer_dependency_per_consumer = #{{.*}}, identity(%arg1 : tensor<4x64xf16>) : <(tensor<4x64xf16>), groups = #[[$TWO]]> -> tensor<4x64xf16> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4x64xf16>, %[[B:.*]]: tensor<4x64xf16>):
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[B]] : tensor<4x64xf16>
  // CHECK-NEXT: ktdp.yield_reduced %[[S]] : tensor<4x64xf16>
  // Attributes in another order.
  %r2 = ktdp.inter_tile_reduce(%f2) identity(%zero : tensor<4x64xf16>), producer_dependency_per_consumer = #left,
      consumer_tiles_per_group = #quad : <(tensor<4x64xf16>), groups = #two> -> tensor<4x64xf16> {
  ^bb0(%a: tensor<4x64xf16>, %b: tensor<4x64xf16>):
    %s = arith.addf %a, %b : tensor<4x64xf16>
    ktdp.yield_reduced %s : tensor<4x64xf16>
  }

  %f3 = ktdp.inter_tile_produce producer_tiles_per_group = #quad -> <(tensor<4x64xf16>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4x64xf16>
  }
  // CHECK: ktdp.inter_tile_reduce_scatter(%{{.*}}) consumer_tiles_per_group = #[[$QUAD]], scatter_dimensions = [0, 1], identity(%arg1 : tensor<4x64xf16>)
  // CHECK-SAME: -> tensor<2x32xf16> {
  %r3 = ktdp.inter_tile_reduce_scatter(%f3) consumer_tiles_per_group = #quad, scatter_dimensions = [0, 1],
      identity(%zero : tensor<4x64xf16>) : <(tensor<4x64xf16>), groups = #two> -> tensor<2x32xf16> {
  ^bb0(%a: tensor<4x64xf16>, %b: tensor<4x64xf16>):
    ktdp.yield_reduced %a : tensor<4x64xf16>
  }

  %f4 = ktdp.inter_tile_produce producer_tiles_per_group = #quad -> <(tensor<4x64xf16>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4x64xf16>
  }
  // CHECK: ktdp.inter_tile_gather(%{{.*}}) consumer_tiles_per_group = #[[$QUAD]], gather_dimensions = [0] : {{.*}} -> tensor<16x64xf16>
  %r4 = ktdp.inter_tile_gather(%f4) consumer_tiles_per_group = #quad, gather_dimensions = array<i64: 0>
      : <(tensor<4x64xf16>), groups = #two> -> tensor<16x64xf16>

  %f5 = ktdp.inter_tile_produce producer_tiles_per_group = #quad -> <(tensor<4x64xf16>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4x64xf16>
  }
  // CHECK: ktdp.inter_tile_all_to_all(%{{.*}}) consumer_tiles_per_group = #[[$QUAD]], split_dimensions = [1], concat_dimensions = [0] : {{.*}} -> tensor<16x16xf16>
  %r5 = ktdp.inter_tile_all_to_all(%f5) consumer_tiles_per_group = #quad, split_dimensions = [1], concat_dimensions = [0]
      : <(tensor<4x64xf16>), groups = #two> -> tensor<16x16xf16>

  %f6 = ktdp.inter_tile_produce producer_tiles_per_group = #first -> <(tensor<4x64xf16>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4x64xf16>
  }
  // CHECK: ktdp.inter_tile_scatter(%{{.*}}) consumer_tiles_per_group = #[[$QUAD]], scatter_dimensions = [0] : {{.*}} -> tensor<1x64xf16>
  %r6 = ktdp.inter_tile_scatter(%f6) consumer_tiles_per_group = #quad, scatter_dimensions = [0]
      : <(tensor<4x64xf16>), groups = #two> -> tensor<1x64xf16>
  return
}

// Two roles.
// CHECK-LABEL: func.func @roles
func.func @roles(%v: tensor<4xf16>, %i: tensor<4xi32>) attributes {grid = [8]} {
  // CHECK: ktdp.yield_partial %arg0, %arg1 : tensor<4xf16>, tensor<4xi32>
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #quad -> !ktdp.tile_future<(tensor<4xf16>, tensor<4xi32>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %v, %i : tensor<4xf16>, tensor<4xi32>
  }
  // CHECK: %{{.*}}:2 = ktdp.inter_tile_reduce(%{{.*}}) {{.*}} identity(%arg0, %arg1 : tensor<4xf16>, tensor<4xi32>) : {{.*}} -> tensor<4xf16>, tensor<4xi32> {
  %r:2 = ktdp.inter_tile_reduce(%f) consumer_tiles_per_group = #quad, identity(%v, %i : tensor<4xf16>, tensor<4xi32>)
      : <(tensor<4xf16>, tensor<4xi32>), groups = #two> -> tensor<4xf16>, tensor<4xi32> {
  ^bb0(%a: tensor<4xf16>, %b: tensor<4xi32>, %c: tensor<4xf16>, %d: tensor<4xi32>):
    ktdp.yield_reduced %a, %d : tensor<4xf16>, tensor<4xi32>
  }
  return
}
