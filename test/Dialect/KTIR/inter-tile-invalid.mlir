// RUN: spyre-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a future carries one tensor at least}}
func.func private @none() attributes {t = !ktdp.tile_future<(), groups = affine_set<(g) : (g == 0)>>}

// -----

// expected-error @+1 {{groups must be a set (g) of one dim and no symbols}}
func.func private @groups(!ktdp.tile_future<(tensor<4xf16>), groups = affine_set<(g)[s] : (g - s == 0)>>)

// -----

// expected-error @+1 {{invalid kind of type specified: expected builtin.tensor, but found 'memref<4xf16>'}}
func.func private @memory(!ktdp.tile_future<(memref<4xf16>), groups = affine_set<(g) : (g == 0)>>)

// -----

#groups = affine_set<(g) : (g == 0)>
func.func @kind(%x: tensor<4xf16>) {
  // expected-error @+1 {{attribute 'producer_tiles_per_group' failed to satisfy constraint: IntegerSet attribute}}
  %f = ktdp.inter_tile_produce producer_tiles_per_group = 3 -> <(tensor<4xf16>), groups = #groups> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf16>
  }
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i, j)[g] : (i - j == 0)>
func.func @producers(%x: tensor<4xf16>) {
  // expected-error @+1 {{producer_tiles_per_group must be a set (i)[g], but has 2 dims and 1 symbols}}
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #set -> <(tensor<4xf16>), groups = #groups> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf16>
  }
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i * g >= 0)>
func.func @unknown(%x: tensor<4xf16>) {
  // expected-error @+1 {{producer_tiles_per_group multiplies unknowns, or divides by what is no positive number}}
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #set -> <(tensor<4xf16>), groups = #groups> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf16>
  }
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @argument(%x: tensor<4xf16>) {
  // expected-error @+1 {{the region takes one index, the number of the group}}
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #set -> <(tensor<4xf16>), groups = #groups> {
    ktdp.yield_partial %x : tensor<4xf16>
  }
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @count(%x: tensor<4xf16>) {
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #set -> <(tensor<4xf16>, tensor<4xf16>), groups = #groups> {
  ^bb0(%gid: index):
    // expected-error @+1 {{yields 1 values, the future has 2 roles}}
    ktdp.yield_partial %x : tensor<4xf16>
  }
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @type(%x: tensor<4xf16>) {
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #set -> <(tensor<8xf16>), groups = #groups> {
  ^bb0(%gid: index):
    // expected-error @+1 {{yields 'tensor<4xf16>' for role 0, whose partials are 'tensor<8xf16>'}}
    ktdp.yield_partial %x : tensor<4xf16>
  }
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @name(%f: !ktdp.tile_future<(tensor<4xf16>), groups = #groups>) {
  // expected-error @+1 {{'ktdp.inter_tile_consume' has no 'gather_dimensions'}}
  %r = ktdp.inter_tile_consume(%f) consumer_tiles_per_group = #set, gather_dimensions = [0] : <(tensor<4xf16>), groups = #groups> -> tensor<4xf16>
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @twice(%f: !ktdp.tile_future<(tensor<4xf16>), groups = #groups>) {
  // expected-error @+1 {{consumer_tiles_per_group is given twice}}
  %r = ktdp.inter_tile_consume(%f) consumer_tiles_per_group = #set, consumer_tiles_per_group = #set : <(tensor<4xf16>), groups = #groups> -> tensor<4xf16>
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @missing(%f: !ktdp.tile_future<(tensor<4xf16>), groups = #groups>) {
  // expected-error @+1 {{requires attribute 'gather_dimensions'}}
  %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #set : <(tensor<4xf16>), groups = #groups> -> tensor<4xf16>
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @dims_kind(%f: !ktdp.tile_future<(tensor<4xf16>), groups = #groups>) {
  // expected-error @+1 {{attribute 'gather_dimensions' failed to satisfy constraint: i64 dense array attribute}}
  %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #set, gather_dimensions = ["a"] : <(tensor<4xf16>), groups = #groups> -> tensor<4xf16>
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @no_dims(%f: !ktdp.tile_future<(tensor<4xf16>), groups = #groups>) {
  // expected-error @+1 {{R12: there is no dim to put partials side by side along}}
  %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #set, gather_dimensions = [] : <(tensor<4xf16>), groups = #groups> -> tensor<4xf16>
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @range(%f: !ktdp.tile_future<(tensor<4xf16>), groups = #groups>) {
  // expected-error @+1 {{R9: there is no dim 1 in 'tensor<4xf16>'}}
  %r = ktdp.inter_tile_scatter(%f) consumer_tiles_per_group = #set, scatter_dimensions = [1] : <(tensor<4xf16>), groups = #groups> -> tensor<4xf16>
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @ascend(%f: !ktdp.tile_future<(tensor<4x4xf16>), groups = #groups>) {
  // expected-error @+1 {{R12: dims must ascend, but 0 follows 1}}
  %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #set, gather_dimensions = [1, 0] : <(tensor<4x4xf16>), groups = #groups> -> tensor<8x8xf16>
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @rank(%f: !ktdp.tile_future<(tensor<1x4xf16>), groups = #groups>) {
  // expected-error @+1 {{delivers 'tensor<4xf16>' of partials 'tensor<1x4xf16>'; rank and element type stay}}
  %r = ktdp.inter_tile_consume(%f) consumer_tiles_per_group = #set : <(tensor<1x4xf16>), groups = #groups> -> tensor<4xf16>
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @keeps(%f: !ktdp.tile_future<(tensor<4x4xf16>), groups = #groups>) {
  // expected-error @+1 {{dim 1 keeps its size}}
  %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #set, gather_dimensions = [0] : <(tensor<4x4xf16>), groups = #groups> -> tensor<8x8xf16>
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @shares(%f: !ktdp.tile_future<(tensor<4xf16>), groups = #groups>) {
  // expected-error @+1 {{R9: size 4 of dim 0 has no equal shares of 3}}
  %r = ktdp.inter_tile_scatter(%f) consumer_tiles_per_group = #set, scatter_dimensions = [0] : <(tensor<4xf16>), groups = #groups> -> tensor<3xf16>
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @made_of(%f: !ktdp.tile_future<(tensor<4xf16>), groups = #groups>) {
  // expected-error @+1 {{R12: size 6 of dim 0 is not made of partials of 4}}
  %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #set, gather_dimensions = [0] : <(tensor<4xf16>), groups = #groups> -> tensor<6xf16>
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @results(%f: !ktdp.tile_future<(tensor<4xf16>), groups = #groups>) {
  // expected-error @+1 {{has 2 results, the future has 1 roles}}
  %r:2 = ktdp.inter_tile_consume(%f) consumer_tiles_per_group = #set : <(tensor<4xf16>), groups = #groups> -> tensor<4xf16>, tensor<4xf16>
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @no_identity(%f: !ktdp.tile_future<(tensor<4xf16>), groups = #groups>) {
  // expected-error @+1 {{R11: has 0 identities, the future has 1 roles}}
  %r = ktdp.inter_tile_reduce(%f) consumer_tiles_per_group = #set : <(tensor<4xf16>), groups = #groups> -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf16>, %b: tensor<4xf16>):
    ktdp.yield_reduced %a : tensor<4xf16>
  }
  return
}

// -----

// The identity is of the partials' type, not of the result's.
#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @identity(%f: !ktdp.tile_future<(tensor<4xf16>), groups = #groups>, %z: tensor<1xf16>) {
  // expected-error @+1 {{R11: identity 0 is 'tensor<1xf16>', the partials are 'tensor<4xf16>'}}
  %r = ktdp.inter_tile_reduce_scatter(%f) consumer_tiles_per_group = #set, scatter_dimensions = [0], identity(%z : tensor<1xf16>)
      : <(tensor<4xf16>), groups = #groups> -> tensor<1xf16> {
  ^bb0(%a: tensor<4xf16>, %b: tensor<4xf16>):
    ktdp.yield_reduced %a : tensor<4xf16>
  }
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(i)[g] : (i >= 0)>
func.func @arguments(%f: !ktdp.tile_future<(tensor<4xf16>), groups = #groups>, %z: tensor<4xf16>) {
  // expected-error @+1 {{the region takes two values of each partial's type}}
  %r = ktdp.inter_tile_reduce(%f) consumer_tiles_per_group = #set, identity(%z : tensor<4xf16>)
      : <(tensor<4xf16>), groups = #groups> -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf16>):
    ktdp.yield_reduced %a : tensor<4xf16>
  }
  return
}

// -----

#groups = affine_set<(g) : (g == 0)>
#set = affine_set<(p)[a, b, c] : (p - a == 0)>
#all = affine_set<(i)[g] : (i >= 0)>
func.func @dependency(%f: !ktdp.tile_future<(tensor<4xf16>), groups = #groups>) {
  // expected-error @+1 {{producer_dependency_per_consumer must be a set (p)[c] or (p)[c, g], but has 1 dims and 3 symbols}}
  %r = ktdp.inter_tile_consume(%f) consumer_tiles_per_group = #all, producer_dependency_per_consumer = #set : <(tensor<4xf16>), groups = #groups> -> tensor<4xf16>
  return
}

// -----

func.func @parent(%x: tensor<4xf16>) {
  // expected-error @+1 {{'ktdp.yield_reduced' op expects parent op to be one of 'ktdp.inter_tile_reduce, ktdp.inter_tile_reduce_scatter'}}
  ktdp.yield_reduced %x : tensor<4xf16>
}
