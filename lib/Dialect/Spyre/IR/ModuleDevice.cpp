//===- ModuleDevice.cpp - The device of a program --------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/ModuleDevice.h"

#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::spyre;

FailureOr<::spyre::Device> mlir::spyre::getDevice(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  std::string name = "spyre";
  if (module)
    if (auto attribute = module->getAttrOfType<StringAttr>(kDeviceAttr))
      name = attribute.str();
  std::optional<::spyre::Device> device = ::spyre::Device::lookup(name);
  if (!device)
    return emitError(op->getLoc()) << "unknown device variant '" << name << "'";
  ::spyre::RateValues values = module ? getRates(module) : ::spyre::RateValues();
  if (values.empty())
    return *device;
  auto replaced = ::spyre::replaceRates(*device, values);
  if (auto *mistakes = std::get_if<::spyre::RateMistakes>(&replaced))
    return emitError(op->getLoc()) << mistakes->toString("attribute '" + kRatesAttr.str() + "'");
  return std::get<::spyre::Device>(replaced);
}

::spyre::RateValues mlir::spyre::getRates(ModuleOp module) {
  ::spyre::RateValues values;
  if (auto dictionary = module->getAttrOfType<DictionaryAttr>(kRatesAttr))
    for (NamedAttribute entry : dictionary)
      if (auto number = dyn_cast<FloatAttr>(entry.getValue()))
        values[entry.getName().str()] = number.getValueAsDouble();
  return values;
}

void mlir::spyre::addRates(ModuleOp module, const ::spyre::RateValues &values) {
  ::spyre::RateValues all = values;
  all.merge(getRates(module)); // which keeps what is there
  Builder builder(module.getContext());
  SmallVector<NamedAttribute> entries;
  for (const auto &[name, value] : all)
    entries.push_back(builder.getNamedAttr(name, builder.getF64FloatAttr(value)));
  if (!entries.empty())
    module->setAttr(kRatesAttr, builder.getDictionaryAttr(entries));
}
