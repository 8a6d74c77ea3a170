//===- Passes.td - Passes on KTIR -------------------------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contract of KTIR beyond single operations.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_KTIR_TRANSFORMS_PASSES
#define SPYRE_DIALECT_KTIR_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def KtirCheckLegality : Pass<"ktir-check-legality", "::mlir::ModuleOp"> {
  let summary = "Check the rules of kernels that no single operation can check";
  let description = [{
    The pass reports all violations, each with its number, then fails. A kernel is a function
    with an operation of `ktdp`.

    - KTIR-1: a kernel has operations of arith, func, ktdp, linalg, math, memref,
      scf, spyreop and tensor only.
    - KTIR-2: its `grid`, if it has one, is an array of one to three positive
      numbers, 4096 compute tiles in all at most. Without one there are as many
      tiles as the sets of inter-tile operations name.
    - KTIR-3: what is loaded or stored has the element type of the tile's base.
    - KTIR-4: `spyre.f16` is "dl16" or "ieee".
    - KTIR-5: an access stays within its view's sizes and coordinate set, on every
      compute tile and in every iteration, as far as its subscripts are known: made
      of constants, compute tile ids, loop variables with known bounds, and index
      arithmetic. Branches that a compute tile does not take are not looked at. What
      an index view holds is not known.
    - KTIR-6: `ct_id` and the sets of tiles name compute tiles of the grid.
    - KTIR-7: the parts of a distributed view have no coordinate in common, own no
      more than their views have, and span the view's shape.
    - KTIR-8: addresses that are numbers are not negative and, in bytes, multiples
      of an element's; a view of LX ends within it.
    - KTIR-9: what a compute tile holds at once fits in its LX: views of LX while
      they are used, and tensors that are loaded, received or made anew, until their
      last use. Dynamic sizes and addresses count nothing.
    - KTIR-10: no two compute tiles store to one place, unless a delivery between
      tiles comes between the stores, or all tiles store the same there. Reported
      where it is certain.
    - KTIR-11: no compute tile waits for a tile that does not produce, or not as
      often.

    Between tiles, P producers and C consumers a group:

    - R1: no tile produces in two groups; groups are bounded.
    - R2: a future has exactly one use, which delivers it.
    - R3: dependencies are on producers of the group.
    - R4: what a tile produces, some tile receives.
    - R5: nothing to check. Consumers may share sources, also some of them: a
      partial's place follows from the sources of the consumer alone.
    - R6, R7: all consumers have as many sources, all groups as many producers,
      where partials are put side by side.
    - R8: a consumer of `inter_tile_consume` and `inter_tile_scatter` has one source.
    - R9: dims to split along exist, ascend and divide; there are as many shares as
      consumers.
    - R10: what folds is pure.
    - R11: identities are of the partials' types.
    - R12: dims to put partials side by side along exist and ascend; there are as
      many parts as sources.
    - R13, R14: a fold that is not split goes to all producers of the group or to
      one of them.

    R11 and what R9 and R12 say of types are checked by the verifiers already.

    Input, output: KTIR. Lowering: none.

    ```mlir
    // spyre-opt --ktir-check-legality
    #all = affine_set<(d0, d1) : (d0 >= 0, -d0 + 6 >= 0, d1 >= 0, -d1 + 63 >= 0)>
    #box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
    #same = affine_map<(d0, d1) -> (d0, d1)>
    func.func @f(%a: index) attributes {grid = [4]} {
      %id = ktdp.get_compute_tile_id : index
      %v = ktdp.construct_memory_view %a, sizes: [7, 64], strides: [64, 1]
          {coordinate_set = #all, memory_space = #ktdp.memory_space<global>} : memref<7x64xf16>
      // error: KTIR-5: compute tile 3 accesses places 6..7 of dim 0, the view has 0..6
      %t = ktdp.construct_access_tile %v[%id * 2, 0] {access_tile_set = #box, access_tile_order = #same}
          : memref<7x64xf16> -> !ktdp.access_tile<2x64xindex>
      return
    }
    ```
  }];
  let options = [
    Option<"device", "device", "std::string", "\"spyre\"",
           "The device variant whose LX is filled">];
}

#endif // SPYRE_DIALECT_KTIR_TRANSFORMS_PASSES
