//===- Passes.td - From plain tensors to tensors with layouts -----*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TRANSFORMS_L2_PASSES
#define SPYRE_TRANSFORMS_L2_PASSES

include "mlir/Pass/PassBase.td"

def SpyreAssignLayouts : Pass<"spyre-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "Give every tensor a device layout (L1 to L2)";
  let description = [{
    Input: L1, views folded, iteration dims split so that each coordinate is one
    dim plus a constant. Output: the same operations on tensors with
    `#spyre.layout`, and the copies that make every operand readable.

    Arguments and results keep the default layout, the calling convention; with `search`, a
    result that the host alone takes (`spyre.on_host`) may have any dim in its stick, as copies
    follow its layout. An operation's stick dim is the one that moves the fewest elements: each operand
    must have it in its stick, or not depend on it and be read from lane 0.
    What does not fit is copied once per value, not once per consumer:
    `spyre.restickify` moves another dim into the stick; a dim that must be
    padded in memory (the contraction dim of a matmul's second operand, both
    dims of a restickify) gets a zero-filled tensor that is as large as the
    padding, into which the value is copied.

    An operation does not see what its result's readers want. With `search`, other choices
    near copies are tried, each with the whole function assigned again, and the one that moves
    the least is kept. That is not always the one that takes the least time, as cores share
    dims: `lib/Compiler` plans both.

    Layouts are those of a device whose casts between 16 and 32 bits keep the order of
    elements, as the emulator's do. Remarks (category `arrangement`) name the operations
    and results that need more where casts reorder the elements of a stick
    (docs/developer/numerics.md).

    ```mlir
    // spyre-opt --spyre-assign-layouts
    // x times w transposed: the stick of w is along k, the device wants n there.
    func.func @f(%x: tensor<32x128xf16>, %w: tensor<192x128xf16>) -> tensor<32x192xf16> {
      %0 = spyre.batchmatmul (d0 = 32, d1 = 192, d2 = 128) ins(%x[d0, d2], %w[d1, d2]) -> [d0, d1] : tensor<32x128xf16>, tensor<192x128xf16> -> tensor<32x192xf16>
      return %0 : tensor<32x192xf16>
    }
    // becomes
    func.func @f(…) -> … {
      %0 = spyre.restickify (d0 = 192, d1 = 128) ins(%arg1[d0, d1]) -> [d0, d1] : tensor<192x128xf16, #spyre.layout<[2, 192, 64], order [0, 1], SEN169_FP16>> -> tensor<192x128xf16, #spyre.layout<[3, 128, 64], order [1, 0], SEN169_FP16>>
      %1 = spyre.batchmatmul (d0 = 32, d1 = 192, d2 = 128) ins(%arg0[d0, d2], %0[d1, d2]) -> [d0, d1] : …
      return %1 : …
    ```
  }];
  let options = [Option<"search", "search", "bool", /*default=*/"false",
                        "Try other stick dims near copies and in results">];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreVerifyLayouts : Pass<"spyre-verify-layouts", "::mlir::func::FuncOp"> {
  let summary = "Check the contract of L2 and report every violation";
  let description = [{
    Input, output: L2. The rules: every tensor has a layout (L2-0); every operand is readable in its operation's stick
    dim (L2-1); a contraction's padded region is zero on one side and finite on
    the other (L2-2); memory that an operation reads beyond the logical extent
    exists (L2-3); results have the default layout, those that the host takes one of whole
    sticks (L2-4); every tensor fits in the device's memory (L2-5); where a layout says that elements are in another order than
    the standard one, orders are those that the operations make, and fit together (L2-6).
    All violations are reported, each with its number.

    ```mlir
    // spyre-opt --spyre-verify-layouts
    !a = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
    !b = tensor<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>>
    func.func @sticks(%x: !a, %y: !b) -> !b {
      // error: L2-1: d0 lies in the stick of one operand and d1 in that of another
      %0 = spyre.add (d0 = 128, d1 = 64) ins(%x[d1, d0], %y[d0, d1]) -> [d0, d1] : !a, !b -> !b
      return %0 : !b
    }
    ```
  }];
}

#endif // SPYRE_TRANSFORMS_L2_PASSES
