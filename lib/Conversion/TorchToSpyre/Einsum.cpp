//===- Einsum.cpp - Products named by letters -----------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// einsum of one or two operands: letters of both and of the result are batches, those of
// both but not the result are contracted, the others are rows and columns. The operands
// are permuted and their groups of dims joined, which costs nothing, and one batched
// matrix product does the rest.
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

namespace {
struct Equation {
  SmallVector<std::string> inputs;
  std::string output;
};
} // namespace

/// Reads "bij,bjk->bik"; nothing (and the reason set) where it is something else.
static std::optional<Equation> parseEquation(Lowering &l, StringRef text) {
  auto refuse = [&](const Twine &reason) {
    (void)l.refuse(reason);
    return std::nullopt;
  };
  Equation equation;
  std::string plain;
  for (char c : text)
    if (c != ' ')
      plain.push_back(c);
  auto [left, right] = StringRef(plain).split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  llvm::StringMap<int> uses;
  for (StringRef term : terms) {
    for (size_t i = 0; i < term.size(); ++i) {
      if (!llvm::isAlpha(term[i]))
        return refuse("its equation has something else than letters");
      if (term.drop_front(i + 1).contains(term[i]))
        return refuse("a letter occurs twice in one operand");
      ++uses[term.substr(i, 1)];
    }
    equation.inputs.push_back(term.str());
  }
  equation.output = right.str();
  if (!StringRef(plain).contains("->")) {
    // What occurs once, in alphabetical order.
    for (auto &entry : uses)
      if (entry.second == 1)
        equation.output += entry.first();
    llvm::sort(equation.output);
  }
  for (size_t i = 0; i < equation.output.size(); ++i)
    if (!uses.contains(StringRef(equation.output).substr(i, 1)) ||
        StringRef(equation.output).drop_front(i + 1).contains(equation.output[i]))
      return refuse("its result has a letter that no operand has, or one twice");
  return equation;
}

/// \p value, whose dims are \p letters, with its dims in the order \p wanted.
static Value permuteTo(Lowering &l, Value value, StringRef letters, StringRef wanted) {
  if (letters == wanted)
    return value;
  RankedTensorType type = getTensorType(value);
  SmallVector<AffineExpr> results;
  SmallVector<int64_t> shape;
  for (char letter : letters)
    results.push_back(l.b.getAffineDimExpr(wanted.find(letter)));
  for (char letter : wanted)
    shape.push_back(type.getDimSize(letters.find(letter)));
  return buildView(l.b, l.loc, value, AffineMap::get(type.getRank(), 0, results, l.b.getContext()),
                   shape);
}

/// Sums \p value over the letters that \p others does not have; removes them.
static Value sumAlone(Lowering &l, Value value, std::string &letters, StringRef others) {
  SmallVector<int64_t> dims;
  std::string kept;
  for (auto [d, letter] : llvm::enumerate(letters))
    if (others.contains(letter))
      kept.push_back(letter);
    else
      dims.push_back(d);
  letters = kept;
  return dims.empty() ? value : buildReduction(l.b, l.loc, "sum", value, dims, /*keepDims=*/false);
}

static LogicalResult lowerProduct(Lowering &l, Value lhs, Value rhs, std::string left,
                                  std::string right, StringRef output) {
  lhs = sumAlone(l, lhs, left, output.str() + right);
  rhs = sumAlone(l, rhs, right, output.str() + left);
  std::string batch, rows, columns, contracted;
  for (char letter : left)
    (StringRef(right).contains(letter) ? output.contains(letter) ? batch : contracted : rows)
        .push_back(letter);
  for (char letter : right)
    if (!StringRef(left).contains(letter))
      columns.push_back(letter);
  lhs = permuteTo(l, lhs, left, batch + rows + contracted);
  rhs = permuteTo(l, rhs, right, batch + contracted + columns);
  auto count = [](Value value, size_t first, size_t number) {
    int64_t elements = 1;
    for (int64_t extent : getTensorType(value).getShape().slice(first, number))
      elements *= extent;
    return elements;
  };
  size_t b = batch.size(), m = rows.size(), k = contracted.size(), n = columns.size();
  for (size_t i = 0; i < b; ++i)
    if (getTensorType(lhs).getDimSize(i) != getTensorType(rhs).getDimSize(i))
      return l.refuse("a letter stands for different extents");
  if (count(lhs, b + m, k) != count(rhs, b, k))
    return l.refuse("a letter stands for different extents");
  if (count(lhs, b + m, k) == 0)
    return l.refuse("a contraction of no elements has no device form");
  int64_t batches = count(lhs, 0, b), numRows = count(lhs, b, m), numColumns = count(rhs, b + k, n),
          depth = count(lhs, b + m, k);
  // Batch, row and column dims of the product.
  SmallVector<int64_t> shape(getTensorType(lhs).getShape().take_front(b + m));
  llvm::append_range(shape, getTensorType(rhs).getShape().drop_front(b + k));
  lhs = buildReshape(l.b, l.loc, lhs, {batches, numRows, depth});
  rhs = buildReshape(l.b, l.loc, rhs, {batches, depth, numColumns});
  auto type =
      RankedTensorType::get({batches, numRows, numColumns}, getTensorType(lhs).getElementType());
  Value product = MatmulOp::create(l.b, l.loc, type, lhs, rhs);
  product = buildReshape(l.b, l.loc, product, shape);
  return l.replaceWith(permuteTo(l, product, batch + rows + columns, output));
}

// einsum(equation, tensors, path); the path is a hint.
static LogicalResult lowerEinsum(Lowering &l) {
  Type type = l.getDeviceType();
  std::optional<Equation> equation =
      type ? parseEquation(l, l.getString(0)) : std::optional<Equation>();
  std::optional<SmallVector<Value>> tensors =
      equation ? getTensorList(l, 1) : std::optional<SmallVector<Value>>();
  if (!tensors)
    return failure();
  if (tensors->size() != equation->inputs.size() || tensors->size() > 2)
    return l.refuse("it has " + Twine(tensors->size()) + " operands; one or two are supported");
  for (auto [value, letters] : llvm::zip(*tensors, equation->inputs)) {
    if (getTensorType(value).getElementType() != type)
      return l.refuse("its operands have different element types");
    if (getTensorType(value).getRank() != static_cast<int64_t>(letters.size()))
      return l.refuse("an operand has another number of dims than letters");
  }
  if (tensors->size() == 2)
    return lowerProduct(l, tensors->front(), tensors->back(), equation->inputs[0],
                        equation->inputs[1], equation->output);
  std::string letters = equation->inputs.front();
  Value value = sumAlone(l, tensors->front(), letters, equation->output);
  return l.replaceWith(permuteTo(l, value, letters, equation->output));
}

/// _trilinear(a, b, c, dims that a lacks, … b …, … c …, summed dims, hint): the product of
/// three, summed, in f32.
static LogicalResult lowerTrilinear(Lowering &l) {
  Type type = l.getDeviceType();
  if (!type)
    return failure();
  Arithmetic m(l, l.b.getF32Type());
  Value product;
  int64_t rank = 0;
  for (unsigned i = 0; i < 3; ++i) {
    Value value = l.isTensor(i) ? l.getAs(i, type) : Value();
    std::optional<SmallVector<int64_t>> lacking =
        value ? l.getInts(3 + i) : std::optional<SmallVector<int64_t>>();
    if (!lacking)
      return l.refuse("operand #" + Twine(i) + " must be a tensor");
    llvm::sort(*lacking);
    int64_t own = getTensorType(value).getRank() + static_cast<int64_t>(lacking->size());
    if (i > 0 && own != rank)
      return l.refuse("its operands are expanded to different numbers of dims");
    rank = own;
    SmallVector<int64_t> shape(getTensorType(value).getShape());
    for (auto [n, dim] : llvm::enumerate(*lacking)) {
      if (dim < 0 || dim >= rank || (n > 0 && (*lacking)[n - 1] == dim))
        return l.refuse("an operand is expanded in a dim that does not exist, or twice");
      shape.insert(shape.begin() + dim, 1);
    }
    value = m.widen(buildReshape(l.b, l.loc, value, shape));
    if (product) {
      ArrayRef<int64_t> others = getTensorType(product).getShape();
      for (auto [a, b] : llvm::zip(shape, others))
        if (a != b && a != 1 && b != 1)
          return l.refuse("its operands do not broadcast");
      product = m.mul(product, value);
    } else {
      product = value;
    }
  }
  std::optional<SmallVector<int64_t>> dims = l.getInts(6);
  if (!dims)
    return failure();
  for (int64_t &dim : *dims) {
    std::optional<int64_t> normal = l.normalizeDim(dim, rank);
    if (!normal)
      return failure();
    dim = *normal;
  }
  llvm::sort(*dims);
  dims->erase(llvm::unique(*dims), dims->end());
  if (getTensorType(product).getNumElements() == 0)
    return l.refuse("a contraction of no elements has no device form");
  if (!dims->empty())
    product = buildReduction(l.b, l.loc, "sum", product, *dims, /*keepDims=*/false);
  return l.replaceWith(m.convert(product, type));
}

void torch_lowering::addEinsum(HandlerTable &table) {
  table["torch.aten.einsum"] = lowerEinsum;
  table["torch.aten._trilinear"] = onTensor(lowerTrilinear);
}
