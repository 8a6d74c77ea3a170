//===- Alignment.cpp - One loop dim per device dim ------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Four steps: (1) every divisor and modulus of a digit becomes a breakpoint of
// its iteration dim, except the stick tile of an operand whose stick that dim
// is; (2) iteration dims become one loop dim a segment, splits are handed out
// from the outermost segment inwards; (3) device dims that several loop dims
// share are split, size-1 dims dropped; (4) all operands get equal rank, with a
// place for the stick count. Source of the rules: SuperDSC reference e.1.
//
//===----------------------------------------------------------------------===//

#include "spyre/Layout/Alignment.h"

#include <algorithm>
#include <numeric>

namespace spyre::layout {

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The digit that runs through an operand's stick.
struct StickTile {
  int input = -1;    ///< iteration dim; -1: no dim in the stick
  int64_t start = 1; ///< the digit's divisor
  int64_t stop = 1;  ///< start * elements per stick: the tile's boundary
};

class Aligner {
public:
  Aligner(const std::vector<AlignDim> &dims, const std::vector<AlignAccess> &accesses)
      : dims(dims), accesses(accesses) {
    for (const AlignDim &dim : dims)
      extents.push_back(dim.extent);
  }

  std::variant<Alignment, AlignError> run() {
    if (findSticks() && makeDims() && placeAccesses())
      padRanks();
    if (!error.message.empty())
      return error;
    return std::move(result);
  }

private:
  bool fail(std::string message, int access = -1) {
    if (error.message.empty())
      error = {std::move(message), access};
    return false;
  }

  bool findSticks();
  bool makeDims();
  bool addSegments(unsigned input, const std::vector<int64_t> &breakpoints);
  bool placeAccesses();
  bool placeCoordinate(unsigned access, unsigned deviceDim);
  bool expandDigit(const Digit &digit, unsigned access, bool isLast,
                   std::vector<std::pair<int64_t, AlignedCoordinate>> &terms);
  void padRanks();

  const std::vector<AlignDim> &dims;
  const std::vector<AlignAccess> &accesses;
  std::vector<int64_t> extents;
  std::vector<StickTile> sticks;
  /// Per iteration dim: positions of its segments in result.dims, innermost first.
  std::vector<std::vector<unsigned>> segments;
  std::vector<unsigned> unitDims; ///< loop dims made for constants
  Alignment result;
  AlignError error;
};

bool Aligner::findSticks() {
  sticks.resize(accesses.size());
  for (unsigned a = 0; a < accesses.size(); ++a) {
    const IndexExpr &last = accesses[a].coordinates.back();
    if (last.digits.empty()) {
      if (last.constant != 0)
        return fail("an element inside a stick is accessed alone (place " +
                        std::to_string(last.constant) + ")",
                    int(a));
      continue;
    }
    if (last.digits.size() != 1)
      return fail("several iteration dims share one stick: " + toString(last), int(a));
    const Digit &digit = last.digits.front();
    if (last.constant != 0 || digit.coefficient != 1)
      return fail("the stick is accessed at " + toString(last) +
                      ": a slice must start on a stick and have no gaps in it",
                  int(a));
    sticks[a] = {int(digit.input), digit.divisor, digit.divisor * accesses[a].elementsPerStick};
  }
  return true;
}

bool Aligner::makeDims() {
  segments.resize(dims.size());
  for (unsigned i = 0; i < dims.size(); ++i) {
    if (extents[i] == 1) {
      if (dims[i].keepUnit) {
        segments[i].push_back(unsigned(result.dims.size()));
        result.dims.push_back({"c" + std::to_string(i), 1, 1, int(i), 1});
      }
      if (dims[i].split != 1)
        return fail("a dim of extent 1 is split in " + std::to_string(dims[i].split));
      continue;
    }
    std::vector<int64_t> breakpoints;
    for (unsigned a = 0; a < accesses.size(); ++a)
      for (const IndexExpr &expr : accesses[a].coordinates)
        for (const Digit &digit : expr.digits) {
          if (digit.input != i)
            continue;
          int64_t tile = sticks[a].input == int(i) ? sticks[a].stop : 0;
          if (digit.divisor != 1 && digit.divisor != tile)
            breakpoints.push_back(digit.divisor);
          int64_t stop = digit.divisor * digit.modulus;
          if (stop != 0 && stop != tile)
            breakpoints.push_back(stop);
        }
    std::sort(breakpoints.begin(), breakpoints.end());
    breakpoints.erase(std::unique(breakpoints.begin(), breakpoints.end()), breakpoints.end());
    if (!addSegments(i, breakpoints))
      return false;
  }
  return true;
}

bool Aligner::addSegments(unsigned input, const std::vector<int64_t> &breakpoints) {
  std::string name =
      "iteration dim " + std::to_string(input) + " (extent " + std::to_string(extents[input]) + ")";
  int64_t start = 1;
  for (size_t s = 0; s <= breakpoints.size(); ++s) {
    int64_t stop = s < breakpoints.size() ? breakpoints[s] : extents[input];
    if (stop % start != 0)
      return fail(name + " would have to be split at " + std::to_string(start) + " and " +
                  std::to_string(stop));
    AlignedDim dim;
    dim.size = stop / start;
    dim.source = int(input);
    dim.unit = start;
    segments[input].push_back(unsigned(result.dims.size()));
    result.dims.push_back(dim);
    start = stop;
  }
  // The split goes to the outermost segments. A segment in a stick is counted in
  // whole sticks, those of the operand with most elements a stick.
  int64_t split = dims[input].split;
  for (size_t s = segments[input].size(); s-- > 0;) {
    AlignedDim &dim = result.dims[segments[input][s]];
    int64_t elements = 1;
    for (unsigned a = 0; a < accesses.size(); ++a)
      if (sticks[a].input == int(input) && sticks[a].start == dim.unit)
        elements = std::max(elements, accesses[a].elementsPerStick);
    dim.split = std::gcd(split, ceilDiv(dim.size, elements));
    split /= dim.split;
  }
  if (split != 1)
    return fail(name + " cannot be split in " + std::to_string(dims[input].split) +
                " equal slices");
  return true;
}

/// Appends the loop dims of \p digit with their coefficients.
bool Aligner::expandDigit(const Digit &digit, unsigned access, bool isLast,
                          std::vector<std::pair<int64_t, AlignedCoordinate>> &terms) {
  const StickTile &stick = sticks[access];
  bool isCount = stick.input == int(digit.input) && digit.divisor == stick.stop && !isLast;
  int64_t begin = isCount ? stick.start : digit.divisor;
  int64_t stop = digit.modulus == 0 ? 0 : digit.divisor * digit.modulus;
  if (isLast)
    stop = stick.stop;
  bool found = false;
  for (unsigned position : segments[digit.input]) {
    const AlignedDim &dim = result.dims[position];
    if (dim.unit < begin || (stop != 0 && dim.unit >= stop))
      continue;
    if (isLast) {
      if (found)
        return fail("two loop dims of sizes " + std::to_string(terms.back().first) + " and " +
                        std::to_string(dim.size) + " share one stick",
                    int(access));
      terms.push_back({1, {CoordinateKind::Within, int(position), 0}});
    } else if (isCount && dim.unit == begin) {
      if (dim.size > accesses[access].elementsPerStick)
        terms.push_back({digit.coefficient, {CoordinateKind::Count, int(position), 0}});
    } else {
      if (dim.unit % digit.divisor != 0)
        return fail("a stick of iteration dim " + std::to_string(digit.input) +
                        " straddles the loop dims that others need",
                    int(access));
      terms.push_back({digit.coefficient * (dim.unit / digit.divisor),
                       {CoordinateKind::Whole, int(position), 0}});
    }
    found = true;
  }
  return true;
}

/// Appends the dims that device dim \p deviceDim becomes.
bool Aligner::placeCoordinate(unsigned access, unsigned deviceDim) {
  const AlignAccess &in = accesses[access];
  AlignedAccess &out = result.accesses[access];
  const IndexExpr &expr = in.coordinates[deviceDim];
  bool isLast = deviceDim + 1 == in.coordinates.size();
  int64_t size = in.deviceSizes[deviceDim];

  auto append = [&](int64_t newSize, AlignedCoordinate coordinate) {
    out.deviceSizes.push_back(newSize);
    out.coordinates.push_back(coordinate);
  };
  if (int(deviceDim) == in.indirectDim) {
    append(size, {CoordinateKind::Indirect, -1, 0});
    return true;
  }
  if (isLast && expr.digits.empty()) {
    append(size, {});
    return true;
  }

  std::vector<std::pair<int64_t, AlignedCoordinate>> terms;
  for (const Digit &digit : expr.digits)
    if (!expandDigit(digit, access, isLast, terms))
      return false;
  if (isLast) {
    out.stickDim = terms.front().second.dim;
    append(size, terms.front().second);
    return true;
  }
  std::sort(terms.begin(), terms.end(),
            [](const auto &a, const auto &b) { return a.first > b.first; });

  // [size] becomes [size / c0, c0 / c1, ..., cn]: one dim a term, and the place
  // inside the step of the last one.
  auto numValues = [&](const AlignedCoordinate &coordinate) {
    int64_t values = result.dims[coordinate.dim].size;
    return coordinate.kind == CoordinateKind::Count ? ceilDiv(values, in.elementsPerStick) : values;
  };
  int64_t outer = size, constant = expr.constant;
  for (auto &[coefficient, coordinate] : terms) {
    if (coefficient <= 0 || outer % coefficient != 0)
      return fail("device dim " + std::to_string(deviceDim) + " of size " + std::to_string(size) +
                      " is accessed at " + toString(expr) + ", a step of " +
                      std::to_string(coefficient) + " does not divide " + std::to_string(outer),
                  int(access));
    int64_t newSize = outer / coefficient;
    coordinate.offset = constant / coefficient;
    constant %= coefficient;
    if (coordinate.offset + numValues(coordinate) > newSize)
      return fail("device dim " + std::to_string(deviceDim) + " of size " + std::to_string(size) +
                      " is accessed at " + toString(expr) + ": its parts overlap",
                  int(access));
    append(newSize, coordinate);
    outer = coefficient;
  }
  // What is left has no loop dim: nothing if there is one place only, else a loop
  // dim of size 1 that names the place.
  if (outer == 1)
    return true;
  AlignedCoordinate coordinate{CoordinateKind::Whole, int(result.dims.size()), constant};
  unitDims.push_back(unsigned(result.dims.size()));
  result.dims.push_back({"", 1, 1, -1, 1});
  append(outer, coordinate);
  return true;
}

bool Aligner::placeAccesses() {
  result.accesses.resize(accesses.size());
  for (unsigned a = 0; a < accesses.size(); ++a) {
    result.accesses[a].elementsPerStick = accesses[a].elementsPerStick;
    for (unsigned d = 0; d < accesses[a].coordinates.size(); ++d) {
      auto unit = std::find_if(accesses[a].unitDims.begin(), accesses[a].unitDims.end(),
                               [&](const auto &pair) { return pair.first == d; });
      if (unit != accesses[a].unitDims.end() && accesses[a].deviceSizes[d] == 1) {
        result.accesses[a].deviceSizes.push_back(1);
        result.accesses[a].coordinates.push_back(
            {CoordinateKind::Whole, int(segments[unit->second].front()), 0});
        continue;
      }
      if (!placeCoordinate(a, d))
        return false;
    }
  }
  return true;
}

void Aligner::padRanks() {
  auto countsSticks = [](const AlignedAccess &access) {
    return std::any_of(access.coordinates.begin(), access.coordinates.end(),
                       [](const AlignedCoordinate &coordinate) {
                         return coordinate.kind == CoordinateKind::Count;
                       });
  };
  // Each operand names the loop dims of constants; in the others they are
  // size-1 dims in front.
  for (AlignedAccess &access : result.accesses)
    for (size_t u = unitDims.size(); u-- > 0;) {
      bool named = std::any_of(
          access.coordinates.begin(), access.coordinates.end(),
          [&](const AlignedCoordinate &coordinate) { return coordinate.dim == int(unitDims[u]); });
      if (named)
        continue;
      access.deviceSizes.insert(access.deviceSizes.begin(), 1);
      access.coordinates.insert(access.coordinates.begin(),
                                {CoordinateKind::Whole, int(unitDims[u]), 0});
    }
  size_t rank = 0;
  for (const AlignedAccess &access : result.accesses)
    rank = std::max(rank, access.coordinates.size() + (countsSticks(access) ? 0 : 1));
  for (AlignedAccess &access : result.accesses) {
    size_t missing = rank - access.coordinates.size();
    access.deviceSizes.insert(access.deviceSizes.begin(), missing, 1);
    access.coordinates.insert(access.coordinates.begin(), missing, {});
    if (access.stickDim != -1 && !countsSticks(access))
      access.coordinates.front() = {CoordinateKind::Count, access.stickDim, 0};
  }

  unsigned fresh = 0;
  for (AlignedDim &dim : result.dims)
    dim.name = dim.source != -1 && dim.unit == 1 ? "c" + std::to_string(dim.source)
                                                 : "z" + std::to_string(fresh++);
}

} // namespace

std::variant<Alignment, AlignError> align(const std::vector<AlignDim> &dims,
                                          const std::vector<AlignAccess> &accesses) {
  return Aligner(dims, accesses).run();
}

} // namespace spyre::layout
