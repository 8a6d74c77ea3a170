//===- HiddenColumns.cpp - What a mask leaves of each row -------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "HiddenColumns.h"

#include "spyre/Dialect/Spyre/IR/ConstantNumbers.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::spyre;

namespace {
/// A tensor as (others, rows, others, columns, others), in any order of both axes.
struct Strides {
  int64_t row = 1, column = 1;
  SmallVector<int64_t> offsets; ///< of the other axes' places
};
} // namespace

static Strides getStrides(ArrayRef<int64_t> shape, unsigned rowAxis, unsigned columnAxis) {
  Strides strides;
  strides.offsets = {0};
  int64_t stride = 1;
  for (int64_t axis = std::ssize(shape) - 1; axis >= 0; --axis) {
    if (axis == rowAxis) {
      strides.row = stride;
    } else if (axis == columnAxis) {
      strides.column = stride;
    } else if (shape[axis] != 1) {
      SmallVector<int64_t> all;
      for (int64_t offset : strides.offsets)
        for (int64_t i = 0; i < shape[axis]; ++i)
          all.push_back(offset + i * stride);
      strides.offsets = std::move(all);
    }
    stride *= shape[axis];
  }
  return strides;
}

/// What the element at a position is.
enum class Element : uint8_t { Hidden, Clear, Other };

namespace {
/// Reads a mask's elements by their codes.
template <typename Code> struct Reader {
  const Code *codes;
  Code hidden, clear, ignored; ///< bits of `hidden` that do not count
  Element operator()(int64_t i) const {
    return Code(codes[i] & ~ignored) == hidden ? Element::Hidden
           : codes[i] == clear                 ? Element::Clear
                                               : Element::Other;
  }
};
} // namespace

template <typename Code> static const Code *getCodes(ElementsAttr mask) {
  ArrayRef<char> bytes = getElementBytes(mask);
  return bytes.size() == sizeof(Code) * size_t(mask.getNumElements())
             ? reinterpret_cast<const Code *>(bytes.data())
             : nullptr;
}

/// The first and, behind the last, the next of columns \p range that is not hidden, of any of the
/// places that \p offsets name; and what of them is clear at all, from the first on.
template <typename Read>
static std::pair<ColumnRange, ColumnRange> scanRow(const Strides &strides, int64_t row,
                                                   int64_t numColumns, Read read) {
  ColumnRange visible{numColumns, 0};
  auto at = [&](int64_t offset, int64_t column) {
    return read(offset + row * strides.row + column * strides.column);
  };
  for (int64_t offset : strides.offsets) {
    int64_t first = 0, end = numColumns;
    while (first < visible.begin && at(offset, first) == Element::Hidden)
      ++first;
    while (end > visible.end && at(offset, end - 1) == Element::Hidden)
      --end;
    visible = {std::min(visible.begin, first), std::max(visible.end, end)};
  }
  if (visible.size() <= 0)
    return {};
  ColumnRange clear = visible;
  for (int64_t offset : strides.offsets) {
    int64_t end = clear.begin;
    while (end < clear.end && at(offset, end) == Element::Clear)
      ++end;
    clear.end = end;
  }
  return {visible, clear};
}

/// The index along \p axis, which is not the last one, of row \p row of a tensor of \p shape, whose
/// leading dims are counted as one.
static int64_t getIndex(ArrayRef<int64_t> shape, unsigned axis, int64_t row) {
  for (unsigned dim = shape.size() - 2; dim > axis; --dim)
    row /= shape[dim];
  return row % shape[axis];
}

std::optional<VisibleColumns> VisibleColumns::ofRuns(RunsAttr mask, unsigned rowAxis,
                                                     uint64_t hidden, uint64_t clear,
                                                     uint64_t ignored) {
  ArrayRef<int64_t> shape = mask.getType().getShape();
  VisibleColumns visible;
  visible.numColumns = shape.back();
  // Of all places that a row has along other axes.
  constexpr int64_t kNone = -1;
  visible.rows.assign(shape[rowAxis], {{kNone, 0}, {kNone, 0}});
  mask.forEachRow([&](int64_t number, ArrayRef<int64_t> ends, ArrayRef<uint64_t> codes) {
    ColumnRange seen{visible.numColumns, 0}, free;
    int64_t begin = 0;
    for (auto [end, code] : llvm::zip_equal(ends, codes)) {
      if ((code & ~ignored) != hidden) {
        if (seen.end == 0)
          free = seen = {begin, begin};
        seen.end = end;
        if (code == clear && free.end == begin)
          free.end = end;
      }
      begin = end;
    }
    if (seen.end == 0)
      seen = {0, 0};
    Row &row = visible.rows[getIndex(shape, rowAxis, number)];
    if (row.visible.begin == kNone) {
      row = {seen, free};
      return;
    }
    if (row.visible.size() > 0 && seen.size() > 0) {
      row.visible = {std::min(row.visible.begin, seen.begin), std::max(row.visible.end, seen.end)};
      row.clear = {std::max(row.clear.begin, free.begin), std::min(row.clear.end, free.end)};
    } else {
      row = {row.visible.size() > 0 ? row.visible : seen, {}};
    }
  });
  return visible;
}

std::optional<VisibleColumns> VisibleColumns::of(ElementsAttr mask, unsigned rowAxis,
                                                 unsigned columnAxis, HiddenBy hiddenBy) {
  ArrayRef<int64_t> shape = mask.getShapedType().getShape();
  assert(rowAxis < shape.size() && columnAxis < shape.size() && rowAxis != columnAxis);
  auto runs = dyn_cast<RunsAttr>(mask);
  if (runs && columnAxis + 1 != shape.size())
    return std::nullopt;
  const Strides strides = runs ? Strides() : getStrides(shape, rowAxis, columnAxis);
  VisibleColumns visible;
  visible.numColumns = shape[columnAxis];
  auto scan = [&](auto read) {
    for (int64_t row = 0; row < shape[rowAxis]; ++row) {
      auto [seen, clear] = scanRow(strides, row, visible.numColumns, read);
      visible.rows.push_back({seen, clear});
    }
  };
  Type type = mask.getElementType();
  if (type.isInteger(1)) {
    const bool byTrue = hiddenBy == HiddenBy::True;
    if (runs && hiddenBy != HiddenBy::NegInf)
      return ofRuns(runs, rowAxis, byTrue, !byTrue, 0);
    auto dense = dyn_cast<DenseIntElementsAttr>(mask);
    if (!dense || dense.isSplat() || hiddenBy == HiddenBy::NegInf)
      return std::nullopt;
    SmallVector<bool> values = llvm::to_vector(dense.getValues<bool>());
    scan([&](int64_t i) { return values[i] == byTrue ? Element::Hidden : Element::Clear; });
    return visible;
  }
  auto element = dyn_cast<FloatType>(type);
  if (!element || hiddenBy == HiddenBy::True)
    return std::nullopt;
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  const bool byZero = hiddenBy == HiddenBy::Zero;
  auto getCode = [](const APFloat &number) { return number.bitcastToAPInt().getZExtValue(); };
  const uint64_t hidden =
      getCode(byZero ? APFloat::getZero(semantics) : APFloat::getInf(semantics, true));
  const uint64_t clear = getCode(byZero ? APFloat::getOne(semantics) : APFloat::getZero(semantics));
  // Zeros of both signs hide.
  if (runs)
    return ofRuns(runs, rowAxis, hidden, clear,
                  byZero ? uint64_t(1) << (element.getWidth() - 1) : 0);
  if (const auto *codes = element.getWidth() == 32 ? getCodes<uint32_t>(mask) : nullptr)
    scan(Reader<uint32_t>{codes, uint32_t(hidden), uint32_t(clear), byZero ? 1U << 31 : 0});
  else if (const auto *codes = element.getWidth() == 16 ? getCodes<uint16_t>(mask) : nullptr)
    scan(Reader<uint16_t>{codes, uint16_t(hidden), uint16_t(clear),
                          uint16_t(byZero ? 1U << 15 : 0)});
  else
    return std::nullopt;
  return visible;
}

/// \p parts, of those that are not clear pieces of at most \p most columns.
static SmallVector<ColumnPart> cutWide(ArrayRef<ColumnPart> parts, int64_t most) {
  SmallVector<ColumnPart> pieces;
  for (auto [columns, isClear] : parts)
    for (int64_t begin = columns.begin, end; begin < columns.end; begin = end) {
      end = isClear ? columns.end : std::min(columns.end, begin + most);
      pieces.push_back({{begin, end}, isClear});
    }
  return pieces;
}

SmallVector<ColumnPart> VisibleColumns::getParts(int64_t first, int64_t last, int64_t granularity,
                                                 int64_t mostMasked) const {
  ColumnRange hull{numColumns, 0}, clear{0, numColumns};
  for (const Row &row : ArrayRef(rows).slice(first, last - first)) {
    if (row.visible.size() > 0)
      hull = {std::min(hull.begin, row.visible.begin), std::max(hull.end, row.visible.end)};
    clear = {std::max(clear.begin, row.clear.begin), std::min(clear.end, row.clear.end)};
  }
  if (hull.size() <= 0) // rows that see nothing
    hull = {0, 1};
  hull.begin = hull.begin / granularity * granularity;
  hull.end = std::min<int64_t>(numColumns, llvm::alignTo(hull.end, granularity));
  clear.begin = llvm::alignTo(clear.begin, granularity);
  if (clear.end < hull.end)
    clear.end = clear.end / granularity * granularity;
  if (clear.size() <= 0)
    return cutWide({{hull, false}}, mostMasked);
  SmallVector<ColumnPart> parts{
      {{hull.begin, clear.begin}, false}, {clear, true}, {{clear.end, hull.end}, false}};
  llvm::erase_if(parts, [](const ColumnPart &part) { return part.columns.size() <= 0; });
  return cutWide(parts, mostMasked);
}

SmallVector<ColumnRange> VisibleColumns::getShown(int64_t first, int64_t last) const {
  SmallVector<ColumnRange> shown;
  for (const Row &row : ArrayRef(rows).slice(first, last - first)) {
    if (row.visible.size() > 0 && row.clear.end != row.visible.end)
      return {};
    shown.push_back(row.visible.size() > 0 ? row.visible : ColumnRange());
  }
  return shown;
}

/// The part of \p mask for \p rows and \p columns, of \p shape.
static ElementsAttr cutRuns(RunsAttr mask, unsigned rowAxis, ColumnRange rows, ColumnRange columns,
                            ArrayRef<int64_t> shape) {
  SmallVector<int64_t> counts, ends;
  SmallVector<uint64_t> codes;
  mask.forEachRow([&](int64_t number, ArrayRef<int64_t> itsEnds, ArrayRef<uint64_t> itsCodes) {
    const int64_t row = getIndex(mask.getType().getShape(), rowAxis, number);
    if (row < rows.begin || row >= rows.end)
      return;
    counts.push_back(0);
    int64_t begin = 0;
    for (auto [end, code] : llvm::zip_equal(itsEnds, itsCodes)) {
      const int64_t from = std::max(begin, columns.begin), to = std::min(end, columns.end);
      begin = end;
      if (from >= to)
        continue;
      ends.push_back(to - columns.begin);
      codes.push_back(code);
      ++counts.back();
    }
  });
  return RunsAttr::getElements(RankedTensorType::get(shape, mask.getElementType()), counts, ends,
                               codes);
}

ElementsAttr mlir::spyre::cutMask(ElementsAttr mask, unsigned rowAxis, ColumnRange rows,
                                  unsigned columnAxis, ColumnRange columns) {
  ArrayRef<int64_t> whole = mask.getShapedType().getShape();
  SmallVector<int64_t> shape(whole), begin(whole.size(), 0);
  shape[rowAxis] = rows.size();
  shape[columnAxis] = columns.size();
  begin[rowAxis] = rows.begin;
  begin[columnAxis] = columns.begin;
  if (auto runs = dyn_cast<RunsAttr>(mask))
    return columnAxis + 1 == whole.size() ? cutRuns(runs, rowAxis, rows, columns, shape)
                                          : ElementsAttr();
  // The places of the part's elements, row-major.
  SmallVector<int64_t> strides = computeSuffixProduct(whole), places{0};
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    SmallVector<int64_t> next;
    next.reserve(places.size() * extent);
    for (int64_t place : places)
      for (int64_t i = 0; i < extent; ++i)
        next.push_back(place + (begin[axis] + i) * strides[axis]);
    places = std::move(next);
  }
  Type element = mask.getElementType();
  if (element.isInteger(1)) {
    auto dense = dyn_cast<DenseIntElementsAttr>(mask);
    if (!dense)
      return {};
    SmallVector<bool> values = llvm::to_vector(dense.getValues<bool>()), cut;
    for (int64_t place : places)
      cut.push_back(values[place]);
    return DenseElementsAttr::get(RankedTensorType::get(shape, element), ArrayRef<bool>(cut));
  }
  auto gather = [&](auto *codes) {
    SmallVector<std::remove_const_t<std::remove_pointer_t<decltype(codes)>>> cut;
    cut.reserve(places.size());
    for (int64_t place : places)
      cut.push_back(codes[place]);
    return cut;
  };
  auto make = [&](auto &cut) -> ElementsAttr {
    return DenseElementsAttr::getFromRawBuffer(
        RankedTensorType::get(shape, element),
        ArrayRef<char>(reinterpret_cast<const char *>(cut.data()), cut.size() * sizeof(cut[0])));
  };
  if (const auto *codes =
          element.getIntOrFloatBitWidth() == 16 ? getCodes<uint16_t>(mask) : nullptr) {
    auto cut = gather(codes);
    return make(cut);
  }
  const auto *codes = element.isF32() ? getCodes<uint32_t>(mask) : nullptr;
  if (!codes)
    return {};
  auto cut = gather(codes);
  return make(cut);
}
