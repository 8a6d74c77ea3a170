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
// place for the stick count. Source of the rules: docs/formats/superdsc-rules.md, e.1.
//
//===----------------------------------------------------------------------===//

#include "spyre/Layout/Alignment.h"

#include <algorithm>
#include <numeric>

namespace spyre::layout {

namespace {

/// Rounded up; a sum of the two might not fit.
int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

/// A digit that runs through an operand's stick.
struct StickTile {
  unsigned input = 0;
  int64_t start = 1;      ///< the digit's divisor
  int64_t stop = 1;       ///< start * elements: the tile's boundary
  int64_t elements = 1;   ///< in one stick
  bool isCounted = false; ///< another digit continues the tile's: the count of sticks
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
  /// The kept dim of extent 1 that belongs to a device dim, or -1.
  int getUnitDim(unsigned access, unsigned deviceDim) const;
  /// The tile of \p access that ends at \p boundary and goes on in a count, or null.
  const StickTile *getTileBelow(unsigned access, unsigned input, int64_t boundary) const;
  bool makeDims();
  bool addSegments(unsigned input, const std::vector<int64_t> &breakpoints);
  bool placeAccesses();
  bool placeCoordinate(unsigned access, unsigned deviceDim);
  bool placeStick(unsigned access, unsigned deviceDim);
  bool expandDigit(const Digit &digit, unsigned access,
                   std::vector<std::pair<int64_t, AlignedCoordinate>> &terms);
  void padRanks();

  const std::vector<AlignDim> &dims;
  const std::vector<AlignAccess> &accesses;
  std::vector<int64_t> extents;
  std::vector<std::vector<StickTile>> tiles; ///< per access
  /// Per iteration dim: positions of its segments in result.dims, innermost first.
  std::vector<std::vector<unsigned>> segments;
  std::vector<unsigned> unitDims; ///< loop dims made for constants
  Alignment result;
  AlignError error;
};

bool Aligner::findSticks() {
  tiles.resize(accesses.size());
  for (unsigned a = 0; a < accesses.size(); ++a) {
    size_t rank = accesses[a].coordinates.size();
    for (size_t d = rank - accesses[a].stickRank; d < rank; ++d) {
      const IndexExpr &expr = accesses[a].coordinates[d];
      if (int unit = getUnitDim(a, unsigned(d)); unit != -1) {
        int64_t elements = accesses[a].deviceSizes[d];
        tiles[a].push_back({unsigned(unit), 1, elements, elements, true});
        continue;
      }
      if (expr.digits.empty()) {
        if (expr.constant != 0)
          return fail("an element inside a stick is accessed alone (place " +
                          std::to_string(expr.constant) + ")",
                      int(a));
        if (accesses[a].stickRank > 1)
          return fail("a dim of a two-dimensional stick is not iterated over", int(a));
        continue;
      }
      if (expr.digits.size() != 1)
        return fail("several iteration dims share one stick: " + toString(expr), int(a));
      const Digit &digit = expr.digits.front();
      if (expr.constant != 0 || digit.coefficient != 1)
        return fail("the stick is accessed at " + toString(expr) +
                        ": a slice must start on a stick and have no gaps in it",
                    int(a));
      int64_t elements = accesses[a].deviceSizes[d];
      tiles[a].push_back({digit.input, digit.divisor, digit.divisor * elements, elements, false});
    }
    for (size_t d = 0; d < rank - accesses[a].stickRank; ++d)
      for (const Digit &digit : accesses[a].coordinates[d].digits)
        for (StickTile &tile : tiles[a])
          tile.isCounted |= tile.input == digit.input && tile.stop == digit.divisor;
  }
  return true;
}

int Aligner::getUnitDim(unsigned access, unsigned deviceDim) const {
  for (const auto &[place, dim] : accesses[access].unitDims)
    if (place == deviceDim)
      return int(dim);
  return -1;
}

const StickTile *Aligner::getTileBelow(unsigned access, unsigned input, int64_t boundary) const {
  for (const StickTile &tile : tiles[access])
    if (tile.isCounted && tile.input == input && tile.stop == boundary)
      return &tile;
  return nullptr;
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
      for (unsigned d = 0; d < accesses[a].coordinates.size(); ++d)
        for (const Digit &digit : accesses[a].coordinates[d].digits) {
          if (digit.input != i)
            continue;
          // Only the count of sticks may start where a stick's tile ends.
          bool isInStick = d + accesses[a].stickRank >= accesses[a].coordinates.size();
          if (digit.divisor != 1 && (isInStick || !getTileBelow(a, i, digit.divisor)))
            breakpoints.push_back(digit.divisor);
          int64_t stop = digit.divisor * digit.modulus;
          if (stop != 0 && !getTileBelow(a, i, stop))
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
    for (const std::vector<StickTile> &ofAccess : tiles)
      for (const StickTile &tile : ofAccess)
        if (tile.input == input && tile.start == dim.unit)
          elements = std::max(elements, tile.elements);
    dim.split = std::gcd(split, ceilDiv(dim.size, elements));
    split /= dim.split;
  }
  if (split != 1)
    return fail(name + " cannot be split in " + std::to_string(dims[input].split) +
                " equal slices");
  return true;
}

/// Appends the loop dims of \p digit with their coefficients.
bool Aligner::expandDigit(const Digit &digit, unsigned access,
                          std::vector<std::pair<int64_t, AlignedCoordinate>> &terms) {
  const StickTile *tile = getTileBelow(access, digit.input, digit.divisor);
  int64_t begin = tile ? tile->start : digit.divisor;
  int64_t stop = digit.modulus == 0 ? 0 : digit.divisor * digit.modulus;
  for (unsigned position : segments[digit.input]) {
    const AlignedDim &dim = result.dims[position];
    if (dim.unit < begin || (stop != 0 && dim.unit >= stop))
      continue;
    if (tile && dim.unit == begin) {
      if (dim.size > tile->elements)
        terms.push_back({digit.coefficient, {CoordinateKind::Count, int(position), 0}});
      continue;
    }
    if (dim.unit % digit.divisor != 0)
      return fail("a stick of iteration dim " + std::to_string(digit.input) +
                      " straddles the loop dims that others need",
                  int(access));
    terms.push_back({digit.coefficient * (dim.unit / digit.divisor),
                     {CoordinateKind::Whole, int(position), 0}});
  }
  return true;
}

/// Appends a device dim within the stick.
bool Aligner::placeStick(unsigned access, unsigned deviceDim) {
  const AlignAccess &in = accesses[access];
  AlignedAccess &out = result.accesses[access];
  AlignedCoordinate coordinate;
  if (int unit = getUnitDim(access, deviceDim); unit != -1) {
    coordinate = {CoordinateKind::Within, int(segments[size_t(unit)].front()), 0};
  } else if (!in.coordinates[deviceDim].digits.empty()) {
    const Digit &digit = in.coordinates[deviceDim].digits.front();
    int64_t stop = digit.divisor * in.deviceSizes[deviceDim];
    for (unsigned position : segments[digit.input]) {
      const AlignedDim &dim = result.dims[position];
      if (dim.unit < digit.divisor || dim.unit >= stop)
        continue;
      if (coordinate.dim != -1)
        return fail("two loop dims of sizes " + std::to_string(result.dims[coordinate.dim].size) +
                        " and " + std::to_string(dim.size) + " share one stick",
                    int(access));
      coordinate = {CoordinateKind::Within, int(position), 0};
    }
  }
  out.deviceSizes.push_back(in.deviceSizes[deviceDim]);
  out.coordinates.push_back(coordinate);
  out.sources.push_back(int(deviceDim));
  return true;
}

/// Appends the dims that device dim \p deviceDim becomes.
bool Aligner::placeCoordinate(unsigned access, unsigned deviceDim) {
  const AlignAccess &in = accesses[access];
  AlignedAccess &out = result.accesses[access];
  const IndexExpr &expr = in.coordinates[deviceDim];
  int64_t size = in.deviceSizes[deviceDim];

  auto append = [&](int64_t newSize, AlignedCoordinate coordinate) {
    out.deviceSizes.push_back(newSize);
    out.coordinates.push_back(coordinate);
    out.sources.push_back(int(deviceDim));
  };
  if (int(deviceDim) == in.indirectDim) {
    append(size, {CoordinateKind::Indirect, -1, 0});
    return true;
  }
  std::vector<std::pair<int64_t, AlignedCoordinate>> terms;
  for (const Digit &digit : expr.digits)
    if (!expandDigit(digit, access, terms))
      return false;
  std::sort(terms.begin(), terms.end(),
            [](const auto &a, const auto &b) { return a.first > b.first; });

  // [size] becomes [size / c0, c0 / c1, ..., cn]: one dim a term, and the place
  // inside the step of the last one.
  auto numValues = [&](const AlignedCoordinate &coordinate) {
    int64_t values = result.dims[coordinate.dim].size;
    if (coordinate.kind != CoordinateKind::Count)
      return values;
    const AlignedDim &dim = result.dims[coordinate.dim];
    for (const StickTile &tile : tiles[access])
      if (int(tile.input) == dim.source && tile.start == dim.unit)
        return ceilDiv(values, tile.elements);
    return values;
  };
  int64_t outer = size, constant = expr.constant;
  // Nothing depends on the size of the outermost dim: it may be rounded up.
  bool isOutermost = std::all_of(in.deviceSizes.begin(), in.deviceSizes.begin() + deviceDim,
                                 [](int64_t outerSize) { return outerSize == 1; });
  for (auto &[coefficient, coordinate] : terms) {
    if (isOutermost && &coefficient == &terms.front().first && coefficient > 0)
      outer = ceilDiv(outer, coefficient) * coefficient;
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
    result.accesses[a].stickRank = accesses[a].stickRank;
    for (unsigned d = 0; d < accesses[a].coordinates.size(); ++d) {
      if (d + accesses[a].stickRank >= accesses[a].coordinates.size()) {
        if (!placeStick(a, d))
          return false;
        continue;
      }
      if (int unit = getUnitDim(a, d); unit != -1) {
        bool isInStick = std::any_of(tiles[a].begin(), tiles[a].end(), [&](const StickTile &tile) {
          return int(tile.input) == unit;
        });
        result.accesses[a].deviceSizes.push_back(accesses[a].deviceSizes[d]);
        result.accesses[a].coordinates.push_back(
            {isInStick ? CoordinateKind::Count : CoordinateKind::Whole,
             int(segments[size_t(unit)].front()), 0});
        result.accesses[a].sources.push_back(int(d));
        continue;
      }
      if (!placeCoordinate(a, d))
        return false;
    }
  }
  return true;
}

void Aligner::padRanks() {
  // Stick dims without a place for the count of sticks; an operand without a dim
  // in its stick needs a place as well.
  auto getMissing = [](const AlignedAccess &access) {
    std::vector<int> missing;
    for (size_t i = access.coordinates.size() - access.stickRank; i < access.coordinates.size();
         ++i) {
      int dim = access.coordinates[i].dim;
      bool counts =
          std::any_of(access.coordinates.begin(), access.coordinates.end(),
                      [&](const AlignedCoordinate &coordinate) {
                        return coordinate.kind == CoordinateKind::Count && coordinate.dim == dim;
                      });
      if (!counts)
        missing.push_back(dim);
    }
    return missing;
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
      access.sources.insert(access.sources.begin(), -1);
      access.coordinates.insert(access.coordinates.begin(),
                                {CoordinateKind::Whole, int(unitDims[u]), 0});
    }
  size_t rank = 0;
  for (const AlignedAccess &access : result.accesses)
    rank = std::max(rank, access.coordinates.size() + getMissing(access).size());
  for (AlignedAccess &access : result.accesses) {
    std::vector<int> missing = getMissing(access);
    size_t added = rank - access.coordinates.size();
    access.deviceSizes.insert(access.deviceSizes.begin(), added, 1);
    access.sources.insert(access.sources.begin(), added, -1);
    access.coordinates.insert(access.coordinates.begin(), added, {});
    for (size_t i = 0; i < missing.size(); ++i)
      if (missing[i] != -1)
        access.coordinates[i] = {CoordinateKind::Count, missing[i], 0};
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
