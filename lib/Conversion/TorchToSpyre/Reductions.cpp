//===- Reductions.cpp - torch operations that reduce dims -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of reductions: torch name, OpFunc, where the dims and keepdim stand.
// max.dim and min.dim are their values; indices have no device form.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

namespace {
struct Reduction {
  const char *torch, *opFunc;
  int dims = -1;     ///< operand with the dims (an int or a list), -1: all dims
  int keepDims = -1; ///< operand with keepdim, -1: false
};
constexpr Reduction kReductions[] = {
    {"torch.aten.amax", "max", 1, 2},
    {"torch.aten.amin", "min", 1, 2},
    {"torch.aten.max", "max"},
    {"torch.aten.max.dim", "max", 1, 2},
    {"torch.aten.mean", "mean"},
    {"torch.aten.mean.dim", "mean", 1, 2},
    {"torch.aten.min", "min"},
    {"torch.aten.min.dim", "min", 1, 2},
    {"torch.aten.sum", "sum"},
    {"torch.aten.sum.dim_IntList", "sum", 1, 2},
};
} // namespace

static LogicalResult lowerReduction(Lowering &l, const Reduction &entry) {
  RankedTensorType resultType = l.getResultType();
  Type type = resultType.getElementType();
  if (!isHalf(type) && !type.isF32())
    return l.refuse("the device reduces f16, bf16 and f32 only");
  Value x = l.getAs(0, type);
  if (!x)
    return failure();
  int64_t rank = getTensorType(x).getRank();
  if (llvm::is_contained(getTensorType(x).getShape(), 0))
    return l.refuse("a reduction of no elements has no device form");

  SmallVector<int64_t> dims;
  if (entry.dims >= 0 && !l.isNone(entry.dims)) {
    std::optional<SmallVector<int64_t>> given = l.getInts(entry.dims);
    if (!given)
      return failure();
    for (int64_t dim : *given) {
      std::optional<int64_t> normal = l.normalizeDim(dim, std::max<int64_t>(rank, 1));
      if (!normal)
        return failure();
      dims.push_back(*normal);
    }
  }
  if (dims.empty()) // PyTorch: no dims means all of them
    llvm::append_range(dims, llvm::seq<int64_t>(0, rank));
  bool keepDims = false;
  if (entry.keepDims >= 0) {
    std::optional<bool> given = l.getBool(entry.keepDims);
    if (!given)
      return failure();
    keepDims = *given;
  }
  if (rank == 0)
    return l.replaceWith(x);
  llvm::sort(dims);
  dims.erase(llvm::unique(dims), dims.end());
  return l.replaceWith(buildReduction(l.b, l.loc, entry.opFunc, x, dims, keepDims));
}

void torch_lowering::addReductions(HandlerTable &table) {
  for (const Reduction &entry : kReductions)
    table[entry.torch] = onTensor([&entry](Lowering &l) { return lowerReduction(l, entry); });
}
