//===- Lanes.cpp - Steps on blocks of lanes ---------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One loop a step. Divisions that the hardware would trap on are errors; shifts by the width
// or more give zero, as a poison value may.
//
//===----------------------------------------------------------------------===//

#include "spyre/KTIRExecutor/Machine/Lanes.h"

#include "spyre/Numerics/DL16.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace spyre::ktir;

LaneMachine::LaneMachine(const LaneProgram &program, const std::vector<const Datum *> &operands,
                         bool roundsEach)
    : program(program), roundsEach(roundsEach), blocks(new LaneBlock[program.numRegisters]),
      pointers(program.numRegisters) {
  for (size_t i = 0; i < pointers.size(); ++i)
    pointers[i].f = blocks[i].f;
  auto fill = [&](uint16_t reg, Element type, float f, int64_t i) {
    for (int64_t lane = 0; lane < kLanes; ++lane)
      if (type.isFloat())
        blocks[reg].f[lane] = f;
      else
        blocks[reg].i[lane] = i;
  };
  for (const LaneProgram::Constant &constant : program.constants)
    fill(constant.reg, constant.type, constant.f, constant.i);
  for (const LaneProgram::Shared &shared : program.shared)
    fill(shared.reg, shared.type, operands[shared.operand]->f, operands[shared.operand]->i);
  for (uint16_t operand : program.tables)
    tables.push_back(&operands[operand]->as<Tensor>());
}

bool LaneMachine::run(int64_t count, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    const LaneStep &step = program.steps[i];
    if (!runStep(step, count))
      return false;
    if (roundsEach && !step.isUnrounded && step.type.isFloat() &&
        step.type.kind != ElementKind::F32)
      roundTo(step.type, pointers[step.result].f, count);
  }
  return true;
}

namespace {
int64_t divideFloor(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

uint64_t toUnsigned(Element type, int64_t value) {
  auto bits = static_cast<uint64_t>(value);
  return type.bits >= 64 ? bits : bits & ((uint64_t(1) << type.bits) - 1);
}

bool compareFloats(int64_t predicate, float a, float b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  // arith's numbers: 0 false, ordered 1..7 (oeq ogt oge olt ole one ord), unordered 8..14
  // (ueq ugt uge ult ule une uno), 15 true.
  switch (predicate) {
  case 0:
    return false;
  case 15:
    return true;
  case 7:
    return !unordered;
  case 14:
    return unordered;
  default:
    break;
  }
  if (unordered)
    return predicate >= 8;
  switch (predicate >= 8 ? predicate - 7 : predicate) {
  case 1:
    return a == b;
  case 2:
    return a > b;
  case 3:
    return a >= b;
  case 4:
    return a < b;
  case 5:
    return a <= b;
  default:
    return a != b;
  }
}

bool compareInts(int64_t predicate, Element type, int64_t a, int64_t b) {
  uint64_t ua = toUnsigned(type, a), ub = toUnsigned(type, b);
  // A bool of one is -1 where it is signed.
  if (type.bits == 1) {
    a = -a;
    b = -b;
  }
  switch (predicate) { // arith's numbers: eq ne slt sle sgt sge ult ule ugt uge
  case 0:
    return a == b;
  case 1:
    return a != b;
  case 2:
    return a < b;
  case 3:
    return a <= b;
  case 4:
    return a > b;
  case 5:
    return a >= b;
  case 6:
    return ua < ub;
  case 7:
    return ua <= ub;
  case 8:
    return ua > ub;
  default:
    return ua >= ub;
  }
}

float roundHalfAway(float x) { return std::round(x); }
float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

/// The nearest integer that \p bits have; beyond the range, and for NaN, the nearest end or 0.
int64_t toInteger(float value, int bits, bool isSigned) {
  if (std::isnan(value))
    return 0;
  double low = isSigned ? -std::ldexp(1.0, bits - 1) : 0;
  double high = std::ldexp(1.0, isSigned ? bits - 1 : bits);
  double truncated = std::trunc(static_cast<double>(value));
  if (truncated <= low)
    return isSigned ? (bits == 64 ? INT64_MIN : static_cast<int64_t>(low)) : 0;
  if (truncated >= high)
    return isSigned ? (bits == 64 ? INT64_MAX : static_cast<int64_t>(high - 1))
                    : static_cast<int64_t>(bits == 64 ? UINT64_MAX : (uint64_t(1) << bits) - 1);
  return isSigned ? static_cast<int64_t>(truncated)
                  : static_cast<int64_t>(static_cast<uint64_t>(truncated));
}
} // namespace

bool LaneMachine::runStep(const LaneStep &step, int64_t n) {
  const float *fa = pointers[step.a].f, *fb = pointers[step.b].f, *fc = pointers[step.c].f;
  const int64_t *ia = pointers[step.a].i, *ib = pointers[step.b].i, *ic = pointers[step.c].i;
  float *fr = pointers[step.result].f;
  int64_t *ir = pointers[step.result].i;
  Element type = step.type, from = step.from;
#define EACH(EXPR)                                                                                 \
  for (int64_t l = 0; l < n; ++l)                                                                  \
    EXPR;                                                                                          \
  return true
#define FLOAT1(OP, EXPR)                                                                           \
  case LaneOp::OP: {                                                                               \
    for (int64_t l = 0; l < n; ++l) {                                                              \
      float x = fa[l];                                                                             \
      fr[l] = EXPR;                                                                                \
    }                                                                                              \
    return true;                                                                                   \
  }
#define FLOAT2(OP, EXPR)                                                                           \
  case LaneOp::OP: {                                                                               \
    for (int64_t l = 0; l < n; ++l) {                                                              \
      float x = fa[l], y = fb[l];                                                                  \
      fr[l] = EXPR;                                                                                \
    }                                                                                              \
    return true;                                                                                   \
  }
#define INT1(OP, EXPR)                                                                             \
  case LaneOp::OP: {                                                                               \
    for (int64_t l = 0; l < n; ++l) {                                                              \
      int64_t x = ia[l];                                                                           \
      ir[l] = wrapTo(type, static_cast<int64_t>(EXPR));                                            \
    }                                                                                              \
    return true;                                                                                   \
  }
#define INT2(OP, EXPR)                                                                             \
  case LaneOp::OP: {                                                                               \
    for (int64_t l = 0; l < n; ++l) {                                                              \
      uint64_t x = ia[l], y = ib[l];                                                               \
      ir[l] = wrapTo(type, static_cast<int64_t>(EXPR));                                            \
    }                                                                                              \
    return true;                                                                                   \
  }
// Signed: a bool of one is -1. Unsigned: the bits.
#define SIGNED2(OP, EXPR)                                                                          \
  case LaneOp::OP: {                                                                               \
    for (int64_t l = 0; l < n; ++l) {                                                              \
      int64_t x = type.bits == 1 ? -ia[l] : ia[l], y = type.bits == 1 ? -ib[l] : ib[l];            \
      ir[l] = wrapTo(type, static_cast<int64_t>(EXPR));                                            \
    }                                                                                              \
    return true;                                                                                   \
  }
#define UNSIGNED2(OP, EXPR)                                                                        \
  case LaneOp::OP: {                                                                               \
    for (int64_t l = 0; l < n; ++l) {                                                              \
      uint64_t x = toUnsigned(type, ia[l]), y = toUnsigned(type, ib[l]);                           \
      ir[l] = wrapTo(type, static_cast<int64_t>(EXPR));                                            \
    }                                                                                              \
    return true;                                                                                   \
  }
#define DIVIDE_SIGNED(OP, EXPR)                                                                    \
  case LaneOp::OP: {                                                                               \
    for (int64_t l = 0; l < n; ++l) {                                                              \
      int64_t x = ia[l], y = ib[l];                                                                \
      if (y == 0) {                                                                                \
        error = "division by zero";                                                                \
        return false;                                                                              \
      }                                                                                            \
      if (y == -1) { /* the smallest number has no negative */                                     \
        x = static_cast<int64_t>(0 - static_cast<uint64_t>(x));                                    \
        y = 1;                                                                                     \
      }                                                                                            \
      ir[l] = wrapTo(type, EXPR);                                                                  \
    }                                                                                              \
    return true;                                                                                   \
  }
#define DIVIDE_UNSIGNED(OP, EXPR)                                                                  \
  case LaneOp::OP: {                                                                               \
    for (int64_t l = 0; l < n; ++l) {                                                              \
      uint64_t x = toUnsigned(type, ia[l]), y = toUnsigned(type, ib[l]);                           \
      if (y == 0) {                                                                                \
        error = "division by zero";                                                                \
        return false;                                                                              \
      }                                                                                            \
      ir[l] = wrapTo(type, static_cast<int64_t>(EXPR));                                            \
    }                                                                                              \
    return true;                                                                                   \
  }
  switch (step.op) {
    FLOAT2(AddF, x + y)
    FLOAT2(SubF, x - y)
    FLOAT2(MulF, x * y)
    FLOAT2(DivF, x / y)
    FLOAT2(RemF, std::fmod(x, y))
    FLOAT2(MaxF, maximumOf(x, y))
    FLOAT2(MinF, minimumOf(x, y))
    FLOAT2(MaxNumF, std::fmax(x, y))
    FLOAT2(MinNumF, std::fmin(x, y))
    FLOAT2(PowF, std::pow(x, y))
    FLOAT2(Atan2F, std::atan2(x, y))
    FLOAT2(CopySignF, std::copysign(x, y))
    FLOAT1(MoveF, x)
    FLOAT1(NegF, -x)
    FLOAT1(AbsF, std::fabs(x))
    FLOAT1(CeilF, std::ceil(x))
    FLOAT1(FloorF, std::floor(x))
    FLOAT1(RoundF, roundHalfAway(x))
    FLOAT1(RoundEvenF, std::nearbyint(x))
    FLOAT1(TruncF, std::trunc(x))
    FLOAT1(ExpF, std::exp(x))
    FLOAT1(Exp2F, std::exp2(x))
    FLOAT1(ExpM1F, std::expm1(x))
    FLOAT1(LogF, std::log(x))
    FLOAT1(Log2F, std::log2(x))
    FLOAT1(Log10F, std::log10(x))
    FLOAT1(Log1pF, std::log1p(x))
    FLOAT1(SqrtF, std::sqrt(x))
    FLOAT1(RsqrtF, 1 / std::sqrt(x))
    FLOAT1(CbrtF, std::cbrt(x))
    FLOAT1(TanhF, std::tanh(x))
    FLOAT1(SinF, std::sin(x))
    FLOAT1(CosF, std::cos(x))
    FLOAT1(TanF, std::tan(x))
    FLOAT1(AsinF, std::asin(x))
    FLOAT1(AcosF, std::acos(x))
    FLOAT1(AtanF, std::atan(x))
    FLOAT1(SinhF, std::sinh(x))
    FLOAT1(CoshF, std::cosh(x))
    FLOAT1(AsinhF, std::asinh(x))
    FLOAT1(AcoshF, std::acosh(x))
    FLOAT1(AtanhF, std::atanh(x))
    FLOAT1(ErfF, std::erf(x))
    FLOAT1(ErfcF, std::erfc(x))
    FLOAT1(ReciprocalF, 1 / x)
    FLOAT1(SigmoidF, sigmoid(x))
    FLOAT1(SiluF, x * sigmoid(x))
    FLOAT1(GeluF, 0.5f * x * (1 + std::erf(x * 0.70710678f)))
  case LaneOp::SoftplusF: {
    float beta = step.parameters[0], threshold = step.parameters[1];
    EACH(fr[l] = fa[l] * beta > threshold ? fa[l] : std::log1p(std::exp(fa[l] * beta)) / beta);
  }
  case LaneOp::FmaF:
    EACH(fr[l] = std::fma(fa[l], fb[l], fc[l]));
  case LaneOp::FPowI:
    EACH(fr[l] = static_cast<float>(std::pow(static_cast<double>(fa[l]), ib[l])));
  case LaneOp::IPowI:
    for (int64_t l = 0; l < n; ++l) {
      int64_t base = ia[l], exponent = ib[l];
      if (exponent < 0 && base == 0) {
        error = "division by zero";
        return false;
      }
      uint64_t result = exponent < 0 ? (base == 1    ? 1
                                        : base == -1 ? (exponent & 1 ? -1 : 1)
                                                     : 0)
                                     : 1;
      for (uint64_t power = base; exponent > 0; exponent >>= 1, power *= power)
        if (exponent & 1)
          result *= power;
      ir[l] = wrapTo(type, static_cast<int64_t>(result));
    }
    return true;
  case LaneOp::CmpF:
    EACH(ir[l] = compareFloats(step.number, fa[l], fb[l]));
  case LaneOp::IsNaN:
    EACH(ir[l] = std::isnan(fa[l]));
  case LaneOp::IsInf:
    EACH(ir[l] = std::isinf(fa[l]));
  case LaneOp::IsFinite:
    EACH(ir[l] = std::isfinite(fa[l]));
  case LaneOp::IsNormal:
    EACH(ir[l] = std::isnormal(fa[l]));
  case LaneOp::SelectF:
    EACH(fr[l] = ia[l] ? fb[l] : fc[l]);
  case LaneOp::SelectI:
    EACH(ir[l] = ia[l] ? ib[l] : ic[l]);
  case LaneOp::SIToF:
    EACH(fr[l] = static_cast<float>(from.bits == 1 ? -ia[l] : ia[l]));
  case LaneOp::UIToF:
    EACH(fr[l] = static_cast<float>(toUnsigned(from, ia[l])));
  case LaneOp::FToSI:
    EACH(ir[l] = wrapTo(type, toInteger(fa[l], type.bits, true)));
  case LaneOp::FToUI:
    EACH(ir[l] = wrapTo(type, toInteger(fa[l], type.bits, false)));
  case LaneOp::BitcastFI:
    for (int64_t l = 0; l < n; ++l) {
      uint8_t bytes[8];
      encode(from, fa + l, bytes, 1);
      int64_t bits;
      decode(type, bytes, &bits, 1);
      ir[l] = bits;
    }
    return true;
  case LaneOp::BitcastIF:
    for (int64_t l = 0; l < n; ++l) {
      uint8_t bytes[8];
      encode(from, ia + l, bytes, 1);
      float value;
      decode(type, bytes, &value, 1);
      fr[l] = value;
    }
    return true;
  case LaneOp::BitcastFF:
    for (int64_t l = 0; l < n; ++l) {
      uint8_t bytes[8];
      float value = fa[l];
      encode(from, &value, bytes, 1);
      decode(type, bytes, &value, 1);
      fr[l] = value;
    }
    return true;
    INT1(Wrap, x)
    INT1(ZeroExtend, toUnsigned(from, x))
    INT1(SignExtend, from.bits == 1 ? -x : x)
    INT1(AbsI, x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x))
    INT1(CountOnes, std::popcount(toUnsigned(type, x)))
    INT1(CountLeadingZeros, std::countl_zero(toUnsigned(type, x)) - (64 - type.bits))
    INT1(CountTrailingZeros, std::min<int>(std::countr_zero(toUnsigned(type, x)), type.bits))
    INT2(AddI, x + y)
    INT2(SubI, x - y)
    INT2(MulI, x * y)
    INT2(And, x & y)
    INT2(Or, x | y)
    INT2(Xor, x ^ y)
    UNSIGNED2(ShiftL, y >= type.bits ? 0 : x << y)
    UNSIGNED2(ShiftRU, y >= type.bits ? 0 : x >> y)
  case LaneOp::ShiftRS:
    EACH(ir[l] = toUnsigned(type, ib[l]) >= type.bits
                     ? 0
                     : wrapTo(type, (type.bits == 1 ? -ia[l] : ia[l]) >> ib[l]));
    SIGNED2(MaxS, std::max(x, y))
    SIGNED2(MinS, std::min(x, y))
    UNSIGNED2(MaxU, std::max(x, y))
    UNSIGNED2(MinU, std::min(x, y))
    SIGNED2(MulHighS, (static_cast<__int128>(x) * y) >> type.bits)
    UNSIGNED2(MulHighU, (static_cast<unsigned __int128>(x) * y) >> type.bits)
    UNSIGNED2(AddCarryU, (static_cast<unsigned __int128>(x) + y) >> type.bits)
    DIVIDE_SIGNED(DivS, x / y)
    DIVIDE_SIGNED(RemS, x % y)
    DIVIDE_SIGNED(FloorDivS, divideFloor(x, y))
    DIVIDE_SIGNED(CeilDivS, x / y + ((x % y != 0) && ((x < 0) == (y < 0))))
    DIVIDE_UNSIGNED(DivU, x / y)
    DIVIDE_UNSIGNED(RemU, x % y)
    DIVIDE_UNSIGNED(CeilDivU, x / y + (x % y != 0))
  case LaneOp::CmpI:
    EACH(ir[l] = compareInts(step.number, from, ia[l], ib[l]));
  case LaneOp::ExtractF:
  case LaneOp::ExtractI:
    return extract(step, n);
  }
  return false;
}

bool LaneMachine::extract(const LaneStep &step, int64_t n) {
  const Tensor &table = *tables[step.number];
  for (int64_t l = 0; l < n; ++l) {
    int64_t place = 0;
    for (size_t d = 0; d < step.more.size(); ++d) {
      int64_t coordinate = pointers[step.more[d]].i[l];
      if (coordinate < 0 || coordinate >= table.shape[d]) {
        error = "reads coordinate " + std::to_string(coordinate) + " of dim " + std::to_string(d) +
                " of a tensor of shape " + toString(table.shape);
        return false;
      }
      place = place * table.shape[d] + coordinate;
    }
    if (step.op == LaneOp::ExtractF)
      pointers[step.result].f[l] = table.floats[place];
    else
      pointers[step.result].i[l] = table.ints[place];
  }
  return true;
}
