//===- SpyreDialect.cpp - Registration and discardable attributes -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers types, attributes and operations; verifies the attributes that the
// dialect puts on functions and modules.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"

#include "spyre/Device/Rates.h"
#include "spyre/Dialect/Spyre/IR/PlanHints.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::spyre;

#include "spyre/Dialect/Spyre/IR/SpyreDialect.cpp.inc"
#include "spyre/Dialect/Spyre/IR/SpyreInterfaces.cpp.inc"

void SpyreDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerSpyreDialectOperations(this);
}

LogicalResult SpyreDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == kDeviceAttr && !isa<StringAttr>(attribute.getValue()))
    return op->emitOpError() << "attribute '" << kDeviceAttr
                             << "' must be the name of a device variant, a string";
  if ((attribute.getName() == kScheduleAttr || attribute.getName() == kChosenScheduleAttr) &&
      !isa<DictionaryAttr>(attribute.getValue()))
    return op->emitOpError() << "attribute '" << attribute.getName().getValue()
                             << "' must be a dictionary";
  if (attribute.getName() == kPlanAttr)
    if (std::string mistake = findPlanHintMistake(op, attribute.getValue()); !mistake.empty())
      return op->emitOpError() << "attribute '" << kPlanAttr << "' " << mistake;
  if (attribute.getName() == kHintsAttr &&
      (!isa<func::FuncOp>(op) || !isa<ArrayAttr>(attribute.getValue())))
    return op->emitOpError() << "attribute '" << kHintsAttr << "' is a list of functions";
  if (attribute.getName() == kScopeAttr) {
    auto scope = dyn_cast<StringAttr>(attribute.getValue());
    if (!scope || scope.empty())
      return op->emitOpError() << "attribute '" << kScopeAttr << "' must be a name, a string";
  }
  if (attribute.getName() == kRatesAttr) {
    auto rates = dyn_cast<DictionaryAttr>(attribute.getValue());
    if (!rates)
      return op->emitOpError() << "attribute '" << kRatesAttr
                               << "' must be a dictionary of numbers of type f64";
    for (NamedAttribute rate : rates) {
      auto number = dyn_cast<FloatAttr>(rate.getValue());
      std::string mistake =
          !number || !number.getType().isF64()
              ? "a number of type f64 is wanted"
              : ::spyre::findMistake(rate.getName().strref(), number.getValueAsDouble());
      if (!mistake.empty())
        return op->emitOpError() << "attribute '" << kRatesAttr << "', " << rate.getName().strref()
                                 << ": " << mistake;
    }
  }
  if (attribute.getName() == kMaskedAttr) {
    auto device = dyn_cast<DeviceOpInterface>(op);
    if (!device || !device.getInfo().maskTail || !isa<UnitAttr>(attribute.getValue()))
      return op->emitOpError() << "attribute '" << kMaskedAttr
                               << "' is a unit of operations that take a mask";
  }
  return success();
}

LogicalResult SpyreDialect::verifyRegionArgAttribute(Operation *op, unsigned regionIndex,
                                                     unsigned argIndex, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  auto fail = [&](StringRef expected) {
    return op->emitOpError() << "argument #" << argIndex << ": attribute '" << name << "' must be "
                             << expected;
  };
  if (name == kAddressAttr) {
    auto address = dyn_cast<IntegerAttr>(value);
    if (!address || address.getInt() < 0 || address.getInt() % ::spyre::kStickInBytes)
      return fail("a non-negative multiple of 128 bytes");
    return success();
  }
  if (name == kRoleAttr) {
    auto role = dyn_cast<StringAttr>(value);
    if (!role ||
        !llvm::is_contained({"input", "output", "input_output", "constant"}, role.getValue()))
      return fail("\"input\", \"output\", \"input_output\" or \"constant\"");
    return success();
  }
  if (name == kTailAttr) {
    auto tail = dyn_cast<StringAttr>(value);
    if (!tail || !::spyre::parseName<::spyre::TailState>(tail.getValue()))
      return fail("a tail state: zero, neg_inf, pos_inf, finite or unknown");
    return success();
  }
  if (name == kNumberAttr) {
    auto number = dyn_cast<IntegerAttr>(value);
    if (!number || number.getInt() < 0)
      return fail("a number of an argument, from 0");
    return success();
  }
  if (name == kWeightAttr && !isa<UnitAttr>(value))
    return fail("a unit attribute");
  if (name == kOverflowAttr) {
    auto overflow = dyn_cast<StringAttr>(value);
    if (!overflow || overflow.getValue() != "infinite")
      return fail("\"infinite\"");
    return success();
  }
  if ((name == kArrayAttr || name == kResultAttr) && !isa<StringAttr>(value))
    return fail("a string");
  if (name == kHostTypeAttr && !isa<TypeAttr>(value))
    return fail("an element type");
  if (name == kOnHostAttr && !isa<UnitAttr, StringAttr>(value))
    return fail("a unit attribute or, of a result, \"read\"");
  if (name == kDataAttr && !isa<ElementsAttr>(value))
    return op->emitOpError() << "'" << kDataAttr << "' holds the elements of a constant";
  if (name == kValueAttr && !isa<FloatAttr, IntegerAttr>(value))
    return fail("a number");
  return success();
}
