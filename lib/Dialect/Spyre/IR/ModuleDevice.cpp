//===- ModuleDevice.cpp - The device of a program --------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/ModuleDevice.h"

#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"

#include "mlir/IR/BuiltinOps.h"

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
  return *device;
}
