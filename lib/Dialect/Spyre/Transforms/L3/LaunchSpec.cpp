//===- LaunchSpec.cpp - What the caller of a planned function passes -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/L3/LaunchSpec.h"

#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"
#include "spyre/Layout/TensorLayout.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::spyre;
namespace artifact = ::spyre::artifact;

std::optional<artifact::LaunchSpec> mlir::spyre::makeLaunchSpec(func::FuncOp planned) {
  artifact::LaunchSpec spec;
  spec.kernelName = planned.getName().str();
  for (auto [i, type] : llvm::enumerate(planned.getArgumentTypes())) {
    auto buffer = dyn_cast<BufferType>(type);
    auto role = planned.getArgAttrOfType<StringAttr>(i, kRoleAttr);
    // A hand-written plan may say nothing about its caller.
    if (!buffer || !role || (role.getValue() != "constant" && !planned.getArgAttr(i, kArrayAttr)) ||
        (role.getValue() == "input_output" && !planned.getArgAttr(i, kResultAttr)))
      return std::nullopt;
    artifact::ArgumentSpec argument;
    argument.role = llvm::StringSwitch<artifact::Role>(role.getValue())
                        .Case("input", artifact::Role::Input)
                        .Case("output", artifact::Role::Output)
                        .Case("input_output", artifact::Role::InputOutput)
                        .Default(artifact::Role::Constant);
    if (auto array = planned.getArgAttrOfType<StringAttr>(i, kArrayAttr))
      argument.array = array.str();
    if (auto result = planned.getArgAttrOfType<StringAttr>(i, kResultAttr))
      argument.result = result.str();
    if (auto tail = planned.getArgAttrOfType<StringAttr>(i, kTailAttr))
      argument.tail = tail.str();
    argument.overflowIsInfinite = planned.getArgAttr(i, kOverflowAttr) != nullptr;
    Attribute value = planned.getArgAttr(i, kValueAttr);
    if (auto integer = dyn_cast_or_null<IntegerAttr>(value))
      argument.value = static_cast<double>(integer.getInt());
    else if (auto number = dyn_cast_or_null<FloatAttr>(value))
      argument.value = number.getValueAsDouble();
    argument.shape.assign(buffer.getShape().begin(), buffer.getShape().end());
    auto hostType = planned.getArgAttrOfType<TypeAttr>(i, kHostTypeAttr);
    argument.dtype = *getHostType(hostType ? hostType.getValue() : buffer.getElementType());
    ::spyre::layout::TensorLayout layout = buffer.getTensorLayout();
    argument.deviceSize = ::spyre::layout::getDeviceSizes(layout);
    // A tensor without elements has one stick, so that it has an address.
    for (int64_t &size : argument.deviceSize)
      size = std::max<int64_t>(size, 1);
    argument.strideMap = ::spyre::layout::getStrideMap(layout);
    argument.deviceFormat = layout.format;
    spec.arguments.push_back(std::move(argument));
  }
  return spec;
}
