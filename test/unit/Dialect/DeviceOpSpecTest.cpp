//===- DeviceOpSpecTest.cpp - Changes of device operations ----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every operation of the table is built with every optional field and taken through each
// change: what the change is not about must survive. The fields are the attributes that
// the operation has, so that a new one is tested as soon as `buildFull` sets it.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSet.h"

#include <gtest/gtest.h>

#include <functional>

using namespace mlir;
using namespace mlir::spyre;

namespace {

constexpr int64_t kExtents[] = {4, 6};

class DeviceOpSpecTest : public testing::Test {
protected:
  DeviceOpSpecTest() : b(&context) {
    context.loadDialect<SpyreDialect>();
    type = RankedTensorType::get(kExtents, b.getF16Type());
    for (unsigned i = 0; i < 8; ++i)
      values.push_back(block.addArgument(type, b.getUnknownLoc()));
    loop = block.addArgument(b.getIndexType(), b.getUnknownLoc());
    b.setInsertionPointToEnd(&block);
  }
  ~DeviceOpSpecTest() override {
    for (Operation &op : llvm::make_early_inc_range(block))
      op.erase();
  }

  AffineMap getMap(ArrayRef<AffineExpr> results) { return AffineMap::get(2, 1, results, &context); }

  /// An operation with all that one can have. It keeps no rules: only building is tested.
  DeviceOpInterface buildFull(const ::spyre::OpFuncInfo &info) {
    AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1),
               s0 = b.getAffineSymbolExpr(0);
    DeviceOpSpec spec;
    spec.opFunc = info.opFunc;
    for (int64_t i = 0; i <= info.numInputs; ++i) { // one more: the index
      spec.inputs.push_back(values[i]);
      spec.maps.push_back(getMap({d0 + s0 * 4, d1 + i}));
    }
    spec.output = values[6];
    spec.resultType = type;
    spec.maps.push_back(getMap({d1, d0}));
    spec.extents.assign(std::begin(kExtents), std::end(kExtents));
    spec.splits = {2, 3};
    spec.loopVariables = {loop};
    spec.constants = {b.getNamedAttr("clipMin", b.getF64FloatAttr(0.5))};
    spec.kFast = true;
    spec.gather = {1, 0, 0};
    spec.attributes = {b.getNamedAttr("test.note", b.getStringAttr("kept"))};
    return buildDeviceOp(b, b.getUnknownLoc(), spec);
  }

  /// Fails where \p made differs from \p op in an attribute, operand or type; \p attributes
  /// and \p operands are those that may.
  void expectKept(DeviceOpInterface op, DeviceOpInterface made, const llvm::StringSet<> &attributes,
                  ArrayRef<unsigned> operands) {
    ASSERT_EQ(op->getName().getStringRef().str(), made->getName().getStringRef().str());
    ASSERT_EQ(op->getAttrDictionary().size(), made->getAttrDictionary().size());
    for (NamedAttribute attribute : op->getAttrDictionary())
      if (!attributes.contains(attribute.getName().getValue()))
        EXPECT_EQ(attribute.getValue(), made->getAttr(attribute.getName()))
            << op->getName().getStringRef().str() << " " << attribute.getName().getValue().str();
    ASSERT_EQ(op->getNumOperands(), made->getNumOperands());
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      if (!llvm::is_contained(operands, i))
        EXPECT_EQ(op->getOperand(i), made->getOperand(i));
    EXPECT_EQ(op->getResultTypes(), made->getResultTypes());
  }

  void forAll(const std::function<void(DeviceOpInterface)> &test) {
    int count = 0;
    for (const ::spyre::OpFuncInfo &info : ::spyre::getOpFuncTable())
      if (info.specified && !getOperationName(info.opFunc).empty()) {
        DeviceOpInterface op = buildFull(info);
        EXPECT_EQ(op.getOpFunc(), info.opFunc);
        EXPECT_EQ(&op.getInfo(), &info);
        test(op);
        ++count;
      }
    EXPECT_GE(count, 40);
  }

  MLIRContext context;
  OpBuilder b;
  Block block;
  RankedTensorType type;
  SmallVector<Value> values;
  Value loop;
};

TEST_F(DeviceOpSpecTest, NothingIsLost) {
  forAll([&](DeviceOpInterface op) {
    expectKept(op, buildDeviceOp(b, op->getLoc(), DeviceOpSpec::of(op)), {}, {});
  });
}

TEST_F(DeviceOpSpecTest, RestrictKeepsTheRest) {
  forAll([&](DeviceOpInterface op) {
    DeviceOpSpec part = DeviceOpSpec::of(op).restrict(1, 2, 3);
    EXPECT_EQ(part.extents, (SmallVector<int64_t>{4, 3}));
    expectKept(op, buildDeviceOp(b, op->getLoc(), part), {"extents", "maps"}, {});
  });
}

TEST_F(DeviceOpSpecTest, SubstituteKeepsTheRest) {
  forAll([&](DeviceOpInterface op) {
    DeviceOpSpec turned = DeviceOpSpec::of(op).substitute(
        {b.getAffineDimExpr(1), b.getAffineDimExpr(0)}, {kExtents[1], kExtents[0]});
    EXPECT_EQ(turned.splits, (SmallVector<int64_t>{3, 2}));
    expectKept(op, buildDeviceOp(b, op->getLoc(), turned), {"extents", "maps", "splits"}, {});
  });
}

TEST_F(DeviceOpSpecTest, OperandsKeepTheRest) {
  forAll([&](DeviceOpInterface op) {
    DeviceOpSpec other = DeviceOpSpec::of(op).withOperand(0, values[7]);
    EXPECT_EQ(other.inputs[0], values[7]);
    expectKept(op, buildDeviceOp(b, op->getLoc(), other), {}, {0});
    AffineMap map = getMap({b.getAffineConstantExpr(0)});
    DeviceOpSpec mapped = DeviceOpSpec::of(op).withOperand(0, values[7], map);
    EXPECT_EQ(mapped.maps[0], map);
    EXPECT_EQ(ArrayRef(mapped.maps).drop_front(), ArrayRef(other.maps).drop_front());
  });
}

TEST_F(DeviceOpSpecTest, OutputsKeepTheRest) {
  forAll([&](DeviceOpInterface op) {
    unsigned output = op.getInputs().size();
    DeviceOpSpec other = DeviceOpSpec::of(op).withOutput(values[7], type);
    expectKept(op, buildDeviceOp(b, op->getLoc(), other), {}, {output});
    DeviceOpInterface buffered =
        buildDeviceOp(b, op->getLoc(), DeviceOpSpec::of(op).withOutput(values[7], Type()));
    EXPECT_EQ(buffered.getOutput(), values[7]);
    EXPECT_FALSE(buffered.getResultTensor());
    EXPECT_EQ(op->getAttrDictionary(), buffered->getAttrDictionary());
  });
}

/// What \p map gives at a point.
SmallVector<int64_t> evaluate(AffineMap map, ArrayRef<int64_t> point) {
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> dims;
  for (int64_t coordinate : point)
    dims.push_back(getAffineConstantExpr(coordinate, context));
  AffineMap constant = map.replaceDimsAndSymbols(dims, {getAffineConstantExpr(1, context)}, 0, 0);
  return constant.getConstantResults();
}

TEST_F(DeviceOpSpecTest, PartsHaveTheSameAccesses) {
  DeviceOpSpec whole = DeviceOpSpec::of(buildFull(::spyre::getOpFuncInfo(::spyre::OpFunc::Add)));
  DeviceOpSpec part = whole.restrict(1, 2, 3);
  for (unsigned i = 0; i < whole.maps.size(); ++i)
    for (int64_t x = 0; x < part.extents[0]; ++x)
      for (int64_t y = 0; y < part.extents[1]; ++y)
        EXPECT_EQ(evaluate(part.maps[i], {x, y}), evaluate(whole.maps[i], {x, y + 2}));
}

TEST_F(DeviceOpSpecTest, SubstitutedDimsHaveTheSameAccesses) {
  DeviceOpSpec whole = DeviceOpSpec::of(buildFull(::spyre::getOpFuncInfo(::spyre::OpFunc::Add)));
  // d1 = 6 becomes 3 x 2; d0 comes last.
  DeviceOpSpec other = whole.substitute(
      {b.getAffineDimExpr(2), b.getAffineDimExpr(0) * 2 + b.getAffineDimExpr(1)}, {3, 2, 4});
  EXPECT_EQ(other.splits, (SmallVector<int64_t>{1, 1, 2}));
  for (unsigned i = 0; i < whole.maps.size(); ++i)
    for (int64_t x = 0; x < 3; ++x)
      for (int64_t y = 0; y < 2; ++y)
        for (int64_t z = 0; z < 4; ++z)
          EXPECT_EQ(evaluate(other.maps[i], {x, y, z}), evaluate(whole.maps[i], {z, 2 * x + y}));
}

} // namespace
