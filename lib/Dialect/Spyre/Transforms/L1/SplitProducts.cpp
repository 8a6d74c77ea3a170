//===- SplitProducts.cpp - Products of f32 by the arrays' 16-bit ones ------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The systolic arrays multiply 16-bit numbers, add up in f32 and round the sum to 16 bits.
// An f32 number is the sum of three 16-bit ones, its pieces; a product of sums is a sum of
// products, which the arrays add up in one contraction over all pairs that matter. What the
// rounding of that sum loses is had by a second contraction that subtracts the rounded sum
// again, through an identity matrix, and what that one's rounding loses by a third. The
// error argument stands in docs/developer/numerics.md ("Products of f32").
//
//===----------------------------------------------------------------------===//

#include "Precision.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"
#include "spyre/Numerics/Formats.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYRESPLITPRODUCTS
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;

namespace {
/// So many rows (or columns) the SIMD units multiply and add up in f32 before cutting the other
/// factor, which is written once more in pieces, takes less: a number of it takes 2 x 64
/// operations on elements there, and is moved about ten times here.
constexpr int64_t kFewRows = 64;

/// A piece of the first factor and one of the second.
struct Pair {
  unsigned first, second;
};
/// The pairs that each remainder adds to the first pieces and those of the remainders before
/// it: all products that are larger than what f32 leaves of the sum. As many remainders as
/// pieces beyond the first.
constexpr Pair kFirstPairs[] = {{0, 1}, {1, 0}}, kSecondPairs[] = {{1, 1}, {0, 2}, {2, 0}};
constexpr ArrayRef<Pair> kPairs[] = {kFirstPairs, kSecondPairs};
constexpr unsigned kMostPieces = std::size(kPairs) + 1;

/// An f32 factor cut up: value = scale * (pieces[0] + pieces[1] + ...).
struct Pieces {
  Value whole;               ///< f32, of the factor's shape: value / scale
  SmallVector<Value> pieces; ///< 16-bit numbers
  Value scale;               ///< f32 powers of two, one for each row or column: extent 1 along K
};

/// What a contraction's dims are.
struct Roles {
  SmallVector<unsigned> batch, rows, columns; ///< result dims: of both, of one factor each
  unsigned contracted = 0;
};

class ProductSplitter {
public:
  ProductSplitter(DeviceOpInterface op, unsigned numPieces, RewriterBase &b)
      : op(op), numPieces(numPieces), b(b), loc(op->getLoc()) {}

  void run();

private:
  Value multiplyOnElements(DeviceOpSpec spec);
  Value getFactor(unsigned input, ArrayRef<unsigned> dims);
  Pieces cut(Value factor, unsigned contracted, int exponent);
  Value multiply(ArrayRef<Value> a, ArrayRef<Value> w, unsigned numBatch, unsigned numRows);
  DeviceOpSpec describe(Value a, Value w, unsigned numBatch, unsigned numRows, Type element);
  /// 16 bits of it.
  Value contract(Value a, Value w, unsigned numBatch, unsigned numRows);
  Value slice(Value value, unsigned dim, int64_t offset, int64_t extent);
  Value getMinusIdentity(int64_t extent, ArrayRef<int64_t> batch);

  Value build(OpFunc opFunc, ValueRange inputs, RankedTensorType type) {
    return buildPointwise(b, loc, opFunc, inputs, type);
  }
  Value number(double value) { return buildScalar(b, loc, value, b.getF32Type()); }

  DeviceOpInterface op;
  unsigned numPieces;
  RewriterBase &b;
  Location loc;
};

struct SplitProductsPass : mlir::spyre::impl::SpyreSplitProductsBase<SplitProductsPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    SmallVector<DeviceOpInterface> products;
    getOperation().walk([&](DeviceOpInterface op) {
      if (isSplitProduct(op))
        products.push_back(op);
    });
    auto asked = getOperation()->getAttrOfType<IntegerAttr>(kPiecesAttr);
    unsigned pieces = asked ? std::clamp<int64_t>(asked.getInt(), 2, kMostPieces) : kMostPieces;
    IRRewriter rewriter(&getContext());
    for (DeviceOpInterface op : products) {
      rewriter.setInsertionPoint(op);
      ProductSplitter(op, pieces, rewriter).run();
    }
  }
};
} // namespace

static RankedTensorType withElement(RankedTensorType type, Type element) {
  return RankedTensorType::get(type.getShape(), element);
}

/// The roles of the dims of \p op; nothing where its factors are read otherwise than by dims of
/// their own, or it contracts over another number of dims than one.
static std::optional<Roles> findRoles(DeviceOpInterface op) {
  unsigned numDims = op.getExtents().size();
  SmallVector<bool> in[3];
  for (unsigned k = 0; k < 3; ++k) {
    in[k].assign(numDims, false);
    AffineMap map = k < 2 ? op.getInputMap(k) : op.getOutputMap();
    for (AffineExpr expr : map.getResults()) {
      if (auto constant = dyn_cast<AffineConstantExpr>(expr); constant && constant.getValue() == 0)
        continue;
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim || in[k][dim.getPosition()])
        return std::nullopt;
      in[k][dim.getPosition()] = true;
    }
  }
  Roles roles;
  unsigned numContracted = 0;
  for (unsigned d = 0; d < numDims; ++d) {
    if (!in[2][d]) {
      if (!in[0][d] || !in[1][d])
        return std::nullopt;
      roles.contracted = d;
      ++numContracted;
    } else if (in[0][d] && in[1][d]) {
      roles.batch.push_back(d);
    } else {
      // What neither reads is one row after the other alike.
      (in[1][d] ? roles.columns : roles.rows).push_back(d);
    }
  }
  if (numContracted != 1)
    return std::nullopt;
  return roles;
}

bool mlir::spyre::isSplitProduct(DeviceOpInterface op) {
  return op.getInfo().category == ::spyre::OpCategory::Batchmatmul && op.getResultTensor() &&
         !op.getOutput() &&
         llvm::all_of(op.getInputs(),
                      [](Value input) { return getTensorType(input).getElementType().isF32(); }) &&
         getTensorType(op.getResultTensor()).getElementType().isF32() && findRoles(op);
}

/// Input \p input as a tensor of \p dims of the iteration, in that order.
Value ProductSplitter::getFactor(unsigned input, ArrayRef<unsigned> dims) {
  SmallVector<AffineExpr> replacements(op.getExtents().size(), b.getAffineConstantExpr(0));
  SmallVector<int64_t> shape;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    replacements[dim] = b.getAffineDimExpr(i);
    shape.push_back(op.getExtents()[dim]);
  }
  AffineMap map = op.getInputMap(input).replaceDimsAndSymbols(replacements, {}, dims.size(), 0);
  return buildView(b, loc, op.getInputs()[input], map, shape);
}

Value ProductSplitter::slice(Value value, unsigned dim, int64_t offset, int64_t extent) {
  SmallVector<int64_t> shape(getTensorType(value).getShape());
  if (shape[dim] == extent)
    return value;
  shape[dim] = extent;
  SmallVector<AffineExpr> exprs;
  for (unsigned i = 0; i < shape.size(); ++i)
    exprs.push_back(b.getAffineDimExpr(i) + (i == dim ? offset : 0));
  return buildView(b, loc, value, AffineMap::get(shape.size(), 0, exprs, b.getContext()), shape);
}

/// The factor's rows (or columns), each by a power of two that makes its largest number about
/// 2^exponent, as sums of 16-bit numbers. What a piece leaves is exact in f32.
Pieces ProductSplitter::cut(Value factor, unsigned contracted, int exponent) {
  RankedTensorType type = getTensorType(factor);
  Type half = b.getF16Type();
  Value magnitudes = build(OpFunc::Abs, {factor}, type);
  Value largest = buildReduction(b, loc, OpFunc::Max, magnitudes, {contracted}, /*keepDims=*/true);
  RankedTensorType rows = getTensorType(largest);
  // Far enough from f32's ends for what follows: 2^23 times it, and 2^exponent over it.
  constexpr int kLeast = -125, kMost = 100;
  largest = build(OpFunc::Maximum, {largest, number(std::ldexp(1.0, exponent + kLeast))}, rows);
  largest = build(OpFunc::Minimum, {largest, number(std::ldexp(1.0, kMost))}, rows);
  // Beside 2^23 times as much there is room for one bit: a power of two is left.
  Value large = build(OpFunc::Mul, {largest, number(0x1p23)}, rows);
  Value power = build(OpFunc::Sub, {build(OpFunc::Add, {large, largest}, rows), large}, rows);
  Value inverse = build(OpFunc::Reciprocal, {power}, rows);
  inverse = build(OpFunc::Mul, {inverse, number(std::ldexp(1.0, exponent))}, rows);
  Pieces result;
  result.scale = build(OpFunc::Mul, {power, number(std::ldexp(1.0, -exponent))}, rows);
  result.whole = build(OpFunc::Mul, {factor, inverse}, type);
  Value rest = result.whole;
  for (unsigned i = 0; i < numPieces; ++i) {
    Value piece = build(OpFunc::Fp32todl16, {rest}, withElement(type, half));
    result.pieces.push_back(piece);
    if (i + 1 < numPieces)
      rest = build(OpFunc::Sub, {rest, build(OpFunc::Dl16tofp32, {piece}, type)}, type);
  }
  return result;
}

Value ProductSplitter::getMinusIdentity(int64_t extent, ArrayRef<int64_t> batch) {
  auto type = RankedTensorType::get({extent, extent}, b.getF16Type());
  const llvm::fltSemantics &semantics = APFloat::IEEEhalf();
  SmallVector<APFloat> numbers(extent * extent, APFloat::getZero(semantics));
  for (int64_t i = 0; i < extent; ++i)
    numbers[i * extent + i] = APFloat::getOne(semantics, /*Negative=*/true);
  Value identity = ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, numbers));
  if (batch.empty())
    return identity;
  SmallVector<int64_t> shape(batch);
  llvm::append_values(shape, extent, extent);
  unsigned n = batch.size();
  return buildView(
      b, loc, identity,
      AffineMap::get(n + 2, 0, {b.getAffineDimExpr(n), b.getAffineDimExpr(n + 1)}, b.getContext()),
      shape);
}

/// The product of \p a [batch, rows, K] and \p w [batch, K, columns], of \p element.
DeviceOpSpec ProductSplitter::describe(Value a, Value w, unsigned numBatch, unsigned numRows,
                                       Type element) {
  ArrayRef<int64_t> l = getTensorType(a).getShape(), r = getTensorType(w).getShape();
  DeviceOpSpec spec;
  spec.opFunc = OpFunc::Batchmatmul;
  spec.inputs = {a, w};
  spec.extents.assign(l.begin(), l.end() - 1);
  llvm::append_values(spec.extents, r.back(), l.back());
  unsigned numDims = spec.extents.size();
  auto dims =
      llvm::map_to_vector(llvm::seq(numDims), [&](unsigned i) { return b.getAffineDimExpr(i); });
  AffineExpr n = dims[numDims - 2], k = dims[numDims - 1];
  SmallVector<AffineExpr> ofA(ArrayRef(dims).take_front(numBatch + numRows)),
      ofW(ArrayRef(dims).take_front(numBatch)), ofResult(ofA);
  ofA.push_back(k);
  llvm::append_values(ofW, k, n);
  ofResult.push_back(n);
  for (ArrayRef<AffineExpr> exprs : {ArrayRef(ofA), ArrayRef(ofW), ArrayRef(ofResult)})
    spec.maps.push_back(AffineMap::get(numDims, 0, exprs, b.getContext()));
  spec.resultType = RankedTensorType::get(ArrayRef<int64_t>(spec.extents).drop_back(), element);
  return spec;
}

Value ProductSplitter::contract(Value a, Value w, unsigned numBatch, unsigned numRows) {
  return buildDeviceOp(b, loc, describe(a, w, numBatch, numRows, b.getF16Type())).getResultTensor();
}

/// The f32 product of pieces \p a [batch, rows, K] and \p w [batch, K, columns].
Value ProductSplitter::multiply(ArrayRef<Value> a, ArrayRef<Value> w, unsigned numBatch,
                                unsigned numRows) {
  const unsigned ofA = numBatch + numRows, ofW = numBatch; // the contracted dims
  ArrayRef<int64_t> shape = getTensorType(w[0]).getShape();
  Value minusIdentity = getMinusIdentity(shape.back(), shape.take_front(numBatch));
  ArrayRef<ArrayRef<Pair>> remainders = ArrayRef(kPairs).take_front(numPieces - 1);
  // The contraction of a remainder is the beginning of that of the next. What is subtracted
  // stands before what is smaller than it, so that smaller sums go on, with smaller roundings.
  SmallVector<Value> columns = {w[0]}, rows = {a[0]},
                     sums = {contract(a[0], w[0], numBatch, numRows)};
  for (ArrayRef<Pair> pairs : remainders) {
    columns.push_back(minusIdentity);
    for (Pair pair : pairs)
      columns.push_back(w[pair.second]);
  }
  Value allColumns = buildConcat(b, loc, columns, ofW);
  int64_t contracted = shape[ofW];
  for (ArrayRef<Pair> pairs : remainders) {
    rows.push_back(sums.back());
    for (Pair pair : pairs)
      rows.push_back(a[pair.first]);
    contracted += shape.back() + pairs.size() * shape[ofW];
    sums.push_back(contract(buildConcat(b, loc, rows, ofA), slice(allColumns, ofW, 0, contracted),
                            numBatch, numRows));
  }
  RankedTensorType type = withElement(getTensorType(sums[0]), b.getF32Type());
  Value result;
  for (Value sum : llvm::reverse(sums)) {
    sum = build(OpFunc::Dl16tofp32, {sum}, type);
    result = result ? build(OpFunc::Add, {result, sum}, type) : sum;
  }
  return result;
}

/// What \p spec says of a product, by the SIMD units, which multiply and add up f32: for few rows
/// or columns, where the other factor's numbers are read once.
Value ProductSplitter::multiplyOnElements(DeviceOpSpec spec) {
  AffineMap all = b.getMultiDimIdentityMap(spec.extents.size()), outputMap = spec.maps.back();
  Type resultType = spec.resultType;
  spec.opFunc = OpFunc::Mul;
  spec.resultType = RankedTensorType::get(spec.extents, b.getF32Type());
  spec.maps.back() = all;
  spec.inputs = {buildDeviceOp(b, loc, spec).getResultTensor()};
  spec.opFunc = OpFunc::Sum;
  spec.maps = {all, outputMap};
  spec.resultType = resultType;
  return buildDeviceOp(b, loc, spec).getResultTensor();
}

/// How many columns a contraction that subtracts its own rounded sum does at a time: each adds
/// one to what is contracted, and each part reads the pieces of the rows again.
static int64_t getColumnsAtATime(int64_t rows, int64_t columns, int64_t contracted) {
  constexpr int64_t kStick = 64; // columns of a part begin where sticks do
  int64_t best = static_cast<int64_t>(2 * std::sqrt(static_cast<double>(rows) * contracted));
  best = std::max(kStick, std::min({best, contracted, int64_t(1024)}) / kStick * kStick);
  if (columns <= best)
    return columns;
  // Parts of one size, if there is one near.
  for (int64_t part = best; part >= best / 2; part -= kStick)
    if (part > 0 && columns % part == 0)
      return part;
  return best;
}

void ProductSplitter::run() {
  Roles roles = *findRoles(op);
  ArrayRef<int64_t> extents = op.getExtents();
  auto count = [&](ArrayRef<unsigned> dims) {
    int64_t product = 1;
    for (unsigned dim : dims)
      product *= extents[dim];
    return product;
  };
  int64_t numRows = count(roles.rows), numColumns = count(roles.columns);
  // What is contracted lies in the sticks of both: they are read as they are, once.
  bool isAlongSticks = llvm::all_of(llvm::seq(2u), [&](unsigned i) {
    AffineMap map = getRead(op, i).map;
    return map.getNumResults() > 0 &&
           map.getResults().back() == b.getAffineDimExpr(roles.contracted);
  });
  if (std::min(numRows, numColumns) <= (isAlongSticks ? kFewRows : 1))
    return b.replaceOp(op, multiplyOnElements(DeviceOpSpec::of(op)));

  const unsigned numBatch = roles.batch.size();
  const int64_t contracted = extents[roles.contracted];
  // Sums stay below 2^33, the end of the 16-bit format.
  int exponent = std::max(0, (30 - int(llvm::Log2_64_Ceil(contracted))) / 2);
  SmallVector<unsigned> ofA(roles.batch), ofW(roles.batch);
  llvm::append_range(ofA, roles.rows);
  ofA.push_back(roles.contracted);
  ofW.push_back(roles.contracted);
  llvm::append_range(ofW, roles.columns);
  Value a = getFactor(0, ofA), w = getFactor(1, ofW);
  SmallVector<int64_t> batchShape(getTensorType(w).getShape().take_front(numBatch));
  if (roles.columns.size() > 1) {
    SmallVector<int64_t> shape(batchShape);
    llvm::append_values(shape, contracted, numColumns);
    w = buildReshape(b, loc, w, shape);
  }
  Pieces rows = cut(a, ofA.size() - 1, exponent), columns = cut(w, numBatch, exponent);

  // Parts of the columns of one size are a batch dim; the rest is one more product.
  SmallVector<Value> results;
  // Heads and groups of heads may become dims of their own, and a descriptor names seven.
  auto isLong = [&](unsigned dim) { return extents[dim] > 1; };
  const int64_t part = llvm::any_of(roles.batch, isLong) || llvm::count_if(roles.rows, isLong) > 2
                           ? numColumns
                           : getColumnsAtATime(numRows, numColumns, contracted);
  auto add = [&](int64_t offset, int64_t parts, int64_t extent) {
    SmallVector<Value> l(rows.pieces), r;
    for (Value piece : columns.pieces) {
      Value columnsOfPart = slice(piece, numBatch + 1, offset, parts * extent);
      if (parts > 1) {
        SmallVector<AffineExpr> exprs;
        for (unsigned i = 0; i < numBatch; ++i)
          exprs.push_back(b.getAffineDimExpr(i));
        exprs.push_back(b.getAffineDimExpr(numBatch + 1));
        exprs.push_back(b.getAffineDimExpr(numBatch) * extent + b.getAffineDimExpr(numBatch + 2));
        SmallVector<int64_t> shape(batchShape);
        llvm::append_values(shape, parts, contracted, extent);
        columnsOfPart = buildView(b, loc, columnsOfPart,
                                  AffineMap::get(numBatch + 3, 0, exprs, b.getContext()), shape);
      }
      r.push_back(columnsOfPart);
    }
    if (parts > 1)
      for (Value &piece : l) {
        SmallVector<int64_t> shape(getTensorType(piece).getShape());
        shape.insert(shape.begin() + numBatch, parts);
        SmallVector<AffineExpr> exprs;
        for (unsigned i = 0; i < shape.size(); ++i)
          if (i != numBatch)
            exprs.push_back(b.getAffineDimExpr(i));
        piece =
            buildView(b, loc, piece, AffineMap::get(shape.size(), 0, exprs, b.getContext()), shape);
      }
    Value product = multiply(l, r, numBatch + (parts > 1), roles.rows.size());
    if (parts > 1) { // [batch, part, rows, column] to [batch, rows, columns]
      SmallVector<int64_t> shape(getTensorType(product).getShape());
      shape.erase(shape.begin() + numBatch);
      shape.back() *= parts;
      unsigned last = shape.size() - 1;
      SmallVector<AffineExpr> exprs;
      for (unsigned i = 0; i < shape.size(); ++i) {
        if (i == numBatch)
          exprs.push_back(b.getAffineDimExpr(last).floorDiv(extent));
        exprs.push_back(i == last ? b.getAffineDimExpr(last) % extent : b.getAffineDimExpr(i));
      }
      product =
          buildView(b, loc, product, AffineMap::get(shape.size(), 0, exprs, b.getContext()), shape);
    }
    results.push_back(product);
  };
  int64_t parts = numColumns / part, rest = numColumns % part;
  add(0, parts, part);
  if (rest == 1)
    results.push_back(
        multiplyOnElements(describe(rows.whole, slice(columns.whole, numBatch + 1, parts * part, 1),
                                    numBatch, roles.rows.size(), b.getF32Type())));
  else if (rest > 0)
    add(parts * part, 1, rest);
  Value product =
      results.size() == 1 ? results[0] : buildConcat(b, loc, results, numBatch + roles.rows.size());

  // Scales back, rows first; [batch, rows, 1] and [batch, 1, columns] read by broadcast.
  RankedTensorType type = getTensorType(product);
  product = build(OpFunc::Mul, {product, rows.scale}, type);
  SmallVector<int64_t> scaleShape(batchShape);
  scaleShape.append(roles.rows.size(), 1);
  scaleShape.push_back(numColumns);
  Value scale = buildReshape(b, loc, columns.scale, scaleShape);
  product = build(OpFunc::Mul, {product, scale}, type);

  // The result's own order of dims.
  SmallVector<int64_t> shape;
  for (unsigned dim : llvm::concat<unsigned>(roles.batch, roles.rows, roles.columns))
    shape.push_back(extents[dim]);
  product = buildReshape(b, loc, product, shape);
  SmallVector<AffineExpr> exprs;
  RankedTensorType resultType = getTensorType(op.getResultTensor());
  for (unsigned dim : llvm::concat<unsigned>(roles.batch, roles.rows, roles.columns))
    for (auto [position, expr] : llvm::enumerate(op.getOutputMap().getResults()))
      if (auto out = dyn_cast<AffineDimExpr>(expr); out && out.getPosition() == dim)
        exprs.push_back(b.getAffineDimExpr(position));
  product =
      buildView(b, loc, product, AffineMap::get(resultType.getRank(), 0, exprs, b.getContext()),
                resultType.getShape());
  b.replaceOp(op, product);
}
