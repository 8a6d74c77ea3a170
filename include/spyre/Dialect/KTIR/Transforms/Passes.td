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
      scf and tensor only.
    - KTIR-2: its `grid`, if it has one, is an array of one to three positive
      numbers, 4096 compute tiles in all at most.
    - KTIR-3: what is loaded or stored has the element type of the tile's base.
    - KTIR-4: `spyre.f16` is "dl16" or "ieee".
    - KTIR-5: an access stays within its view's sizes and coordinate set, on every
      compute tile and in every iteration, as far as its subscripts are known: made
      of constants, compute tile ids, loop variables with known bounds, and index
      arithmetic. Branches that a compute tile does not take are not looked at.
    - KTIR-6: `ct_id` names a compute tile of the grid.

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
}

#endif // SPYRE_DIALECT_KTIR_TRANSFORMS_PASSES
