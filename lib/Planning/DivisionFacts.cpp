//===- DivisionFacts.cpp - What follows from a work division --------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slice sizes, spans and footprints of given splits, and the construction of problems. Source of
// the rules: docs/formats/superdsc-rules.md, e.3; docs/formats/superdsc-rules.md, e.6.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/WorkDivision.h"

#include <algorithm>
#include <cassert>

namespace spyre::planning {

using layout::IndexExpr;

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Width (max - min) of the values that the digits of input \p dim contribute to
/// \p expr when it runs over one slice; the widest slice counts.
int64_t getWidth(const IndexExpr &expr, unsigned dim, const std::vector<int64_t> &extents,
                 int64_t sliceSize) {
  layout::IndexMap part;
  part.extents = {extents[dim]};
  part.results.emplace_back();
  for (layout::Digit digit : expr.digits) {
    if (digit.input != dim)
      continue;
    digit.input = 0;
    part.results[0].digits.push_back(digit);
  }
  if (part.results[0].digits.empty())
    return 0;
  // Where slices and digits fit into each other, all slices are as wide as the first.
  bool isUniform = std::all_of(
      part.results[0].digits.begin(), part.results[0].digits.end(), [&](const layout::Digit &d) {
        int64_t period = d.divisor * d.modulus;
        return (sliceSize % d.divisor == 0 || d.divisor % sliceSize == 0) &&
               (period == 0 || sliceSize % period == 0 || period % sliceSize == 0);
      });
  int64_t end = isUniform ? std::min(extents[dim], sliceSize) : extents[dim];
  int64_t width = 0;
  for (int64_t begin = 0; begin < end; begin += sliceSize) {
    int64_t size = std::min(sliceSize, extents[dim] - begin);
    layout::Interval interval = layout::getRegion(part, {begin}, {size})[0];
    width = std::max(width, interval.max - interval.min);
  }
  return width;
}

/// True if the device goes through whole sticks of \p dim also where no operand's stick ends there:
/// of both dims that a restickify turns, and of what a product contracts.
bool hasWholeSticks(const DivisionProblem &problem, const DivisionDim &dim) {
  return dim.extent % dim.elementsPerStick != 0 &&
         (problem.kind == OperationKind::Restickify ||
          (problem.kind == OperationKind::Matmul && dim.isReduced));
}

/// Places of device dim \p coordinate that one core touches. \p ofSticks: as far as the device
/// goes; else those that have elements.
int64_t getPlaces(const DivisionProblem &problem, const DivisionOperand &operand, size_t coordinate,
                  const Splits &splits, bool ofSticks) {
  int64_t places = 1;
  for (unsigned dim = 0; dim < problem.dims.size(); ++dim) {
    const DivisionDim &described = problem.dims[dim];
    const IndexExpr &expr = operand.deviceCoordinates.results[coordinate];
    const std::vector<int64_t> &extents = operand.deviceCoordinates.extents;
    const int64_t size = getSliceSize(described, splits[dim]);
    if (!ofSticks || !hasWholeSticks(problem, described)) {
      places += getWidth(expr, dim, extents, size);
      continue;
    }
    std::vector<int64_t> whole = extents;
    whole[dim] = getNumUnits(described) * described.elementsPerStick;
    places += getWidth(expr, dim, whole, splits[dim] == 1 ? whole[dim] : size);
  }
  return std::min(places, operand.deviceSizes[coordinate]);
}

} // namespace

int64_t getNumUnits(const DivisionDim &dim) {
  return std::max<int64_t>(1, ceilDiv(dim.extent, dim.elementsPerStick));
}

int64_t getSliceSize(const DivisionDim &dim, int64_t split) {
  if (split == 1)
    return std::max<int64_t>(1, dim.extent);
  return getNumUnits(dim) / split * dim.elementsPerStick;
}

int64_t getNumCores(const Splits &splits) {
  int64_t cores = 1;
  for (int64_t split : splits)
    cores *= split;
  return cores;
}

int64_t getPointsPerCore(const DivisionProblem &problem, const Splits &splits) {
  int64_t points = 1;
  for (size_t i = 0; i < splits.size(); ++i)
    points *= std::min(problem.dims[i].extent, getSliceSize(problem.dims[i], splits[i]));
  return points;
}

int64_t getSpanInBytes(const DivisionProblem &problem, const DivisionOperand &operand,
                       const Splits &splits) {
  size_t rank = operand.deviceSizes.size();
  int64_t inner = operand.bytesPerElement;
  for (int64_t size : operand.deviceSizes)
    inner *= size;
  for (size_t i = 0; i + operand.stickRank < rank; ++i) {
    inner /= std::max<int64_t>(1, operand.deviceSizes[i]);
    int64_t places = getPlaces(problem, operand, i, splits, /*ofSticks=*/true);
    if (places > 1)
      return places * inner;
  }
  return inner;
}

int64_t getFootprintInBytes(const DivisionProblem &problem, const DivisionOperand &operand,
                            const Splits &splits) {
  size_t rank = operand.deviceSizes.size();
  int64_t bytes = operand.bytesPerElement;
  for (size_t i = 0; i < rank; ++i)
    bytes *= i + operand.stickRank < rank
                 ? getPlaces(problem, operand, i, splits, /*ofSticks=*/false)
                 : operand.deviceSizes[i];
  return bytes;
}

std::variant<DivisionOperand, DivisionError>
makeOperand(const layout::Access &access, const layout::TensorLayout &layout, bool isOutput) {
  auto coordinates = layout::getDeviceCoordinates(layout, access.map);
  if (auto *error = std::get_if<layout::LayoutError>(&coordinates))
    return DivisionError{error->message};
  DivisionOperand operand;
  operand.deviceCoordinates = std::get<layout::IndexMap>(coordinates);
  operand.deviceSizes = layout::getDeviceSizes(layout);
  // A sparse layout has a synthetic dim in the stick's place.
  operand.stickRank = std::max<unsigned>(1, layout::getStickDims(layout).size());
  int64_t elements = layout::getNumElementsInMemory(layout);
  operand.bytesPerElement = elements > 0 ? layout::getSizeInBytes(layout) / elements : 1;
  operand.isOutput = isOutput;
  return operand;
}

void setElementsPerStick(DivisionProblem &problem) {
  for (DivisionDim &dim : problem.dims)
    dim.elementsPerStick = 1;
  for (const DivisionOperand &operand : problem.operands) {
    size_t rank = operand.deviceSizes.size();
    for (size_t i = rank - std::min<size_t>(rank, operand.stickRank); i < rank; ++i) {
      for (unsigned dim = 0; dim < problem.dims.size(); ++dim) {
        // Each dim in the stick counts with its own steps: with x = 2*d0 + d1 in a
        // stick of 64, one stick holds 32 of d0.
        for (const layout::Digit &digit : operand.deviceCoordinates.results[i].digits) {
          if (digit.input != dim)
            continue;
          int64_t step = std::max<int64_t>(1, std::abs(digit.coefficient));
          int64_t elements = std::max<int64_t>(1, operand.deviceSizes[i] / step) * digit.divisor;
          problem.dims[dim].elementsPerStick =
              std::max(problem.dims[dim].elementsPerStick, elements);
        }
      }
    }
  }
}

void setMatmulRoles(DivisionProblem &problem) {
  if (problem.operands.size() != 3)
    return;
  for (unsigned dim = 0; dim < problem.dims.size(); ++dim) {
    bool in[3];
    for (size_t k = 0; k < 3; ++k) {
      const auto &results = problem.operands[k].deviceCoordinates.results;
      in[k] = std::any_of(results.begin(), results.end(),
                          [&](const IndexExpr &expr) { return layout::dependsOn(expr, dim); });
    }
    problem.dims[dim].role = getMatmulRole(in[0], in[1], in[2]);
  }
}

DivisionProblem withExtents(DivisionProblem problem, const std::vector<int64_t> &extents) {
  for (size_t dim = 0; dim < extents.size(); ++dim) {
    problem.dims[dim].extent = extents[dim];
    for (DivisionOperand &operand : problem.operands)
      operand.deviceCoordinates.extents[dim] = extents[dim];
  }
  return problem;
}

bool wantsKFast(const DivisionProblem &problem, const Splits &splits) {
  return problem.kind == OperationKind::Matmul && splits.size() >= 3 && splits.back() > 1;
}

layout::Spread makeSpread(const std::vector<DivisionDim> &dims, const Splits &splits, bool kFast) {
  std::vector<layout::SpreadDim> spread(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    spread[i] = {dims[i].extent, splits[i], getSliceSize(dims[i], splits[i])};
  return layout::makeSpread(std::move(spread), kFast);
}

} // namespace spyre::planning
