//===- KtirInterpreter.cpp - A plain reading of KTIR for tests -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "KtirInterpreter.h"

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"
#include "spyre/Numerics/DL16.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

using namespace mlir;

namespace {
constexpr size_t kLXInBytes = 2 << 20;

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<float> values;
};

struct View {
  std::vector<uint8_t> *memory = nullptr;
  int64_t address = 0;
  std::vector<int64_t> sizes, strides;
  Type element;
};

struct Tile {
  Type element;
  std::vector<uint8_t *> places; ///< in order
};

int64_t linearize(ArrayRef<int64_t> point, ArrayRef<int64_t> shape) {
  int64_t index = 0;
  for (size_t i = 0; i < point.size(); ++i)
    index = index * shape[i] + point[i];
  return index;
}

/// The next point of the box \p shape, row-major; false after the last.
bool nextPoint(std::vector<int64_t> &point, ArrayRef<int64_t> shape) {
  for (size_t i = point.size(); i-- > 0;) {
    if (++point[i] < shape[i])
      return true;
    point[i] = 0;
  }
  return false;
}

int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t a = evaluate(binary.getLHS(), dims), b = evaluate(binary.getRHS(), dims);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::Mod:
    return a % b;
  default:
    return a / b;
  }
}

bool isInSet(IntegerSet set, ArrayRef<int64_t> point) {
  for (auto [i, constraint] : llvm::enumerate(set.getConstraints())) {
    int64_t value = evaluate(constraint, point);
    if (set.isEq(i) ? value != 0 : value < 0)
      return false;
  }
  return true;
}

class Interpreter {
public:
  Interpreter(std::vector<uint8_t> &memory, int64_t tile)
      : memory(memory), lx(kLXInBytes, 0xff), tile(tile) {}

  std::string run(func::FuncOp kernel, ArrayRef<int64_t> arguments) {
    for (auto [argument, value] : llvm::zip_equal(kernel.getArguments(), arguments))
      indices[argument] = value;
    visit(kernel.getBody().front());
    return error;
  }

private:
  bool fail(Operation &op, const Twine &message) {
    if (error.empty())
      error = (op.getName().getStringRef() + ": " + message).str();
    return false;
  }

  bool visit(Block &block) {
    for (Operation &op : block)
      if (!visit(op))
        return false;
    return true;
  }

  bool visit(Operation &op) {
    if (isa<func::ReturnOp, scf::YieldOp>(op))
      return true;
    if (isa<arith::ArithDialect>(op.getDialect()))
      return visitArith(op);
    if (auto id = dyn_cast<ktdp::GetComputeTileIdOp>(op)) {
      indices[id.getCoordinates()[0]] = tile;
      return id.getCoordinates().size() == 1 || fail(op, "more than one coordinate");
    }
    if (auto view = dyn_cast<ktdp::ConstructMemoryViewOp>(op)) {
      View result;
      bool isLocal = view.getMemorySpace().getKind() == ktdp::MemorySpaceKind::CtLocal;
      result.memory = isLocal ? &lx : &memory;
      result.address = indices.lookup(view.getOffset());
      result.sizes = view.getStaticSizes().vec();
      result.strides = view.getStaticStrides().vec();
      result.element = view.getType().getElementType();
      views[view.getResult()] = result;
      return true;
    }
    if (auto access = dyn_cast<ktdp::ConstructAccessTileOp>(op))
      return visitAccess(access);
    if (auto load = dyn_cast<ktdp::LoadOp>(op)) {
      Tensor &result = tensors[load.getResult()];
      result.shape = load.getResult().getType().getShape().vec();
      result.values.clear();
      const Tile &source = tiles[load.getTile()];
      for (const uint8_t *place : source.places)
        result.values.push_back(read(place, source.element));
      return true;
    }
    if (auto store = dyn_cast<ktdp::StoreOp>(op)) {
      const Tensor &value = tensors[store.getValue()];
      const Tile &target = tiles[store.getTile()];
      if (value.values.size() != target.places.size())
        return fail(op, "sizes differ");
      for (auto [number, place] : llvm::zip_equal(value.values, target.places))
        write(place, number, target.element);
      return true;
    }
    if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
      Tensor &result = tensors[empty.getResult()];
      result.shape = empty.getType().getShape().vec();
      result.values.assign(empty.getType().getNumElements(),
                           std::numeric_limits<float>::quiet_NaN());
      return true;
    }
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      Tensor result = tensors[expand.getSrc()];
      result.shape = expand.getResultType().getShape().vec();
      tensors[expand.getResult()] = std::move(result);
      return true;
    }
    if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      Tensor result = tensors[fill.getOutputs()[0]];
      std::fill(result.values.begin(), result.values.end(), floats.lookup(fill.getInputs()[0]));
      tensors[fill.getResult(0)] = std::move(result);
      return true;
    }
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return visitGeneric(generic);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return !indices.lookup(branch.getCondition()) || visit(*branch.thenBlock());
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      int64_t end = indices.lookup(loop.getUpperBound()), step = indices.lookup(loop.getStep());
      SmallVector<Tensor> carried;
      for (Value init : loop.getInitArgs())
        carried.push_back(tensors[init]);
      for (int64_t i = indices.lookup(loop.getLowerBound()); i < end; i += step) {
        indices[loop.getInductionVar()] = i;
        for (auto [argument, value] : llvm::zip_equal(loop.getRegionIterArgs(), carried))
          tensors[argument] = value;
        if (!visit(*loop.getBody()))
          return false;
        for (auto [value, yielded] :
             llvm::zip_equal(carried, loop.getBody()->getTerminator()->getOperands()))
          value = tensors[yielded];
      }
      for (auto [result, value] : llvm::zip_equal(loop.getResults(), carried))
        tensors[result] = value;
      return true;
    }
    return fail(op, "not known here");
  }

  bool visitArith(Operation &op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
        indices[constant] = integer.getInt();
      else
        floats[constant] = cast<FloatAttr>(constant.getValue()).getValueAsDouble();
      return true;
    }
    int64_t a = indices.lookup(op.getOperand(0)), b = indices.lookup(op.getOperand(1));
    int64_t &result = indices[op.getResult(0)];
    if (isa<arith::AddIOp>(op))
      result = a + b;
    else if (isa<arith::DivUIOp>(op))
      result = a / b;
    else if (isa<arith::RemUIOp>(op))
      result = a % b;
    else if (auto compare = dyn_cast<arith::CmpIOp>(op);
             compare && compare.getPredicate() == arith::CmpIPredicate::ult)
      result = a < b;
    else
      return fail(op, "not known here");
    return true;
  }

  bool visitAccess(ktdp::ConstructAccessTileOp op) {
    if (!op.getAccessTileOrder().isIdentity())
      return fail(*op, "only the order of the dims is known here");
    const View &view = views.find(op.getBase())->second;
    Tile result;
    result.element = view.element;
    SmallVector<int64_t> dims;
    for (Value index : op.getIndices())
      dims.push_back(indices.lookup(index));
    SmallVector<int64_t> base;
    for (AffineExpr expr : op.getBaseMap().getResults())
      base.push_back(evaluate(expr, dims));
    ArrayRef<int64_t> box = op.getResult().getType().getShape();
    std::vector<int64_t> point(base.size(), 0), coordinates(base.size());
    do {
      if (!isInSet(op.getAccessTileSet(), point))
        return fail(*op, "the set has holes");
      for (size_t i = 0; i < base.size(); ++i)
        coordinates[i] = base[i] + point[i];
      uint8_t *place = locate(view, coordinates);
      if (!place)
        return fail(*op, "out of bounds");
      result.places.push_back(place);
    } while (nextPoint(point, box));
    tiles[op.getResult()] = std::move(result);
    return true;
  }

  uint8_t *locate(const View &view, ArrayRef<int64_t> point) {
    int64_t offset = 0;
    for (size_t i = 0; i < point.size(); ++i) {
      if (point[i] < 0 || point[i] >= view.sizes[i])
        return nullptr;
      offset += point[i] * view.strides[i];
    }
    int64_t width = view.element.getIntOrFloatBitWidth() / 8;
    int64_t address = view.address + offset * width;
    if (address < 0 || address + width > static_cast<int64_t>(view.memory->size()))
      return nullptr;
    return view.memory->data() + address;
  }

  static float read(const uint8_t *place, Type type) {
    if (type.isF16()) {
      uint16_t code;
      std::memcpy(&code, place, sizeof(code));
      float value = ::spyre::decodeDL16(code);
      // The one code of infinity and NaN poisons what it touches.
      return std::isinf(value) ? std::numeric_limits<float>::quiet_NaN() : value;
    }
    float value;
    std::memcpy(&value, place, sizeof(value));
    return value;
  }

  static void write(uint8_t *place, float value, Type type) {
    if (type.isF16()) {
      uint16_t code = ::spyre::encodeDL16(value);
      std::memcpy(place, &code, sizeof(code));
      return;
    }
    std::memcpy(place, &value, sizeof(value));
  }

  /// One scalar operation of a body: a function of up to three slots. Truth values are 1
  /// and 0.
  struct Step {
    std::function<float(float, float, float)> apply;
    size_t a, b, c, result;
    bool isRounded; ///< to DL16
  };

  static std::function<float(float, float, float)> getComparison(arith::CmpFPredicate predicate) {
    switch (predicate) {
    case arith::CmpFPredicate::OEQ:
      return [](float a, float b, float) { return float(a == b); };
    case arith::CmpFPredicate::UNE:
      return [](float a, float b, float) { return float(a != b); };
    case arith::CmpFPredicate::OGE:
      return [](float a, float b, float) { return float(a >= b); };
    case arith::CmpFPredicate::OGT:
      return [](float a, float b, float) { return float(a > b); };
    case arith::CmpFPredicate::OLE:
      return [](float a, float b, float) { return float(a <= b); };
    case arith::CmpFPredicate::OLT:
      return [](float a, float b, float) { return float(a < b); };
    default:
      return nullptr;
    }
  }

  bool compile(linalg::GenericOp op, std::vector<Step> &steps, DenseMap<Value, size_t> &slots) {
    for (Value argument : op.getBody()->getArguments())
      slots.try_emplace(argument, slots.size());
    for (Operation &inner : op.getBody()->without_terminator()) {
      Step step;
      auto slotOf = [&](unsigned i) {
        return i < inner.getNumOperands() ? slots.lookup(inner.getOperand(i)) : 0;
      };
      step.a = slotOf(0);
      step.b = slotOf(1);
      step.c = slotOf(2);
      if (isa<arith::AddFOp>(inner))
        step.apply = [](float a, float b, float) { return a + b; };
      else if (isa<arith::MulFOp>(inner))
        step.apply = [](float a, float b, float) { return a * b; };
      else if (isa<arith::MaximumFOp>(inner))
        step.apply = [](float a, float b, float) { return std::isnan(a) || a > b ? a : b; };
      else if (isa<arith::MinimumFOp>(inner))
        step.apply = [](float a, float b, float) { return std::isnan(a) || a < b ? a : b; };
      else if (isa<arith::SubFOp>(inner))
        step.apply = [](float a, float b, float) { return a - b; };
      else if (auto constant = dyn_cast<arith::ConstantOp>(inner))
        step.apply =
            [number = static_cast<float>(cast<FloatAttr>(constant.getValue()).getValueAsDouble())](
                float, float, float) { return number; };
      else if (auto compare = dyn_cast<arith::CmpFOp>(inner)) {
        if (!(step.apply = getComparison(compare.getPredicate())))
          return fail(inner, "a comparison that is not known here");
      } else if (isa<arith::SelectOp>(inner))
        step.apply = [](float a, float b, float c) { return a != 0 ? b : c; };
      else if (isa<arith::UIToFPOp>(inner))
        step.apply = [](float a, float, float) { return a; };
      else if (isa<arith::NegFOp>(inner))
        step.apply = [](float a, float, float) { return -a; };
      else if (isa<math::AbsFOp>(inner))
        step.apply = [](float a, float, float) { return std::fabs(a); };
      else if (isa<arith::ExtFOp, arith::TruncFOp>(inner))
        step.apply = [](float a, float, float) { return a; };
      else
        return fail(inner, "not known here");
      step.isRounded = inner.getResult(0).getType().isF16();
      step.result = slots.try_emplace(inner.getResult(0), slots.size()).first->second;
      steps.push_back(step);
    }
    return true;
  }

  bool visitGeneric(linalg::GenericOp op) {
    Tensor result = tensors[op.getOutputs()[0]];
    SmallVector<const Tensor *> operands;
    for (Value input : op.getInputs())
      operands.push_back(&tensors[input]);
    operands.push_back(&result);
    SmallVector<int64_t> staticRanges = op.getStaticLoopRanges();
    std::vector<int64_t> ranges(staticRanges.begin(), staticRanges.end());
    // Where the operands' elements are: linear in the point.
    std::vector<std::vector<int64_t>> strides;
    for (auto [operand, map] : llvm::zip_equal(operands, op.getIndexingMapsArray())) {
      for (AffineExpr expr : map.getResults())
        if (auto constant = dyn_cast<AffineConstantExpr>(expr);
            constant ? constant.getValue() != 0 : !isa<AffineDimExpr>(expr))
          return fail(*op, "an indexing map is more than dims and zeros");
      std::vector<int64_t> &stride = strides.emplace_back();
      for (size_t d = 0; d < ranges.size(); ++d) {
        SmallVector<int64_t> unit(ranges.size(), 0), place;
        unit[d] = 1;
        for (AffineExpr expr : map.getResults())
          place.push_back(evaluate(expr, unit));
        stride.push_back(linearize(place, operand->shape));
      }
    }
    std::vector<Step> steps;
    DenseMap<Value, size_t> slots;
    if (!compile(op, steps, slots))
      return false;
    size_t yielded = slots.lookup(op.getBody()->getTerminator()->getOperand(0));
    std::vector<float> values(slots.size());
    std::vector<int64_t> point(ranges.size(), 0);
    do {
      int64_t place = 0;
      for (size_t i = 0; i < operands.size(); ++i) {
        place = 0;
        for (size_t d = 0; d < point.size(); ++d)
          place += point[d] * strides[i][d];
        values[i] = operands[i]->values[place];
      }
      for (const Step &step : steps) {
        float value = step.apply(values[step.a], values[step.b], values[step.c]);
        values[step.result] = step.isRounded ? ::spyre::roundToDL16(value) : value;
      }
      result.values[place] = values[yielded];
    } while (nextPoint(point, ranges));
    tensors[op.getResult(0)] = std::move(result);
    return true;
  }

  std::vector<uint8_t> &memory;
  std::vector<uint8_t> lx;
  int64_t tile;
  std::string error;
  DenseMap<Value, int64_t> indices;
  DenseMap<Value, float> floats;
  // Maps whose elements stay where they are while others are added.
  struct Tensors {
    std::map<void *, Tensor> store;
    Tensor &operator[](Value value) { return store[value.getAsOpaquePointer()]; }
  } tensors;
  DenseMap<Value, View> views;
  struct Tiles {
    std::map<void *, Tile> store;
    Tile &operator[](Value value) { return store[value.getAsOpaquePointer()]; }
  } tiles;
};
} // namespace

std::string ktirtest::run(func::FuncOp kernel, std::vector<uint8_t> &memory,
                          const std::vector<int64_t> &arguments, bool reversed) {
  std::optional<SmallVector<int64_t>> grid = ktdp::getGrid(kernel);
  if (!grid || grid->size() != 1)
    return "the grid has not one dim";
  for (int64_t i = 0, e = grid->front(); i < e; ++i) {
    std::string error = Interpreter(memory, reversed ? e - 1 - i : i).run(kernel, arguments);
    if (!error.empty())
      return error;
  }
  return "";
}
