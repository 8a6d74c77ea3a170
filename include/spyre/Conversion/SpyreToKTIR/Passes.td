//===- Passes.td - L3 to KTIR -----------------------------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emission of KTIR kernels from a planned L3.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_CONVERSION_SPYRETOKTIR_PASSES
#define SPYRE_CONVERSION_SPYRETOKTIR_PASSES

include "mlir/Pass/PassBase.td"

def ConvertSpyreToKTIR : Pass<"convert-spyre-to-ktir", "::mlir::ModuleOp"> {
  let summary = "Planned buffers to a KTIR kernel";
  let description = [{
    Input: one function of L3 with placed buffers, as `spyre-verify-plan` accepts
    it. Output: a kernel of the same name in `ktdp`, `linalg`, `arith`, `math`,
    `tensor` and `scf`, for as many compute tiles as its operations use cores.
    What cannot be emitted is reported in one error with a note an operation, and
    nothing is changed.

    Lowering: the pool (if there is one) and each argument become a base address
    of type `index`; every buffer becomes a view of its device sizes; every
    operation loads what its compute tile needs, computes it with `linalg` and
    stores its result. `docs/developer/ktir.md` says how tiles, sticks and cores
    map.

    ```mlir
    func.func @f(%x: !spyre.buffer<...>, %o: !spyre.buffer<...>) {
      spyre.abs (d0 = 4 / 2, d1 = 64) ins(%x[d0, d1]) outs(%o[d0, d1]) : ...
      return
    }
    // becomes
    func.func @f(%x: index, %o: index) attributes {grid = [2]} {
      %id = ktdp.get_compute_tile_id : index
      %vx = ktdp.construct_memory_view %x, sizes: [1, 4, 64], strides: [256, 64, 1] {...}
      %vo = ktdp.construct_memory_view %o, ...
      %tx = ktdp.construct_access_tile %vx[0, %id * 2, 0] {...} : ... -> !ktdp.access_tile<1x2x64xindex>
      %a = ktdp.load %tx : <1x2x64xindex> -> tensor<1x2x64xf16>
      %r = linalg.generic ... { math.absf }
      %to = ktdp.construct_access_tile %vo[0, %id * 2, 0] ...
      ktdp.store %r, %to : ...
    ```
  }];
  let options = [
    Option<"capacity", "capacity", "int64_t", "0",
           "Bytes of LX for the tiles of an operation; 0: what the device has left">];
  let dependentDialects = ["::mlir::ktdp::KtdpDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

#endif // SPYRE_CONVERSION_SPYRETOKTIR_PASSES
