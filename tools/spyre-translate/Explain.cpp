//===- Explain.cpp - Artefacts in words -----------------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First edition: per operation its origin, iteration space and splits, each
// operand's role, place, layout and masks; loops, arguments and pool; bytes moved.
// How much an operation moves follows the reference, section 9: each core reads or
// writes the part of an operand that its slice covers, in whole sticks.
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include <algorithm>
#include <ostream>

namespace spyre::explain {

using sdsc::Descriptor;
using sdsc::Tensor;

static std::string formatBytes(int64_t bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 3) {
    value /= 1024;
    ++unit;
  }
  char text[48];
  snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

template <typename List, typename Fn> static std::string join(const List &list, Fn text) {
  std::string result;
  for (const auto &element : list)
    result += (result.empty() ? "" : ", ") + text(element);
  return result;
}

static std::string join(const std::vector<std::string> &list) {
  return join(list, [](const std::string &text) { return text; });
}

static const sdsc::LayoutClass *findLayout(const Descriptor &descriptor, const Tensor &tensor) {
  for (const sdsc::LayoutClass &layout : descriptor.layouts)
    if (layout.label == tensor.label)
      return &layout;
  return nullptr;
}

/// Bytes of the operand that one core touches.
static int64_t getBytesPerCore(const Descriptor &descriptor, const Tensor &tensor) {
  const sdsc::LayoutClass *layout = findLayout(descriptor, tensor);
  int64_t bytes = kStickInBytes;
  for (size_t i = 0; layout && i < layout->dimOrder.size() && i < tensor.scale.size(); ++i) {
    std::optional<unsigned> position = descriptor.findDim(layout->dimOrder[i]);
    if (!position || tensor.scale[i] != 1)
      continue;
    int64_t size = descriptor.dims[*position].coreSize;
    bool isStick = std::find(layout->stickDims.begin(), layout->stickDims.end(),
                             layout->dimOrder[i]) != layout->stickDims.end();
    int64_t perStick = getElementsPerStick(tensor.format);
    bytes *= isStick ? (size + perStick - 1) / perStick : size;
  }
  return bytes;
}

static std::string formatAddress(const runtime::AddressExpr &address) {
  std::string text;
  if (address.base == runtime::AddressExpr::kPool)
    text = "pool";
  else if (address.base == runtime::AddressExpr::kAbsolute)
    text = "address";
  else
    text = "argument " + std::to_string(address.base);
  if (address.offsetInBytes != 0 || address.base == runtime::AddressExpr::kAbsolute)
    text += " + " + std::to_string(address.offsetInBytes);
  for (size_t loop = 0; loop < address.strideInBytes.size(); ++loop)
    if (address.strideInBytes[loop] != 0)
      text += " + " + std::to_string(address.strideInBytes[loop]) + " x loop variable " +
              std::to_string(loop);
  return text;
}

/// Where core 0 finds the operand, and how far the next core's part is.
static std::string formatPlace(const Tensor &tensor, const runtime::Launch *launch) {
  auto describe = [&](int64_t address) -> std::string {
    if (address >= 0)
      return (tensor.component == sdsc::Component::LX ? "LX " : "address ") +
             std::to_string(address);
    if (launch)
      for (const auto &[id, bound] : launch->symbols)
        if (id == address)
          return formatAddress(bound);
    return "symbol " + std::to_string(address);
  };
  if (tensor.startAddress.empty())
    return "nowhere";
  std::string text = describe(tensor.startAddress.front());
  if (std::adjacent_find(tensor.startAddress.begin(), tensor.startAddress.end(),
                         std::not_equal_to<>()) != tensor.startAddress.end())
    text += " (core 0), " + describe(tensor.startAddress[1]) + " (core 1), ...";
  else if (tensor.startAddress.size() > 1)
    text += " (every core)";
  return text;
}

static void explainTensor(const Descriptor &descriptor, size_t index, const runtime::Launch *launch,
                          std::ostream &os, const std::string &indent) {
  const Tensor &tensor = descriptor.tensors[index];
  auto contains = [&](const std::vector<unsigned> &list) {
    return std::find(list.begin(), list.end(), index) != list.end();
  };
  std::string role;
  for (auto [list, name] :
       {std::pair(&descriptor.inputs, "reads"), std::pair(&descriptor.outputs, "writes"),
        std::pair(&descriptor.indexTensors, "index")})
    if (contains(*list))
      role += (role.empty() ? "" : " and ") + std::string(name);
  os << indent << tensor.name << ": " << (role.empty() ? "unused" : role) << " "
     << getFormatName(tensor.format) << " at " << formatPlace(tensor, launch) << "\n";
  const sdsc::LayoutClass *layout = findLayout(descriptor, tensor);
  if (!layout)
    return;
  std::vector<std::string> dims;
  for (size_t i = 0; i < layout->dimOrder.size() && i < tensor.scale.size(); ++i)
    dims.push_back(layout->dimOrder[i] + (tensor.scale[i] == 1    ? ""
                                          : tensor.scale[i] == -2 ? " (lane 0 of the stick)"
                                                                  : " (not present)"));
  os << indent << "  layout class " << tensor.label << ": innermost first " << join(dims)
     << "; sticks along " << join(layout->stickDims) << "\n";
  if (tensor.dimOrder != layout->dimOrder)
    os << indent << "  its own order: " << join(tensor.dimOrder) << "\n";
  for (const auto &[dim, gaps] : tensor.backGap)
    if (!gaps.empty())
      os << indent << "  gap after " << dim << ": " << gaps.front() << " elements\n";
  int64_t perCore = getBytesPerCore(descriptor, tensor);
  os << indent << "  " << formatBytes(perCore) << " a core, "
     << formatBytes(perCore * descriptor.numCores) << " in all\n";
}

void explainDescriptor(const Descriptor &descriptor, const runtime::Launch *launch,
                       std::ostream &os, const std::string &indent) {
  os << indent << "operation " << descriptor.index << ": " << descriptor.opFunc << " on "
     << descriptor.executionUnit << ", " << getFormatName(descriptor.format) << ", "
     << descriptor.numCores << (descriptor.numCores == 1 ? " core" : " cores") << "\n";
  std::string in = indent + "  ";
  if (const auto &origin = descriptor.provenance) {
    os << in << "from ";
    os << (origin->file.empty() ? std::string("an unknown place")
                                : origin->file + ":" + std::to_string(origin->startLine));
    if (!origin->atenOp.empty())
      os << ", " << origin->atenOp;
    if (!origin->irChain.empty())
      os << " (" << join(origin->irChain) << ")";
    os << "\n";
  }
  os << in << "iterates over " << join(descriptor.dims, [](const sdsc::Dim &dim) {
    std::string text = dim.name + " " + std::to_string(dim.size);
    return dim.numSlices == 1 ? text
                              : text + " (" + std::to_string(dim.numSlices) + " slices of " +
                                    std::to_string(dim.coreSize) + ")";
  }) << "\n";
  for (size_t i = 0; i < descriptor.tensors.size(); ++i)
    explainTensor(descriptor, i, launch, os, in);
  for (const sdsc::Constant &constant : descriptor.constants) {
    char bits[16];
    snprintf(bits, sizeof bits, "0x%X", constant.bits);
    os << in << "constant " << constant.name << ": " << getFormatName(constant.format) << " "
       << bits << "\n";
  }
  for (const sdsc::Mask &mask : descriptor.masks)
    os << in << "masks " << mask.dim << " from element " << mask.firstInvalid << " (" << mask.count
       << " elements)\n";
}

static void explainSteps(const std::vector<runtime::Step> &steps,
                         const std::map<std::string, Descriptor> &descriptors, std::ostream &os,
                         const std::string &indent, int64_t runs, int64_t &hbmBytes) {
  for (const runtime::Step &step : steps) {
    if (const auto *loop = std::get_if<runtime::Loop>(&step.content)) {
      os << indent << "loop, " << loop->count << " times:\n";
      explainSteps(loop->body, descriptors, os, indent + "  ", runs * loop->count, hbmBytes);
      continue;
    }
    const auto &launch = std::get<runtime::Launch>(step.content);
    auto it = descriptors.find(launch.descriptor);
    if (it == descriptors.end()) {
      os << indent << "launch of " << launch.descriptor << ", " << launch.symbols.size()
         << " symbols bound\n";
      continue;
    }
    const Descriptor &descriptor = it->second;
    explainDescriptor(descriptor, &launch, os, indent);
    for (size_t i = 0; i < descriptor.tensors.size(); ++i)
      if (descriptor.tensors[i].component == sdsc::Component::HBM)
        hbmBytes += runs * descriptor.numCores * getBytesPerCore(descriptor, descriptor.tensors[i]);
  }
}

void explainPlan(const runtime::Plan &plan, const std::optional<runtime::LaunchSpec> &spec,
                 const std::map<std::string, Descriptor> &descriptors, std::ostream &os) {
  os << "bundle " << plan.name << ": " << plan.numArguments << " symbolic base addresses, "
     << (plan.hasPool ? "a pool of " + formatBytes(plan.poolInBytes) : std::string("no pool"))
     << "\n";
  if (spec)
    for (size_t i = 0; i < spec->arguments.size(); ++i) {
      const runtime::ArgumentSpec &argument = spec->arguments[i];
      auto sizes = [](const std::vector<int64_t> &list) {
        return "[" + join(list, [](int64_t size) { return std::to_string(size); }) + "]";
      };
      const char *role = argument.role == runtime::Role::Input         ? "input"
                         : argument.role == runtime::Role::Output      ? "output"
                         : argument.role == runtime::Role::InputOutput ? "input and output"
                                                                       : "constant";
      os << "  argument " << i << ": " << role
         << (argument.array.empty() ? "" : " " + argument.array)
         << (argument.result.empty() ? "" : " -> " + argument.result) << ", "
         << getHostTypeName(argument.dtype) << " " << sizes(argument.shape) << ", on the device "
         << getFormatName(argument.deviceFormat) << " " << sizes(argument.deviceSize) << "\n";
    }
  int64_t hbmBytes = 0;
  explainSteps(plan.steps, descriptors, os, "  ", 1, hbmBytes);
  if (!descriptors.empty())
    os << "device memory touched by all launches: " << formatBytes(hbmBytes) << "\n";
}

} // namespace spyre::explain
