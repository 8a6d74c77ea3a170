//===- Runs.cpp - Arrays whose rows are a few runs ------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation on elements is cut into segments in which each operand is one run. Those of one
// number each are computed by the host's own operation, all at once; for positions there are
// rules of integer arithmetic here. What has no rule is no array of runs.
//
//===----------------------------------------------------------------------===//

#include "spyre/Host/Runs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace spyre::host {

/// Integers up to here are numbers of a double.
static constexpr double kMostExact = 0x1p53;
/// More segments than that are no few runs a row.
static constexpr size_t kMostSegments = size_t(1) << 22;

/// Of an array of \p shape; the last dim is the columns.
static int64_t countRows(const std::vector<int64_t> &shape) {
  return std::accumulate(shape.begin(), shape.end() - 1, int64_t(1), std::multiplies<>());
}

/// True if \p dtype has each integer from -\p most to \p most.
static bool hasIntegers(HostType dtype, double most) {
  switch (dtype) {
  case HostType::Float64:
  case HostType::Int64:
    return most <= kMostExact;
  case HostType::Float32:
    return most <= 0x1p24;
  case HostType::Float16:
    return most <= 0x1p11;
  case HostType::BFloat16:
    return most <= 0x1p8;
  case HostType::Int32:
    return most <= 0x7fffffff;
  case HostType::Int16:
    return most <= 0x7fff;
  case HostType::Int8:
    return most <= 0x7f;
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Making and reading
//===----------------------------------------------------------------------===//

bool RunArray::isConstantInRuns() const {
  return std::all_of(runs.begin(), runs.end(), [](const Run &run) { return run.step == 0; });
}

namespace {
/// Appends the runs of rows, one after the other.
class RowWriter {
public:
  explicit RowWriter(RunArray &array) : array(array) { array.begin.push_back(0); }

  void append(Run run) {
    const bool isFirst = array.runs.size() == array.begin.back();
    const int64_t start = isFirst ? 0 : array.runs.back().end;
    if (run.end == start)
      return;
    if (run.end - start == 1)
      run.step = 0;
    if (!isFirst) {
      Run &last = array.runs.back();
      const int64_t length =
          last.end -
          (array.runs.size() - 1 == array.begin.back() ? 0 : array.runs[array.runs.size() - 2].end);
      const bool goesOn = run.step == last.step && last.step == 0
                              ? isSame(run.value, last.value)
                              : run.step == last.step &&
                                    run.value == last.value + double(last.step) * double(length);
      if (goesOn) {
        last.end = run.end;
        return;
      }
    }
    array.runs.push_back(run);
  }
  void endRow() { array.begin.push_back(array.runs.size()); }

private:
  /// Zeros of both signs are not the same, NaNs are.
  static bool isSame(double a, double b) {
    return (a == b && std::signbit(a) == std::signbit(b)) || (std::isnan(a) && std::isnan(b));
  }

  RunArray &array;
};
} // namespace

std::optional<RunArray> findRuns(const Array &array, double mostRuns) {
  if (array.isComplex() || array.shape.empty() || array.getNumElements() == 0)
    return std::nullopt;
  RunArray made{array.dtype, array.shape, {}, {}};
  const int64_t columns = array.shape.back(), rows = array.getNumElements() / columns;
  const bool isFloat = array.isFloat();
  RowWriter writer(made);
  for (int64_t row = 0; row < rows; ++row) {
    auto at = [&](int64_t column) { return array.getNumber(row * columns + column); };
    for (int64_t first = 0, end; first < columns; first = end) {
      end = first + 1;
      const double value = at(first);
      double step = 0;
      if (!isFloat && end < columns)
        step = at(end) - value;
      // Two numbers are no positions yet.
      if (step != 0 && (end + 1 >= columns || at(end + 1) - at(end) != step))
        step = 0;
      while (end < columns &&
             (isFloat ? at(end) == value && std::signbit(at(end)) == std::signbit(value)
                      : at(end) == value + step * double(end - first)))
        ++end;
      if (std::abs(value) > kMostExact && !isFloat)
        return std::nullopt;
      writer.append({end, value, int64_t(step)});
      if (double(made.runs.size()) > mostRuns * double(rows))
        return std::nullopt;
    }
    writer.endRow();
  }
  return made;
}

Array expand(const RunArray &runs) {
  Array array = makeArray(runs.dtype, runs.shape);
  const bool isFloat = array.isFloat();
  int64_t i = 0;
  for (int64_t row = 0; row < runs.getNumRows(); ++row) {
    int64_t column = 0;
    for (const Run &run : runs.getRow(row)) {
      const int64_t count = run.end - column;
      for (int64_t k = 0; k < count; ++k, ++i)
        if (isFloat)
          array.numbers[i] = run.at(k);
        else
          array.integers[i] = int64_t(run.value) + run.step * k;
      column = run.end;
    }
  }
  return array;
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

namespace {
/// A part of a row in which each operand is one run.
struct Segment {
  int64_t row, begin, end;
  int64_t size() const { return end - begin; }
};

/// Operands that broadcast to the result's shape, cut into segments.
class Segments {
public:
  bool make(const std::vector<const RunArray *> &operands, const std::vector<int64_t> &shape);

  std::vector<Segment> segments;
  /// Of each operand, one a segment, with the segment's end.
  std::vector<std::vector<Run>> parts;
  bool isConstant(size_t segment) const {
    return std::all_of(parts.begin(), parts.end(),
                       [&](const std::vector<Run> &mine) { return mine[segment].step == 0; });
  }
};
} // namespace

bool Segments::make(const std::vector<const RunArray *> &operands,
                    const std::vector<int64_t> &shape) {
  const size_t rank = shape.size();
  const int64_t columns = shape.back(), rows = countRows(shape);
  // Steps of an operand's rows along the dims of the result.
  std::vector<std::vector<int64_t>> strides;
  for (const RunArray *operand : operands) {
    const size_t own = operand->shape.size();
    if (own > rank)
      return false;
    strides.emplace_back(rank, 0);
    int64_t stride = 1;
    for (size_t i = 0; i < own; ++i) {
      const int64_t extent = operand->shape[own - 1 - i];
      if (extent != 1 && extent != shape[rank - 1 - i])
        return false;
      if (i == 0)
        continue;
      strides.back()[rank - 1 - i] = extent == 1 ? 0 : stride;
      stride *= extent;
    }
  }
  parts.resize(operands.size());
  std::vector<size_t> run(operands.size());
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<std::span<const Run>> spans;
    for (size_t k = 0; k < operands.size(); ++k) {
      int64_t mine = 0, rest = row;
      for (size_t dim = rank - 1; dim-- > 0;) {
        mine += rest % shape[dim] * strides[k][dim];
        rest /= shape[dim];
      }
      spans.push_back(operands[k]->getRow(mine));
      run[k] = 0;
    }
    for (int64_t begin = 0; begin < columns;) {
      int64_t end = columns;
      for (size_t k = 0; k < operands.size(); ++k)
        if (operands[k]->getNumColumns() != 1)
          end = std::min(end, spans[k][run[k]].end);
      for (size_t k = 0; k < operands.size(); ++k) {
        const Run &now = spans[k][run[k]];
        const bool isSpread = operands[k]->getNumColumns() == 1;
        const int64_t start = run[k] == 0 ? 0 : spans[k][run[k] - 1].end;
        parts[k].push_back({end, now.at(isSpread ? 0 : begin - start), isSpread ? 0 : now.step});
        if (!isSpread && now.end == end)
          ++run[k];
      }
      segments.push_back({row, begin, end});
      if (segments.size() > kMostSegments)
        return false;
      begin = end;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

namespace {
enum class Positional { Add, Sub, Rsub, Mul, Neg, Lt, Le, Gt, Ge, Eq, Ne };
} // namespace

static std::optional<Positional> getPositional(std::string_view name) {
  static const std::unordered_map<std::string_view, Positional> known = {
      {"aten.add.Tensor", Positional::Add},   {"aten.add.Scalar", Positional::Add},
      {"aten.sub.Tensor", Positional::Sub},   {"aten.sub.Scalar", Positional::Sub},
      {"aten.rsub.Scalar", Positional::Rsub}, {"aten.mul.Tensor", Positional::Mul},
      {"aten.mul.Scalar", Positional::Mul},   {"aten.neg", Positional::Neg},
      {"aten.lt.Tensor", Positional::Lt},     {"aten.lt.Scalar", Positional::Lt},
      {"aten.le.Tensor", Positional::Le},     {"aten.le.Scalar", Positional::Le},
      {"aten.gt.Tensor", Positional::Gt},     {"aten.gt.Scalar", Positional::Gt},
      {"aten.ge.Tensor", Positional::Ge},     {"aten.ge.Scalar", Positional::Ge},
      {"aten.eq.Tensor", Positional::Eq},     {"aten.eq.Scalar", Positional::Eq},
      {"aten.ne.Tensor", Positional::Ne},     {"aten.ne.Scalar", Positional::Ne},
  };
  auto found = known.find(name);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

static bool isComparison(Positional how) { return how >= Positional::Lt; }

static bool holds(Positional how, double difference) {
  switch (how) {
  case Positional::Lt:
    return difference < 0;
  case Positional::Le:
    return difference <= 0;
  case Positional::Gt:
    return difference > 0;
  case Positional::Ge:
    return difference >= 0;
  case Positional::Eq:
    return difference == 0;
  default:
    return difference != 0;
  }
}

/// The runs of a comparison of \p difference with 0 in \p segment.
static void compare(Positional how, const Run &difference, const Segment &segment,
                    RowWriter &writer) {
  // The truth value changes at most before and after the place where the difference is 0.
  const double zero = difference.step == 0 ? -1 : -difference.value / double(difference.step);
  const int64_t at = zero < 0 ? 0 : zero >= double(segment.size()) ? segment.size() : int64_t(zero);
  int64_t begin = 0;
  for (int64_t end : {at, std::min(at + 1, segment.size()), segment.size()}) {
    if (end > begin)
      writer.append({segment.begin + end, double(holds(how, difference.at(begin))), 0});
    begin = std::max(begin, end);
  }
}

/// Operation \p how of operands \p a and \p b, the second of those that add times \p alpha; false
/// if \p dtype does not have its numbers.
static bool writePositional(Positional how, const Run &a, const Run &b, int64_t alpha,
                            HostType dtype, const Segment &segment, RowWriter &writer) {
  // Numbers of which double, float and the host's own types make the same.
  for (const Run &part : {a, b})
    if (part.value != std::trunc(part.value) ||
        !hasIntegers(HostType::Float32,
                     std::max(std::abs(part.value), std::abs(part.at(segment.size() - 1)))))
      return false;
  if (isComparison(how)) {
    compare(how, {segment.end, a.value - b.value, a.step - b.step}, segment, writer);
    return true;
  }
  auto times = [](const Run &part, int64_t factor) {
    return Run{part.end, part.value * double(factor), part.step * factor};
  };
  auto add = [&](const Run &x, const Run &y) {
    return Run{segment.end, x.value + y.value, x.step + y.step};
  };
  Run result;
  switch (how) {
  case Positional::Add:
    result = add(a, times(b, alpha));
    break;
  case Positional::Sub:
    result = add(a, times(b, -alpha));
    break;
  case Positional::Rsub:
    result = add(b, times(a, -alpha));
    break;
  case Positional::Mul:
    if (a.step != 0 && b.step != 0)
      return false;
    result = a.step != 0 ? times(a, int64_t(b.value)) : times(b, int64_t(a.value));
    break;
  default:
    result = times(a, -1);
    break;
  }
  const double last = result.at(segment.size() - 1);
  if (!hasIntegers(dtype, std::max(std::abs(result.value), std::abs(last))))
    return false;
  writer.append({segment.end, result.value, result.step});
  return true;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Operations that fill their result with one number.
static bool isFill(std::string_view name) {
  static const std::unordered_set<std::string_view> known = {
      "aten.zeros",      "aten.zeros_like", "aten.new_zeros",     "aten.empty.memory_format",
      "aten.empty_like", "aten.new_empty",  "aten.empty_strided", "aten.new_empty_strided",
      "aten.zero",       "aten.ones",       "aten.ones_like",     "aten.new_ones",
      "aten.full",       "aten.full_like",  "aten.fill.Scalar",   "aten.new_full"};
  return known.contains(name);
}

/// Operations that keep each element of their first operand, perhaps in another type.
static bool isCopy(std::string_view name) {
  static const std::unordered_set<std::string_view> known = {
      "aten.clone",     "aten.detach",         "aten.contiguous", "aten.lift_fresh_copy",
      "aten.alias",     "aten._to_copy",       "aten.to.dtype",   "aten.to.dtype_layout",
      "aten.to.device", "aten.to.prim_Device", "aten.to.other",   "prims.convert_element_type",
      "aten.expand",    "aten.broadcast_to",   "aten.expand_as"};
  return known.contains(name);
}

/// Operations that show the same elements in another shape.
static bool isReshape(std::string_view name) {
  static const std::unordered_set<std::string_view> known = {
      "aten.view",      "aten.reshape",     "aten._unsafe_view", "aten._reshape_alias",
      "aten.unsqueeze", "aten.squeeze.dim", "aten.squeeze",      "aten.slice.Tensor"};
  return known.contains(name);
}

/// Operations on one element of each operand.
static bool isElementwise(std::string_view name) {
  static const std::unordered_set<std::string_view> known = {"aten.logical_and",
                                                             "aten.logical_or",
                                                             "aten.logical_xor",
                                                             "aten.logical_not",
                                                             "aten.bitwise_not",
                                                             "aten.bitwise_and.Tensor",
                                                             "aten.bitwise_and.Scalar",
                                                             "aten.__and__.Tensor",
                                                             "aten.bitwise_or.Tensor",
                                                             "aten.bitwise_or.Scalar",
                                                             "aten.__or__.Tensor",
                                                             "aten.bitwise_xor.Tensor",
                                                             "aten.where.self",
                                                             "aten.where.Scalar",
                                                             "aten.where.ScalarSelf",
                                                             "aten.where.ScalarOther",
                                                             "aten.masked_fill.Scalar",
                                                             "aten.masked_fill.Tensor",
                                                             "aten.abs",
                                                             "aten.minimum",
                                                             "aten.maximum",
                                                             "aten.clamp",
                                                             "aten.div.Tensor",
                                                             "aten.div.Scalar"};
  return known.contains(name) || getPositional(name);
}

/// The elements on one side of a diagonal of \p source, zeros on the other.
static std::optional<RunArray> cutTriangle(const RunArray &source, int64_t diagonal, bool isUpper) {
  if (source.shape.size() < 2)
    return std::nullopt;
  RunArray made{source.dtype, source.shape, {}, {}};
  RowWriter writer(made);
  const int64_t columns = source.getNumColumns(), rows = source.shape[source.shape.size() - 2];
  for (int64_t row = 0; row < source.getNumRows(); ++row) {
    // Up to before that column on one side, from it on on the other.
    const int64_t edge = std::clamp<int64_t>(row % rows + diagonal + (isUpper ? 0 : 1), 0, columns);
    int64_t begin = 0;
    if (isUpper)
      writer.append({edge, 0, 0});
    for (const Run &run : source.getRow(row)) {
      const int64_t from = std::max(begin, isUpper ? edge : 0),
                    to = std::min(run.end, isUpper ? columns : edge);
      if (to > from)
        writer.append({to, run.at(from - begin), run.step});
      begin = run.end;
    }
    if (!isUpper)
      writer.append({columns, 0, 0});
    writer.endRow();
  }
  return made;
}

/// Numbers of runs as an array of one dim.
static Array toArray(HostType dtype, const std::vector<double> &values) {
  Array array = makeArray(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    if (array.isFloat())
      array.numbers[i] = values[i];
    else
      array.integers[i] = static_cast<int64_t>(values[i]);
  return array;
}

/// An integer argument.
static std::optional<double> getWhole(const Argument &argument) {
  if (const int64_t *integer = argument.getInt())
    return double(*integer);
  if (const bool *truth = argument.getBool())
    return double(*truth);
  return std::nullopt;
}

namespace {
/// An operation on elements.
class ElementwiseRuns {
public:
  ElementwiseRuns(std::string_view name, std::span<const RunOperand> operands, HostType dtype,
                  const std::vector<int64_t> &shape)
      : name(name), operands(operands), dtype(dtype), shape(shape) {}

  std::optional<RunArray> run();

private:
  bool collect();
  /// What segments of one number each become, in their order; empty if the host does not tell.
  std::vector<double> computeNumbers() const;
  std::optional<RunArray> write(const std::vector<double> &numbers) const;
  Run getPart(size_t operand, size_t segment) const;

  std::string_view name;
  std::span<const RunOperand> operands;
  HostType dtype;
  const std::vector<int64_t> &shape;

  std::vector<RunArray> made;            ///< of operands that are arrays
  std::vector<const RunArray *> arrays;  ///< operands that are no numbers
  std::vector<std::optional<size_t>> at; ///< of each operand, its place there
  Segments segments;
};
} // namespace

bool ElementwiseRuns::collect() {
  made.reserve(operands.size());
  for (const RunOperand &operand : operands) {
    at.emplace_back();
    const Array *array = operand.argument.getArray();
    if (operand.argument.isUnknown())
      return false;
    if (operand.runs) {
      at.back() = arrays.size();
      arrays.push_back(operand.runs);
    } else if (array && !array->shape.empty()) {
      std::optional<RunArray> runs = findRuns(*array, std::numeric_limits<double>::infinity());
      if (!runs)
        return false;
      made.push_back(std::move(*runs));
      at.back() = arrays.size();
      arrays.push_back(&made.back());
    }
  }
  return !arrays.empty() && segments.make(arrays, shape);
}

std::vector<double> ElementwiseRuns::computeNumbers() const {
  std::vector<std::vector<double>> values(arrays.size());
  for (size_t i = 0; i < segments.segments.size(); ++i)
    if (segments.isConstant(i))
      for (size_t k = 0; k < arrays.size(); ++k)
        values[k].push_back(segments.parts[k][i].value);
  if (values.front().empty())
    return {};
  std::vector<Argument> arguments;
  for (size_t i = 0; i < operands.size(); ++i)
    arguments.push_back(at[i] ? Argument(toArray(arrays[*at[i]]->dtype, values[*at[i]]))
                              : operands[i].argument);
  // An expansion's sizes are of the whole.
  std::variant<Array, std::string> result =
      isCopy(name)
          ? std::variant<Array, std::string>(castTo(*arguments.front().getArray(), dtype))
          : evaluate(name, arguments, dtype, {static_cast<int64_t>(values.front().size())});
  const Array *array = std::get_if<Array>(&result);
  std::vector<double> numbers;
  for (int64_t i = 0; array && i < array->getNumElements(); ++i) {
    numbers.push_back(array->getNumber(i));
    if (!array->isFloat() && std::abs(numbers.back()) > kMostExact)
      return {};
  }
  return numbers;
}

Run ElementwiseRuns::getPart(size_t operand, size_t segment) const {
  if (at[operand])
    return segments.parts[*at[operand]][segment];
  return {segments.segments[segment].end, getWhole(operands[operand].argument).value_or(0), 0};
}

std::optional<RunArray> ElementwiseRuns::write(const std::vector<double> &numbers) const {
  RunArray result{dtype, shape, {}, {}};
  RowWriter writer(result);
  const std::optional<Positional> how = getPositional(name);
  const bool isUnary = how == Positional::Neg;
  const bool hasAlpha = how == Positional::Add || how == Positional::Sub || how == Positional::Rsub;
  const std::optional<double> alpha =
      hasAlpha && operands.size() > 2 ? getWhole(operands[2].argument) : std::optional(1.0);
  // Numbers beside positions are integers, too.
  auto isWhole = [&](size_t operand) {
    return operand < operands.size() && (at[operand] || getWhole(operands[operand].argument));
  };
  const bool isPositional = how && alpha && isWhole(0) && (isUnary || isWhole(1));
  size_t next = 0;
  int64_t row = 0;
  for (size_t i = 0; i < segments.segments.size(); ++i) {
    const Segment &segment = segments.segments[i];
    for (; row < segment.row; ++row)
      writer.endRow();
    if (segments.isConstant(i)) {
      writer.append({segment.end, numbers[next++], 0});
      continue;
    }
    const Run a = getPart(0, i);
    if (isCopy(name)) {
      const double last = a.at(segment.size() - 1);
      if (!hasIntegers(dtype, std::max(std::abs(a.value), std::abs(last))))
        return std::nullopt;
      writer.append({segment.end, a.value, a.step});
      continue;
    }
    if (!isPositional || !writePositional(*how, a, isUnary ? Run() : getPart(1, i), int64_t(*alpha),
                                          dtype, segment, writer))
      return std::nullopt;
  }
  writer.endRow();
  return result;
}

std::optional<RunArray> ElementwiseRuns::run() {
  if (!collect())
    return std::nullopt;
  const bool hasConstant = [&] {
    for (size_t i = 0; i < segments.segments.size(); ++i)
      if (segments.isConstant(i))
        return true;
    return false;
  }();
  const std::vector<double> numbers = computeNumbers();
  if (hasConstant && numbers.empty())
    return std::nullopt;
  return write(numbers);
}

std::optional<RunArray> evaluateRuns(std::string_view name, std::span<const RunOperand> operands,
                                     HostType dtype, const std::vector<int64_t> &shape) {
  if (shape.empty() || std::find(shape.begin(), shape.end(), 0) != shape.end())
    return std::nullopt;
  const RunArray *first = operands.empty() ? nullptr : operands.front().runs;
  if (isFill(name)) {
    std::vector<Argument> arguments;
    for (const RunOperand &operand : operands)
      arguments.push_back(operand.runs ? Argument(Unknown()) : operand.argument);
    auto result = evaluate(name, arguments, dtype, {1});
    const Array *array = std::get_if<Array>(&result);
    if (!array || array->isComplex())
      return std::nullopt;
    RunArray made{dtype, shape, {}, {}};
    RowWriter writer(made);
    for (int64_t row = 0, rows = countRows(shape); row < rows; ++row) {
      writer.append({shape.back(), array->getNumber(0), 0});
      writer.endRow();
    }
    return made;
  }
  if (first && isReshape(name) && first->dtype == dtype) {
    // Only of leading dims, and of all elements.
    if (first->getNumColumns() != shape.back() || first->getNumRows() != countRows(shape))
      return std::nullopt;
    RunArray made = *first;
    made.shape = shape;
    return made;
  }
  if (first && (name == "aten.tril" || name == "aten.triu") && first->dtype == dtype &&
      first->shape == shape) {
    const std::optional<double> diagonal =
        operands.size() > 1 ? getWhole(operands[1].argument) : std::optional(0.0);
    return diagonal ? cutTriangle(*first, int64_t(*diagonal), name == "aten.triu") : std::nullopt;
  }
  if (isCopy(name))
    return ElementwiseRuns(name, operands.first(1), dtype, shape).run();
  if (isElementwise(name))
    return ElementwiseRuns(name, operands, dtype, shape).run();
  return std::nullopt;
}

} // namespace spyre::host
