//===- StickAccess.cpp - How an operation meets its operands' sticks -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/StickAccess.h"

#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::spyre;

static const ::spyre::OpFuncInfo &getInfo(DeviceOpInterface op) {
  StringRef name = op.getOpFuncName();
  const ::spyre::OpFuncInfo *info = ::spyre::lookupOpFunc({name.data(), name.size()});
  assert(info && "device ops come from the table");
  return *info;
}

bool mlir::spyre::isMatmul(DeviceOpInterface op) {
  return getInfo(op).category == ::spyre::OpCategory::Batchmatmul;
}

bool mlir::spyre::isReduction(DeviceOpInterface op) {
  return getInfo(op).category == ::spyre::OpCategory::Reduction;
}

bool mlir::spyre::isRestickify(DeviceOpInterface op) {
  return op.getOpFuncName() == "ReStickifyOpHBM";
}

int64_t mlir::spyre::getStickDim(LayoutAttr layout) {
  return layout.getDimOrder().empty() ? -1 : layout.getDimOrder().back();
}

llvm::SmallBitVector mlir::spyre::getUsedDims(AffineMap map) {
  llvm::SmallBitVector used(map.getNumDims());
  for (AffineExpr result : map.getResults())
    result.walk([&](AffineExpr e) {
      if (auto dim = dyn_cast<AffineDimExpr>(e))
        used.set(dim.getPosition());
    });
  return used;
}

MatmulDims mlir::spyre::getMatmulDims(DeviceOpInterface op) {
  llvm::SmallBitVector x = getUsedDims(op.getInputMap(0)), y = getUsedDims(op.getInputMap(1)),
                       o = getUsedDims(op.getOutputMap());
  MatmulDims dims;
  for (unsigned d = 0; d < op.getNumDims(); ++d) {
    if (x[d] && y[d] && !o[d])
      dims.reduction.push_back(d);
    else if (!x[d] && y[d] && o[d])
      dims.generated.push_back(d);
    else if (x[d] && !y[d] && o[d])
      dims.preserved.push_back(d);
    else if (x[d] && y[d] && o[d])
      dims.noReuse.push_back(d);
  }
  return dims;
}

StickAccess mlir::spyre::getStickAccess(ArrayRef<int64_t> shape, LayoutAttr layout, AffineMap map,
                                        ArrayRef<int64_t> ranges) {
  StickAccess access;
  int64_t elements = ::spyre::getElementsPerStick(layout.getFormat());
  if (!layout.getStick().empty()) {
    access.reason = "its stick has two dims";
    return access;
  }
  int64_t stickDim = getStickDim(layout);
  FailureOr<::spyre::layout::IndexMap> index = toIndexMap(map, ranges);
  if (failed(index)) {
    access.reason = "its access map is no sum of digits";
    return access;
  }
  for (auto [dim, expr] : llvm::enumerate(index->results)) {
    // Loop variables only shift the origin; how they do it is checked where
    // tiles are made.
    unsigned digits = 0;
    for (const ::spyre::layout::Digit &digit : expr.digits) {
      if (digit.input >= map.getNumDims())
        continue;
      ++digits;
      if (digit.divisor != 1 || digit.modulus != 0 || digit.coefficient != 1) {
        access.reason = "coordinate " + std::to_string(dim) +
                        " does not advance by one element with one iteration dim";
        return access;
      }
    }
    if (digits > 1) {
      access.reason = "coordinate " + std::to_string(dim) + " mixes iteration dims";
      return access;
    }
  }
  if (stickDim < 0) {
    access.kind = StickAccess::Lane0;
    return access;
  }
  const ::spyre::layout::IndexExpr &expr = index->results[stickDim];
  if (expr.constant % elements) {
    access.reason = "it starts inside a stick, at element " + std::to_string(expr.constant);
    return access;
  }
  access.kind = StickAccess::Lane0;
  for (const ::spyre::layout::Digit &digit : expr.digits) {
    if (digit.input >= map.getNumDims()) {
      if (digit.coefficient % elements) {
        access.kind = StickAccess::Unreadable;
        access.reason = "a loop moves it by part of a stick";
        return access;
      }
      continue;
    }
    access.kind = StickAccess::Dim;
    access.dim = digit.input;
  }
  return access;
}

/// True if the elements of stick dim \p dim that \p op touches in \p value start
/// on a stick and end on one or at the logical end.
static bool endsOnStick(Value value, LayoutAttr layout, AffineMap map, int64_t extent) {
  int64_t elements = ::spyre::getElementsPerStick(layout.getFormat());
  int64_t stickDim = getStickDim(layout);
  if (stickDim < 0 || extent % elements == 0)
    return true;
  int64_t start = 0;
  AffineExpr expr = map.getResult(stickDim);
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr))
    if (auto constant = dyn_cast<AffineConstantExpr>(sum.getRHS()))
      start = constant.getValue();
  return start + extent == getShape(value)[stickDim];
}

StickAccess mlir::spyre::checkSticks(DeviceOpInterface op) {
  StickAccess whole;
  std::optional<SmallVector<int64_t>> tripCounts = getTripCounts(op);
  if (!tripCounts) {
    whole.reason = "its loops have no constant bounds";
    return whole;
  }
  SmallVector<int64_t> ranges(op.getExtents());
  ranges.append(*tripCounts);

  auto accessOf = [&](unsigned i) {
    Value value = i < op.getInputs().size() ? op.getInputs()[i] : op.getDestination();
    StickAccess access = getStickAccess(getShape(value), getLayout(value), op.getMap(i), ranges);
    if (access.kind == StickAccess::Unreadable)
      access.reason =
          (i < op.getInputs().size() ? "input #" + std::to_string(i) : std::string("the output")) +
          " cannot be accessed: " + access.reason;
    return access;
  };
  auto fail = [&](std::string reason) {
    whole.kind = StickAccess::Unreadable;
    whole.reason = std::move(reason);
    return whole;
  };
  unsigned numInputs = op.getInputs().size();
  SmallVector<StickAccess> accesses;
  for (unsigned i = 0; i <= numInputs; ++i) {
    accesses.push_back(accessOf(i));
    if (accesses.back().kind == StickAccess::Unreadable)
      return accesses.back();
  }
  const StickAccess &output = accesses.back();
  if (output.kind == StickAccess::Dim &&
      !endsOnStick(op.getDestination(), getLayout(op.getDestination()), op.getOutputMap(),
                   op.getExtents()[output.dim]))
    return fail("the output region ends inside a stick before the tensor's end; the lanes beyond "
                "it would be overwritten");

  if (isMatmul(op)) {
    MatmulDims dims = getMatmulDims(op);
    auto is = [&](const StickAccess &access, ArrayRef<unsigned> among) {
      return access.kind == StickAccess::Lane0 || llvm::is_contained(among, access.dim);
    };
    if (!is(accesses[0], dims.reduction))
      return fail("input #0 of a contraction must have a reduced dim in its stick");
    if (!is(accesses[1], dims.generated))
      return fail("input #1 of a contraction must have a generated dim in its stick");
    if (!is(output, dims.generated))
      return fail("the output of a contraction must have a generated dim in its stick");
    whole = output;
    return whole;
  }
  if (isRestickify(op)) {
    // One dim leaves the stick, another enters it; either may be a unit dim.
    return output;
  }
  // Everything else: one dim in all sticks, or lane 0 where it is not used.
  whole.kind = StickAccess::Lane0;
  for (unsigned i = 0; i <= numInputs; ++i) {
    if (accesses[i].kind != StickAccess::Dim)
      continue;
    if (whole.kind == StickAccess::Dim && whole.dim != accesses[i].dim)
      return fail("d" + std::to_string(whole.dim) + " lies in the stick of one operand and d" +
                  std::to_string(accesses[i].dim) + " in that of another");
    whole.kind = StickAccess::Dim;
    whole.dim = accesses[i].dim;
  }
  if (whole.kind != StickAccess::Dim)
    return whole;
  for (unsigned i = 0; i <= numInputs; ++i) {
    if (accesses[i].kind == StickAccess::Dim || !getUsedDims(op.getMap(i))[whole.dim])
      continue;
    return fail("d" + std::to_string(whole.dim) +
                " lies in the stick of one operand, but outside that of " +
                (i < numInputs ? "input #" + std::to_string(i) : std::string("the output")));
  }
  return whole;
}
