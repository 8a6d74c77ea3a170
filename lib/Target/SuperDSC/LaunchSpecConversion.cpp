//===- LaunchSpecConversion.cpp - Launch specs as function attributes -----===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Target/SuperDSC/DescriptorConversion.h"

using namespace mlir;
using namespace mlir::sdscbundle;

namespace artifact = ::spyre::artifact;

static StringRef getRoleName(artifact::Role role) {
  switch (role) {
  case artifact::Role::Input:
    return "input";
  case artifact::Role::Output:
    return "output";
  case artifact::Role::InputOutput:
    return "input_output";
  case artifact::Role::Constant:
    return "constant";
  }
  llvm_unreachable("covered switch");
}

static StringRef toRef(std::string_view text) { return StringRef(text.data(), text.size()); }

static ArgumentAttr buildArgument(Builder &b, const artifact::ArgumentSpec &spec) {
  auto text = [&](StringRef value) {
    return value.empty() ? StringAttr() : b.getStringAttr(value);
  };
  return ArgumentAttr::get(
      b.getContext(), b.getStringAttr(getRoleName(spec.role)), text(spec.array), text(spec.result),
      b.getDenseI64ArrayAttr(spec.shape),
      b.getStringAttr(toRef(::spyre::getHostTypeName(spec.dtype))),
      spec.strideInElements ? b.getDenseI64ArrayAttr(*spec.strideInElements) : DenseI64ArrayAttr(),
      b.getDenseI64ArrayAttr(spec.deviceSize), b.getDenseI64ArrayAttr(spec.strideMap),
      b.getStringAttr(toRef(::spyre::getFormatName(spec.deviceFormat))),
      spec.value ? b.getF64FloatAttr(*spec.value) : FloatAttr(), text(spec.elementArrangement),
      text(spec.tail), spec.overflowIsInfinite ? b.getStringAttr("infinite") : StringAttr(),
      spec.view.empty() ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(spec.view));
}

static artifact::ArgumentSpec toArgument(ArgumentAttr attribute) {
  artifact::ArgumentSpec spec;
  for (artifact::Role role : {artifact::Role::Input, artifact::Role::Output,
                              artifact::Role::InputOutput, artifact::Role::Constant})
    if (attribute.getRole() == getRoleName(role))
      spec.role = role;
  auto text = [](StringAttr value) { return value ? value.str() : std::string(); };
  spec.array = text(attribute.getArray());
  spec.result = text(attribute.getResult());
  spec.shape = attribute.getShape().asArrayRef().vec();
  // Both names were checked when the attribute was made.
  spec.dtype = *::spyre::parseHostType(attribute.getDtype().str());
  spec.deviceFormat = *::spyre::parseFormat(attribute.getDeviceDtype().str());
  if (attribute.getStride())
    spec.strideInElements = attribute.getStride().asArrayRef().vec();
  spec.deviceSize = attribute.getDeviceSize().asArrayRef().vec();
  spec.strideMap = attribute.getStrideMap().asArrayRef().vec();
  if (attribute.getValue())
    spec.value = attribute.getValue().getValueAsDouble();
  spec.elementArrangement = text(attribute.getElementArrangement());
  spec.tail = text(attribute.getTail());
  spec.overflowIsInfinite = attribute.getOverflow() != nullptr;
  if (attribute.getView())
    spec.view = attribute.getView().asArrayRef().vec();
  return spec;
}

void mlir::sdscbundle::setLaunchSpec(func::FuncOp function, const artifact::LaunchSpec &spec) {
  Builder b(function.getContext());
  SmallVector<Attribute> arguments;
  for (const artifact::ArgumentSpec &argument : spec.arguments)
    arguments.push_back(buildArgument(b, argument));
  function->setAttr(kArgumentsAttr, b.getArrayAttr(arguments));
  function->setAttr(kPoolBytesAttr, b.getI64IntegerAttr(spec.poolInBytes));
}

std::optional<artifact::LaunchSpec> mlir::sdscbundle::getLaunchSpec(func::FuncOp function) {
  auto arguments = function->getAttrOfType<ArrayAttr>(kArgumentsAttr);
  if (!arguments)
    return std::nullopt;
  artifact::LaunchSpec spec;
  spec.kernelName = function.getName().str();
  spec.symbolicArguments = arguments.empty() || function.getNumArguments() > 0;
  if (auto pool = function->getAttrOfType<IntegerAttr>(kPoolBytesAttr))
    spec.poolInBytes = pool.getInt();
  for (ArgumentAttr argument : arguments.getAsRange<ArgumentAttr>())
    spec.arguments.push_back(toArgument(argument));
  return spec;
}
