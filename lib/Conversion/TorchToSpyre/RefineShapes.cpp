//===- RefineShapes.cpp - Sizes that the operands tell --------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The exporter's own decompositions leave `?` in the types of slices whose bounds are
// constants. See Passes.td.
//
//===----------------------------------------------------------------------===//

#include "spyre/Conversion/TorchToSpyre/TorchToSpyre.h"
#include "spyre/Dialect/Torch/IR/TorchOps.h"

#include <algorithm>

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREREFINETORCHSHAPES
#include "spyre/Conversion/TorchToSpyre/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;

/// Bound \p value of a slice of \p extent elements, from the end if negative; none:
/// \p otherwise. Nothing if the program computes it.
static std::optional<int64_t> getBound(Value value, int64_t extent, int64_t otherwise) {
  if (torch_reader::isNone(value))
    return otherwise;
  std::optional<int64_t> given = torch_reader::getConstantInt(value);
  if (!given)
    return std::nullopt;
  return std::clamp<int64_t>(*given < 0 ? *given + extent : *given, 0, extent);
}

/// slice.Tensor(source, dim, start, end, step).
static void refineSlice(Operation *op) {
  auto type = dyn_cast<torch_reader::ValueTensorType>(op->getResult(0).getType());
  std::optional<ArrayRef<int64_t>> sizes =
      torch_reader::getTensorShape(op->getOperand(0).getType());
  if (!type || !type.getHasSizes() || !sizes || op->getNumOperands() != 5 ||
      !llvm::is_contained(type.getSizes(), ShapedType::kDynamic) ||
      llvm::is_contained(*sizes, ShapedType::kDynamic) || type.getSizes().size() != sizes->size())
    return;
  std::optional<int64_t> dim = torch_reader::getConstantInt(op->getOperand(1)),
                         step = torch_reader::getConstantInt(op->getOperand(4));
  auto rank = static_cast<int64_t>(sizes->size());
  if (!dim || !step || *dim < -rank || *dim >= rank || *step < 1)
    return;
  int64_t at = *dim < 0 ? *dim + rank : *dim, extent = (*sizes)[at];
  std::optional<int64_t> start = getBound(op->getOperand(2), extent, 0),
                         end = getBound(op->getOperand(3), extent, extent);
  if (!start || !end)
    return;
  SmallVector<int64_t> shape(*sizes);
  shape[at] = *end > *start ? llvm::divideCeil(*end - *start, *step) : 0;
  // What the type says already has to agree.
  for (auto [said, known] : llvm::zip(type.getSizes(), shape))
    if (said != ShapedType::kDynamic && said != known)
      return;
  op->getResult(0).setType(torch_reader::ValueTensorType::get(
      op->getContext(), /*hasSizes=*/true, shape, type.getDtype(), type.getSparsity()));
}

namespace {
struct RefineTorchShapesPass
    : mlir::spyre::impl::SpyreRefineTorchShapesBase<RefineTorchShapesPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (torch_reader::isOp(op, "torch.aten.slice.Tensor"))
        refineSlice(op);
    });
  }
};
} // namespace
