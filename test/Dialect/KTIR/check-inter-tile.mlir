// RUN: spyre-opt %s -split-input-file -verify-diagnostics -ktir-check-legality

// negative: every kind of delivery as it should be.
#quad = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
#first = affine_set<(i)[g] : (i - g * 4 == 0)>
#mirror = affine_set<(p)[c, g] : (p + c - g * 8 - 3 == 0)>
#evens = affine_set<(p)[c, g] : (p - g * 4 >= 0, -p + g * 4 + 3 >= 0, (p - c) mod 2 == 0)>
#all = affine_set<(i)[g] : (i >= 0, -i + 7 >= 0)>
#unbounded = affine_set<(i)[g] : (i >= 0)>
#two = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
#one = affine_set<(g) : (g == 0)>
func.func @legal(%x: tensor<4x64xf16>, %zero: tensor<4x64xf16>) attributes {grid = [8]} {
  %f0 = ktdp.inter_tile_produce producer_tiles_per_group = #first -> <(tensor<4x64xf16>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4x64xf16>
  }
  // Broadcast; many readers of the result.
  %r0 = ktdp.inter_tile_consume(%f0) consumer_tiles_per_group = #quad : <(tensor<4x64xf16>), groups = #two> -> tensor<4x64xf16>
  %f1 = ktdp.inter_tile_produce producer_tiles_per_group = #quad -> <(tensor<4x64xf16>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %r0 : tensor<4x64xf16>
  }
  // Routing.
  %r1 = ktdp.inter_tile_consume(%f1) consumer_tiles_per_group = #quad, producer_dependency_per_consumer = #mirror
      : <(tensor<4x64xf16>), groups = #two> -> tensor<4x64xf16>
  %f2 = ktdp.inter_tile_produce producer_tiles_per_group = #quad -> <(tensor<4x64xf16>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %r0 : tensor<4x64xf16>
  }
  %r2 = ktdp.inter_tile_reduce(%f2) consumer_tiles_per_group = #first, identity(%zero : tensor<4x64xf16>)
      : <(tensor<4x64xf16>), groups = #two> -> tensor<4x64xf16> {
  ^bb0(%a: tensor<4x64xf16>, %b: tensor<4x64xf16>):
    %s = arith.addf %a, %b : tensor<4x64xf16>
    ktdp.yield_reduced %s : tensor<4x64xf16>
  }
  // Two factors whose product is the number of sources.
  %f3 = ktdp.inter_tile_produce producer_tiles_per_group = #quad -> <(tensor<4x64xf16>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4x64xf16>
  }
  %r3 = ktdp.inter_tile_gather(%f3) consumer_tiles_per_group = #quad, gather_dimensions = [0, 1] : <(tensor<4x64xf16>), groups = #two> -> tensor<8x128xf16>
  %f4 = ktdp.inter_tile_produce producer_tiles_per_group = #quad -> <(tensor<4x64xf16>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4x64xf16>
  }
  %r4 = ktdp.inter_tile_gather(%f4) consumer_tiles_per_group = #quad, gather_dimensions = [0],
      producer_dependency_per_consumer = #evens : <(tensor<4x64xf16>), groups = #two> -> tensor<8x64xf16>
  // Consumers that produce nothing; a set without an end goes to that of the grid.
  %f5 = ktdp.inter_tile_produce producer_tiles_per_group = #first -> <(tensor<4x64xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4x64xf16>
  }
  %r5 = ktdp.inter_tile_scatter(%f5) consumer_tiles_per_group = #unbounded, scatter_dimensions = [1] : <(tensor<4x64xf16>), groups = #one> -> tensor<4x8xf16>
  %f6 = ktdp.inter_tile_produce producer_tiles_per_group = #quad -> <(tensor<4x64xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4x64xf16>
  }
  %r6 = ktdp.inter_tile_all_to_all(%f6) consumer_tiles_per_group = #all, split_dimensions = [1], concat_dimensions = [0]
      : <(tensor<4x64xf16>), groups = #one> -> tensor<16x8xf16>
  return
}

// -----

// negative: without a grid there are the tiles that the sets name.
#all = affine_set<(i)[g] : (i >= 0, -i + 7 >= 0)>
#one = affine_set<(g) : (g == 0)>
func.func @no_grid(%x: tensor<4xf16>) {
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> <(tensor<4xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf16>
  }
  %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #all, gather_dimensions = [0] : <(tensor<4xf16>), groups = #one> -> tensor<32xf16>
  return
}

// -----

// negative: the other kind of branch, the same for all tiles that take part.
#pair = affine_set<(i)[g] : (i >= 0, -i + 1 >= 0)>
#one = affine_set<(g) : (g == 0)>
func.func @guarded(%x: tensor<4xf16>) attributes {grid = [8]} {
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %id = ktdp.get_compute_tile_id : index
  %low = arith.cmpi ult, %id, %c2 : index
  scf.if %low {
    scf.for %i = %c0 to %c2 step %c1 {
      %f = ktdp.inter_tile_produce producer_tiles_per_group = #pair -> <(tensor<4xf16>), groups = #one> {
      ^bb0(%gid: index):
        ktdp.yield_partial %x : tensor<4xf16>
      }
      %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #pair, gather_dimensions = [0] : <(tensor<4xf16>), groups = #one> -> tensor<8xf16>
    }
  }
  return
}

// -----

#all = affine_set<(i)[g] : (i >= 0, -i + 7 >= 0)>
#two = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
func.func @r1(%x: tensor<4xf16>) attributes {grid = [8]} {
  // expected-error @+1 {{R1: compute tile 0 produces in groups 0 and 1}}
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> <(tensor<4xf16>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf16>
  }
  %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #all, gather_dimensions = [0] : <(tensor<4xf16>), groups = #two> -> tensor<32xf16>
  return
}

// -----

#all = affine_set<(i)[g] : (i - g >= 0, -i + g >= 0)>
#many = affine_set<(g) : (g >= 0)>
func.func @r1_unbounded(%x: tensor<4xf16>) attributes {grid = [8]} {
  // expected-error @+1 {{R1: the groups are not bounded, or more than 4096}}
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> <(tensor<4xf16>), groups = #many> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf16>
  }
  // expected-error @+1 {{R1: the groups are not bounded, or more than 4096}}
  %r = ktdp.inter_tile_consume(%f) consumer_tiles_per_group = #all : <(tensor<4xf16>), groups = #many> -> tensor<4xf16>
  return
}

// -----

#first = affine_set<(i)[g] : (i == 0)>
#all = affine_set<(i)[g] : (i >= 0, -i + 7 >= 0)>
#one = affine_set<(g) : (g == 0)>
func.func @r2(%x: tensor<4xf16>) attributes {grid = [8]} {
  // expected-error @+1 {{R2: the future has 2 uses; exactly one operation delivers it}}
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #first -> <(tensor<4xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf16>
  }
  // expected-note @+1 {{it is used here}}
  %r = ktdp.inter_tile_consume(%f) consumer_tiles_per_group = #all : <(tensor<4xf16>), groups = #one> -> tensor<4xf16>
  // expected-note @+1 {{it is used here}}
  %s = ktdp.inter_tile_consume(%f) consumer_tiles_per_group = #all : <(tensor<4xf16>), groups = #one> -> tensor<4xf16>
  // expected-error @+1 {{R2: the future has 0 uses}}
  %g = ktdp.inter_tile_produce producer_tiles_per_group = #first -> <(tensor<4xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf16>
  }
  return
}

// -----

#low = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
#all = affine_set<(i)[g] : (i >= 0, -i + 7 >= 0)>
#same = affine_set<(p)[c] : (p - c == 0)>
#one = affine_set<(g) : (g == 0)>
func.func @r3(%x: tensor<4xf16>) attributes {grid = [8]} {
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #low -> <(tensor<4xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf16>
  }
  // expected-error @+1 {{R3: compute tile 4 depends on tile 4, which produces nothing in group 0}}
  %r = ktdp.inter_tile_consume(%f) consumer_tiles_per_group = #all, producer_dependency_per_consumer = #same
      : <(tensor<4xf16>), groups = #one> -> tensor<4xf16>
  return
}

// -----

#all = affine_set<(i)[g] : (i >= 0, -i + 7 >= 0)>
#low = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
#same = affine_set<(p)[c] : (p - c == 0)>
#one = affine_set<(g) : (g == 0)>
func.func @r4(%x: tensor<4xf16>) attributes {grid = [8]} {
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> <(tensor<4xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf16>
  }
  // expected-error @+1 {{R4: nobody receives what compute tile 4 produces in group 0}}
  %r = ktdp.inter_tile_consume(%f) consumer_tiles_per_group = #low, producer_dependency_per_consumer = #same
      : <(tensor<4xf16>), groups = #one> -> tensor<4xf16>
  return
}

// -----

// negative: consumers that share some of their sources (R5): each has its own order of them.
#all = affine_set<(i)[g] : (i >= 0, -i + 7 >= 0)>
#next = affine_set<(p)[c] : (p - c >= 0, -p + c + 1 >= 0)>
#low = affine_set<(i)[g] : (i >= 0, -i + 6 >= 0)>
#one = affine_set<(g) : (g == 0)>
func.func @r5(%x: tensor<4xf16>) attributes {grid = [8]} {
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> <(tensor<4xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf16>
  }
  %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #low, gather_dimensions = [0],
      producer_dependency_per_consumer = #next : <(tensor<4xf16>), groups = #one> -> tensor<8xf16>
  return
}

// -----

#low = affine_set<(i)[g] : (i >= 0, -i + 2 >= 0)>
#pair = affine_set<(i)[g] : (i >= 0, -i + 1 >= 0)>
#uneven = affine_set<(p)[c] : (p - c >= 0, -p + c * 2 >= 0)>
#one = affine_set<(g) : (g == 0)>
func.func @r6(%x: tensor<4xf16>) attributes {grid = [8]} {
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #low -> <(tensor<4xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf16>
  }
  // expected-error @+2 {{R6: compute tiles 0 and 1 have 1 and 2 sources}}
  // expected-error @+1 {{R12: role 0 is put together from 1 partials, compute tile 1 of group 0 has 2 sources}}
  %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #pair, gather_dimensions = [0],
      producer_dependency_per_consumer = #uneven : <(tensor<4xf16>), groups = #one> -> tensor<4xf16>
  return
}

// -----

#uneven = affine_set<(i)[g] : (i - g >= 0, -i + g * 2 >= 0)>
#first = affine_set<(i)[g] : (i - g == 0)>
#two = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
func.func @r7(%x: tensor<4xf16>) attributes {grid = [8]} {
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #uneven -> <(tensor<4xf16>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf16>
  }
  // expected-error @+2 {{R7: groups 0 and 1 have 1 and 2 producers}}
  // expected-error @+1 {{R12: role 0 is put together from 1 partials}}
  %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #first, gather_dimensions = [0]
      : <(tensor<4xf16>), groups = #two> -> tensor<4xf16>
  return
}

// -----

#all = affine_set<(i)[g] : (i >= 0, -i + 7 >= 0)>
#one = affine_set<(g) : (g == 0)>
func.func @r8(%x: tensor<8xf16>) attributes {grid = [8]} {
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> <(tensor<8xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<8xf16>
  }
  // expected-error @+1 {{R8: compute tile 0 of group 0 has 8 sources; it receives from exactly one}}
  %r = ktdp.inter_tile_consume(%f) consumer_tiles_per_group = #all : <(tensor<8xf16>), groups = #one> -> tensor<8xf16>
  %g = ktdp.inter_tile_produce producer_tiles_per_group = #all -> <(tensor<8xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<8xf16>
  }
  // expected-error @+1 {{R8: compute tile 0 of group 0 has 8 sources; it receives from exactly one}}
  %s = ktdp.inter_tile_scatter(%g) consumer_tiles_per_group = #all, scatter_dimensions = [0] : <(tensor<8xf16>), groups = #one> -> tensor<1xf16>
  return
}

// -----

#first = affine_set<(i)[g] : (i == 0)>
#quad = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
#one = affine_set<(g) : (g == 0)>
func.func @r9(%x: tensor<8xf16>) attributes {grid = [8]} {
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #first -> <(tensor<8xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<8xf16>
  }
  // expected-error @+1 {{R9: role 0 is cut into 8 shares, group 0 has 4 consumers}}
  %r = ktdp.inter_tile_scatter(%f) consumer_tiles_per_group = #quad, scatter_dimensions = [0] : <(tensor<8xf16>), groups = #one> -> tensor<1xf16>
  return
}

// -----

#quad = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
#one = affine_set<(g) : (g == 0)>
func.func @r10(%x: tensor<8xf16>, %t: !ktdp.access_tile<8xindex>) attributes {grid = [4]} {
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #quad -> <(tensor<8xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<8xf16>
  }
  // expected-error @+1 {{R10: the region that folds must be pure}}
  %r = ktdp.inter_tile_reduce(%f) consumer_tiles_per_group = #quad, identity(%x : tensor<8xf16>) : <(tensor<8xf16>), groups = #one> -> tensor<8xf16> {
  ^bb0(%a: tensor<8xf16>, %b: tensor<8xf16>):
    // expected-note @+1 {{'ktdp.store' is not}}
    ktdp.store %a, %t : tensor<8xf16>, <8xindex>
    ktdp.yield_reduced %b : tensor<8xf16>
  }
  return
}

// -----

#quad = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
#one = affine_set<(g) : (g == 0)>
func.func @r12(%x: tensor<8x8xf16>) attributes {grid = [4]} {
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #quad -> <(tensor<8x8xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<8x8xf16>
  }
  // expected-error @+1 {{R12: role 0 is put together from 8 partials, compute tile 0 of group 0 has 4 sources}}
  %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #quad, gather_dimensions = [0, 1] : <(tensor<8x8xf16>), groups = #one> -> tensor<16x32xf16>
  return
}

// -----

#pair = affine_set<(i)[g] : (i >= 0, -i + 1 >= 0)>
#quad = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
#one = affine_set<(g) : (g == 0)>
func.func @r13_r14(%x: tensor<8xf16>) attributes {grid = [4]} {
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #pair -> <(tensor<8xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<8xf16>
  }
  // expected-error @+2 {{R13: compute tile 2 receives the fold of group 0, but produces nothing there}}
  // expected-error @+1 {{R14: group 0 has 4 consumers and 2 producers}}
  %r = ktdp.inter_tile_reduce(%f) consumer_tiles_per_group = #quad, identity(%x : tensor<8xf16>) : <(tensor<8xf16>), groups = #one> -> tensor<8xf16> {
  ^bb0(%a: tensor<8xf16>, %b: tensor<8xf16>):
    ktdp.yield_reduced %b : tensor<8xf16>
  }
  return
}

// -----

#all = affine_set<(i)[g] : (i >= 0, -i + 7 >= 0)>
#one = affine_set<(g) : (g == 0)>
func.func @outside(%x: tensor<8xf16>) attributes {grid = [4]} {
  // expected-error @+1 {{KTIR-6: producer_tiles_per_group names compute tile 7 in group 0; the grid has 4}}
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> <(tensor<8xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<8xf16>
  }
  // expected-error @+1 {{KTIR-6: consumer_tiles_per_group names compute tile 7 in group 0; the grid has 4}}
  %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #all, gather_dimensions = [0] : <(tensor<8xf16>), groups = #one> -> tensor<32xf16>
  return
}

// -----

// A tile that takes another branch leaves the others waiting.
#all = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
#one = affine_set<(g) : (g == 0)>
func.func @ktir11(%x: tensor<8xf16>) attributes {grid = [4]} {
  %c3 = arith.constant 3 : index
  %id = ktdp.get_compute_tile_id : index
  %most = arith.cmpi ult, %id, %c3 : index
  scf.if %most {
    // expected-note @+1 {{it is produced here}}
    %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> <(tensor<8xf16>), groups = #one> {
    ^bb0(%gid: index):
      ktdp.yield_partial %x : tensor<8xf16>
    }
    // expected-error @+1 {{KTIR-11: compute tile 0 waits 1 times for tile 3, which produces 0 times}}
    %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #all, gather_dimensions = [0] : <(tensor<8xf16>), groups = #one> -> tensor<32xf16>
  }
  return
}

// -----

// One tile goes through the loop more often than the others.
#all = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
#one = affine_set<(g) : (g == 0)>
func.func @ktir11_loop(%x: tensor<8xf16>) attributes {grid = [4]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %id = ktdp.get_compute_tile_id : index
  scf.for %i = %c0 to %id step %c1 {
    // expected-note @+1 {{it is produced here}}
    %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> <(tensor<8xf16>), groups = #one> {
    ^bb0(%gid: index):
      ktdp.yield_partial %x : tensor<8xf16>
    }
    // expected-error @+1 {{KTIR-11: compute tile 3 waits 3 times for tile 0, which produces 0 times}}
    %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #all, gather_dimensions = [0] : <(tensor<8xf16>), groups = #one> -> tensor<32xf16>
  }
  return
}
