//===- LaneReader.cpp - Scalar code to lanes --------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which step each scalar operation is, in one table; what needs more than that has a
// function below.
//
//===----------------------------------------------------------------------===//

#include "Reader.h"

#include "spyre/Dialect/KTIR/IR/SpyreopDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace spyre::ktir;

namespace {
/// Operations whose operands and result go to one step as they are.
const DenseMap<TypeID, LaneOp> &getTable() {
  static const DenseMap<TypeID, LaneOp> table = {
#define ROW(CLASS, OP) {TypeID::get<CLASS>(), LaneOp::OP}
      ROW(arith::AddFOp, AddF),
      ROW(arith::SubFOp, SubF),
      ROW(arith::MulFOp, MulF),
      ROW(arith::DivFOp, DivF),
      ROW(arith::RemFOp, RemF),
      ROW(arith::MaximumFOp, MaxF),
      ROW(arith::MinimumFOp, MinF),
      ROW(arith::MaxNumFOp, MaxNumF),
      ROW(arith::MinNumFOp, MinNumF),
      ROW(arith::NegFOp, NegF),
      ROW(arith::TruncFOp, MoveF),
      ROW(arith::SIToFPOp, SIToF),
      ROW(arith::UIToFPOp, UIToF),
      ROW(arith::FPToSIOp, FToSI),
      ROW(arith::FPToUIOp, FToUI),
      ROW(arith::TruncIOp, Wrap),
      ROW(arith::IndexCastOp, SignExtend),
      ROW(arith::IndexCastUIOp, ZeroExtend),
      ROW(arith::ExtSIOp, SignExtend),
      ROW(arith::ExtUIOp, ZeroExtend),
      ROW(arith::AddIOp, AddI),
      ROW(arith::SubIOp, SubI),
      ROW(arith::MulIOp, MulI),
      ROW(arith::DivSIOp, DivS),
      ROW(arith::DivUIOp, DivU),
      ROW(arith::RemSIOp, RemS),
      ROW(arith::RemUIOp, RemU),
      ROW(arith::CeilDivSIOp, CeilDivS),
      ROW(arith::CeilDivUIOp, CeilDivU),
      ROW(arith::FloorDivSIOp, FloorDivS),
      ROW(arith::MaxSIOp, MaxS),
      ROW(arith::MinSIOp, MinS),
      ROW(arith::MaxUIOp, MaxU),
      ROW(arith::MinUIOp, MinU),
      ROW(arith::AndIOp, And),
      ROW(arith::OrIOp, Or),
      ROW(arith::XOrIOp, Xor),
      ROW(arith::ShLIOp, ShiftL),
      ROW(arith::ShRSIOp, ShiftRS),
      ROW(arith::ShRUIOp, ShiftRU),
      ROW(math::AbsFOp, AbsF),
      ROW(math::CeilOp, CeilF),
      ROW(math::FloorOp, FloorF),
      ROW(math::RoundOp, RoundF),
      ROW(math::RoundEvenOp, RoundEvenF),
      ROW(math::TruncOp, TruncF),
      ROW(math::ExpOp, ExpF),
      ROW(math::Exp2Op, Exp2F),
      ROW(math::ExpM1Op, ExpM1F),
      ROW(math::LogOp, LogF),
      ROW(math::Log2Op, Log2F),
      ROW(math::Log10Op, Log10F),
      ROW(math::Log1pOp, Log1pF),
      ROW(math::SqrtOp, SqrtF),
      ROW(math::RsqrtOp, RsqrtF),
      ROW(math::CbrtOp, CbrtF),
      ROW(math::TanhOp, TanhF),
      ROW(math::SinOp, SinF),
      ROW(math::CosOp, CosF),
      ROW(math::TanOp, TanF),
      ROW(math::AsinOp, AsinF),
      ROW(math::AcosOp, AcosF),
      ROW(math::AtanOp, AtanF),
      ROW(math::SinhOp, SinhF),
      ROW(math::CoshOp, CoshF),
      ROW(math::AsinhOp, AsinhF),
      ROW(math::AcoshOp, AcoshF),
      ROW(math::AtanhOp, AtanhF),
      ROW(math::ErfOp, ErfF),
      ROW(math::ErfcOp, ErfcF),
      ROW(math::PowFOp, PowF),
      ROW(math::Atan2Op, Atan2F),
      ROW(math::CopySignOp, CopySignF),
      ROW(math::FmaOp, FmaF),
      ROW(math::FPowIOp, FPowI),
      ROW(math::IPowIOp, IPowI),
      ROW(math::IsNaNOp, IsNaN),
      ROW(math::IsInfOp, IsInf),
      ROW(math::IsFiniteOp, IsFinite),
      ROW(math::IsNormalOp, IsNormal),
      ROW(math::AbsIOp, AbsI),
      ROW(math::CtPopOp, CountOnes),
      ROW(math::CountLeadingZerosOp, CountLeadingZeros),
      ROW(math::CountTrailingZerosOp, CountTrailingZeros),
      ROW(spyreop::ExpOp, ExpF),
      ROW(spyreop::SqrtOp, SqrtF),
      ROW(spyreop::RsqrtOp, RsqrtF),
      ROW(spyreop::ReciprocalOp, ReciprocalF),
      ROW(spyreop::SigmoidOp, SigmoidF),
      ROW(spyreop::SiluOp, SiluF),
      ROW(spyreop::GeluOp, GeluF),
      ROW(spyreop::RealDivOp, DivF),
      ROW(spyreop::AddI32Op, AddI),
      ROW(spyreop::MulI32Op, MulI),
      ROW(spyreop::AddI64Op, AddI),
#undef ROW
  };
  return table;
}
} // namespace

bool LaneReader::knows(Operation *op) {
  return getTable().contains(op->getName().getTypeID()) ||
         isa<arith::CmpFOp, arith::CmpIOp, arith::SelectOp, arith::BitcastOp, arith::ExtFOp,
             arith::AddUIExtendedOp, arith::MulSIExtendedOp, arith::MulUIExtendedOp, math::SincosOp,
             math::ClampFOp, spyreop::SoftplusOp, spyreop::CompareOp, spyreop::SelectOp,
             spyreop::LayerNormScaleOp, spyreop::LayerNormNormOp, spyreop::Idx32ToAddrOp>(op);
}

uint16_t LaneReader::define(Value value) {
  uint16_t reg = program.numRegisters++;
  registers[value] = reg;
  return reg;
}

bool LaneReader::addArgument(Operation *op, Value value) {
  std::optional<Element> element = context.getElement(value.getType());
  if (!element) {
    context.reject(op, "numbers of type " + llvm::Twine(toText(value.getType())) +
                           " are not supported");
    return false;
  }
  program.arguments.push_back(define(value));
  program.argumentTypes.push_back(*element);
  return true;
}

void LaneReader::addCoordinate(Value value, unsigned dim) {
  program.coordinates.push_back({define(value), static_cast<uint16_t>(dim)});
}

bool LaneReader::readConstant(Operation *op, Value value, Attribute attribute) {
  std::optional<Element> element = context.getElement(value.getType());
  if (!element) {
    context.reject(op, "numbers of type " + llvm::Twine(toText(value.getType())) +
                           " are not supported");
    return false;
  }
  LaneProgram::Constant constant{0, *element, 0, 0};
  if (auto number = dyn_cast<FloatAttr>(attribute)) {
    constant.f = static_cast<float>(number.getValueAsDouble());
    roundTo(*element, &constant.f, 1);
  } else if (auto number = dyn_cast<IntegerAttr>(attribute)) {
    constant.i = wrapTo(*element, number.getValue().getSExtValue());
  } else {
    context.reject(op, "a constant that is no number in scalar code");
    return false;
  }
  constant.reg = define(value);
  program.constants.push_back(constant);
  return true;
}

std::optional<uint16_t> LaneReader::getRegister(Operation *op, Value value) {
  if (auto it = registers.find(value); it != registers.end())
    return it->second;
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    if (!readConstant(op, value, constant.getValue()))
      return std::nullopt;
    return registers[value];
  }
  std::optional<Element> element = context.getElement(value.getType());
  if (!element || isa<ShapedType>(value.getType())) {
    context.reject(op, "a value of type " + llvm::Twine(toText(value.getType())) +
                           " is not supported here");
    return std::nullopt;
  }
  uint16_t reg = define(value);
  program.shared.push_back({reg, static_cast<uint16_t>(captured.size()), *element});
  captured.push_back(value);
  return reg;
}

bool LaneReader::yield(Operation *op, Value value) {
  std::optional<uint16_t> reg = getRegister(op, value);
  if (!reg)
    return false;
  program.yielded.push_back(*reg);
  program.yieldedTypes.push_back(*context.getElement(value.getType()));
  return true;
}

bool LaneReader::readBody(Block &block) {
  bool isGood = true;
  for (Operation &op : block.without_terminator())
    isGood &= read(&op);
  if (!isGood)
    return false;
  for (Value value : block.getTerminator()->getOperands())
    isGood &= yield(block.getTerminator(), value);
  return isGood;
}

bool LaneReader::read(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return readConstant(op, constant, constant.getValue());
  if (auto constant = dyn_cast<spyreop::ConstantOp>(op))
    return readConstant(op, constant.getResult(), constant.getValue());
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    addCoordinate(index, index.getDim());
    return true;
  }
  bool isExtract = isa<tensor::ExtractOp>(op);
  if (!isExtract && !knows(op)) {
    context.reject(op, "is not supported in scalar code");
    return false;
  }
  LaneStep step{};
  SmallVector<uint16_t> operands;
  for (Value operand : op->getOperands().drop_front(isExtract)) {
    std::optional<uint16_t> reg = getRegister(op, operand);
    if (!reg)
      return false;
    operands.push_back(*reg);
  }
  for (Type type : op->getResultTypes())
    if (!context.getElement(type)) {
      context.reject(op, "numbers of type " + llvm::Twine(toText(type)) + " are not supported");
      return false;
    }
  step.a = operands.empty() ? 0 : operands[0];
  step.b = operands.size() > 1 ? operands[1] : step.a;
  step.c = operands.size() > 2 ? operands[2] : step.a;
  step.type = *context.getElement(op->getResult(0).getType());
  if (op->getNumOperands())
    if (std::optional<Element> from = context.getElement(op->getOperand(0).getType()))
      step.from = *from;
  auto append = [&](LaneOp code, Value result) {
    step.op = code;
    step.result = define(result);
    program.steps.push_back(step);
  };
  // Widening is exact: the same numbers.
  if (isa<arith::ExtFOp>(op)) {
    registers[op->getResult(0)] = operands[0];
    return true;
  }
  if (isExtract) {
    auto extract = cast<tensor::ExtractOp>(op);
    step.number = program.tables.size();
    program.tables.push_back(captured.size());
    captured.push_back(extract.getTensor());
    step.more.assign(operands.begin(), operands.end());
    if (operands.empty())
      step.a = step.b = step.c = 0;
    append(step.type.isFloat() ? LaneOp::ExtractF : LaneOp::ExtractI, op->getResult(0));
    return true;
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    step.number = static_cast<int64_t>(compare.getPredicate());
    append(LaneOp::CmpF, op->getResult(0));
    return true;
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    step.number = static_cast<int64_t>(compare.getPredicate());
    append(LaneOp::CmpI, op->getResult(0));
    return true;
  }
  if (isa<arith::SelectOp>(op)) {
    append(step.type.isFloat() ? LaneOp::SelectF : LaneOp::SelectI, op->getResult(0));
    return true;
  }
  if (isa<arith::BitcastOp>(op)) {
    append(step.from.isFloat() ? (step.type.isFloat() ? LaneOp::BitcastFF : LaneOp::BitcastFI)
                               : (step.type.isFloat() ? LaneOp::BitcastIF : LaneOp::Wrap),
           op->getResult(0));
    return true;
  }
  if (isa<arith::AddUIExtendedOp>(op)) {
    append(LaneOp::AddI, op->getResult(0));
    append(LaneOp::AddCarryU, op->getResult(1));
    return true;
  }
  if (isa<arith::MulSIExtendedOp, arith::MulUIExtendedOp>(op)) {
    append(LaneOp::MulI, op->getResult(0));
    append(isa<arith::MulSIExtendedOp>(op) ? LaneOp::MulHighS : LaneOp::MulHighU, op->getResult(1));
    return true;
  }
  if (isa<math::SincosOp>(op)) {
    append(LaneOp::SinF, op->getResult(0));
    append(LaneOp::CosF, op->getResult(1));
    return true;
  }
  auto appendHidden = [&](LaneOp code, Element type) {
    step.op = code;
    step.type = type;
    step.result = program.numRegisters++;
    program.steps.push_back(step);
    return step.result;
  };
  auto addConstant = [&](Element type, float f) {
    program.constants.push_back({program.numRegisters, type, f, 0});
    return program.numRegisters++;
  };
  if (auto softplus = dyn_cast<spyreop::SoftplusOp>(op)) {
    step.parameters[0] = softplus.getBeta().convertToFloat();
    step.parameters[1] = softplus.getThreshold().convertToFloat();
    append(LaneOp::SoftplusF, op->getResult(0));
    return true;
  }
  if (auto compare = dyn_cast<spyreop::CompareOp>(op)) {
    // Bools are the numbers 1 and 0 there.
    static constexpr arith::CmpFPredicate kPredicates[] = {
        arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE, arith::CmpFPredicate::OGT,
        arith::CmpFPredicate::OGE, arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE};
    Element type = step.type;
    step.number = static_cast<int64_t>(kPredicates[static_cast<unsigned>(compare.getPredicate())]);
    uint16_t truth = appendHidden(LaneOp::CmpF, kBool);
    step.a = step.b = step.c = truth;
    step.from = kBool;
    step.type = type;
    append(LaneOp::UIToF, op->getResult(0));
    return true;
  }
  if (isa<spyreop::SelectOp>(op)) {
    Element type = step.type;
    uint16_t ifTrue = step.b, ifFalse = step.c;
    step.number = static_cast<int64_t>(arith::CmpFPredicate::UNE);
    step.b = step.c = addConstant(kF32, 0);
    uint16_t truth = appendHidden(LaneOp::CmpF, kBool);
    step.a = truth;
    step.b = ifTrue;
    step.c = ifFalse;
    step.type = type;
    append(LaneOp::SelectF, op->getResult(0));
    return true;
  }
  if (isa<spyreop::LayerNormScaleOp>(op)) {
    // 1 / sqrt(max(squares - mean^2, 0)); the epsilon of a norm is added before.
    Element type = step.type;
    uint16_t mean = step.a, squares = step.b;
    step.b = mean;
    uint16_t square = appendHidden(LaneOp::MulF, kF32);
    step.a = squares;
    step.b = square;
    uint16_t variance = appendHidden(LaneOp::SubF, kF32);
    step.a = variance;
    step.b = addConstant(kF32, 0);
    step.a = appendHidden(LaneOp::MaxF, kF32);
    step.b = step.a;
    step.type = type;
    append(LaneOp::RsqrtF, op->getResult(0));
    return true;
  }
  if (isa<spyreop::LayerNormNormOp>(op)) {
    // (x - mean) * scale * weight + bias
    Element type = step.type;
    step.c = step.a;
    step.a = appendHidden(LaneOp::SubF, kF32);
    for (unsigned factor : {2, 3}) {
      step.b = operands[factor];
      step.a = appendHidden(LaneOp::MulF, kF32);
    }
    step.b = operands[4];
    step.type = type;
    append(LaneOp::AddF, op->getResult(0));
    return true;
  }
  if (isa<spyreop::Idx32ToAddrOp>(op)) {
    // base + index * stride
    uint16_t base = step.b, product;
    step.b = step.c;
    product = appendHidden(LaneOp::MulI, step.type);
    step.a = product;
    step.b = step.c = base;
    append(LaneOp::AddI, op->getResult(0));
    return true;
  }
  if (isa<math::ClampFOp>(op)) {
    // min(max(value, low), high)
    uint16_t high = step.c;
    step.op = LaneOp::MaxF;
    step.c = step.a;
    step.result = program.numRegisters++;
    program.steps.push_back(step);
    step.a = step.result;
    step.b = step.c = high;
    append(LaneOp::MinF, op->getResult(0));
    return true;
  }
  append(getTable().lookup(op->getName().getTypeID()), op->getResult(0));
  return true;
}
