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
    `spyreop`, `tensor` and `scf`, for as many compute tiles as its operations use cores.
    What cannot be emitted is reported in one error with a note an operation, and
    nothing is changed.

    Lowering: the pool (if there is one) and each argument become a base address
    of type `index`; every operand becomes a strided view; every
    operation loads what its compute tile needs, computes it with `linalg` and
    stores its result. What depends on another core waits at a barrier.
    `docs/developer/ktir.md` says how tiles, sticks and cores map.

    ```mlir
    // spyre-opt --convert-spyre-to-ktir
    !h = !spyre.buffer<4x64xf16, #spyre.layout<[1, 4, 64], order [0, 1], SEN169_FP16>, hbm>
    func.func @f(%x: !h, %o: !h) {
      spyre.abs (d0 = 4 / 2, d1 = 64) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !h
      return
    }
    // becomes
    module attributes {ktdp.address_unit = "bytes", spyre.f16 = "dl16"} {
      func.func @f(%arg0: index, %arg1: index) attributes {grid = [2]} {
        %0 = ktdp.get_compute_tile_id : index
        %1 = ktdp.construct_memory_view %arg0, sizes: [4, 64], strides: [64, 1] {…} : memref<4x64xf16>
        %2 = ktdp.construct_memory_view %arg1, sizes: [4, 64], strides: [64, 1] {…} : memref<4x64xf16>
        %3 = ktdp.construct_access_tile %1[%0 * 2, 0] {…} : memref<4x64xf16> -> !ktdp.access_tile<2x64xindex>
        %4 = ktdp.load %3 : <2x64xindex> -> tensor<2x64xf16>
        …
          %8 = math.absf %in : f16
        …
        %7 = ktdp.construct_access_tile %2[%0 * 2, 0] {…} : memref<4x64xf16> -> !ktdp.access_tile<2x64xindex>
        ktdp.store %6, %7 : tensor<2x64xf16>, <2x64xindex>
    ```
  }];
  let options = [
    Option<"capacity", "capacity", "int64_t", "0",
           "Bytes of LX for the tiles of an operation; 0: what the device has left">];
  let dependentDialects = ["::mlir::ktdp::KtdpDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::spyreop::SpyreopDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // SPYRE_CONVERSION_SPYRETOKTIR_PASSES
