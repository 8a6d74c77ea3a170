//===- Explain.cpp - Artefacts in words -----------------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Per operation: what it computes (the OpFunc table's words), where it came from,
// its iteration space and how the cores share it, each operand's role, shape, place
// and memory order, constants and masks as numbers, and what it moves. How much an
// operation moves (docs/formats/superdsc-rules.md, section 9): each core reads or writes the
// part of an operand that its slice covers, in whole sticks; cores that start at the
// same address read the same sticks, which count once.
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include "spyre/Numerics/DL16.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include <algorithm>
#include <bit>
#include <ostream>
#include <set>

namespace spyre::explain {

using sdsc::Descriptor;
using sdsc::Tensor;

namespace {

std::string formatBytes(int64_t bytes) {
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

std::string formatNumber(double value) {
  char text[48];
  snprintf(text, sizeof text, "%.6g", value);
  return text;
}

template <typename List, typename Fn>
std::string join(const List &list, Fn text, const char *separator = ", ") {
  std::string result;
  for (const auto &element : list)
    result += (result.empty() ? "" : separator) + text(element);
  return result;
}

std::string join(const std::vector<std::string> &list, const char *separator = ", ") {
  return join(list, [](const std::string &text) { return text; }, separator);
}

const sdsc::LayoutClass *findLayout(const Descriptor &descriptor, const Tensor &tensor) {
  for (const sdsc::LayoutClass &layout : descriptor.layouts)
    if (layout.label == tensor.label)
      return &layout;
  return nullptr;
}

/// What an operand has of one dim of the operation.
struct OperandDim {
  const sdsc::Dim *dim = nullptr;
  int64_t scale = 1;
  int64_t inStick = 1; ///< elements of it in a stick; 1: none
  int64_t slice = 1;   ///< of one core
};

/// In the operand's own order, innermost first.
std::vector<OperandDim> getDims(const Descriptor &descriptor, const Tensor &tensor) {
  std::vector<OperandDim> result;
  const sdsc::LayoutClass *layout = findLayout(descriptor, tensor);
  if (!layout)
    return result;
  for (const std::string &name : tensor.dimOrder) {
    std::optional<unsigned> position = descriptor.findDim(name);
    auto inLayout = std::find(layout->dimOrder.begin(), layout->dimOrder.end(), name);
    size_t index = inLayout - layout->dimOrder.begin();
    if (!position || index >= tensor.scale.size())
      continue;
    OperandDim entry{&descriptor.dims[*position], tensor.scale[index]};
    entry.slice = entry.dim->coreSize;
    auto stick = std::find(layout->stickDims.begin(), layout->stickDims.end(), name);
    if (size_t s = stick - layout->stickDims.begin(); s < layout->stickSizes.size())
      entry.inStick = std::max<int64_t>(1, layout->stickSizes[s]);
    // A relayout's operand says by its folds how it is divided.
    if (!tensor.coreToSlice.empty())
      for (const sdsc::DimCoordinate &coordinate : tensor.coordinates)
        if (coordinate.dim == name && !coordinate.folds.empty() &&
            coordinate.folds.front().factor > 0)
          entry.slice = entry.dim->size / coordinate.folds.front().factor;
    result.push_back(entry);
  }
  return result;
}

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Bytes of the operand that one core touches.
int64_t getBytesPerCore(const Descriptor &descriptor, const Tensor &tensor) {
  int64_t bytes = kStickInBytes;
  for (const OperandDim &entry : getDims(descriptor, tensor))
    if (entry.scale == 1)
      bytes *= ceilDiv(entry.slice, entry.inStick);
  return bytes;
}

/// Bytes that all cores touch, common ones once.
int64_t getBytes(const Descriptor &descriptor, const Tensor &tensor) {
  std::set<int64_t> starts(tensor.startAddress.begin(), tensor.startAddress.end());
  int64_t parts = tensor.component == MemorySpace::LX ? descriptor.numCores
                                                      : static_cast<int64_t>(starts.size());
  return parts * getBytesPerCore(descriptor, tensor);
}

std::string formatAddress(const artifact::AddressExpr &address) {
  std::string text;
  if (address.base == artifact::AddressExpr::kPool)
    text = "the pool";
  else if (address.base == artifact::AddressExpr::kSize)
    return "size " + std::to_string(address.offsetInBytes);
  else if (address.base == artifact::AddressExpr::kAbsolute)
    text = "address";
  else
    text = "argument " + std::to_string(address.base);
  if (address.offsetInBytes != 0 || address.base == artifact::AddressExpr::kAbsolute)
    text += " + " + std::to_string(address.offsetInBytes);
  for (size_t loop = 0; loop < address.strideInBytes.size(); ++loop)
    if (address.strideInBytes[loop] != 0)
      text += " + " + std::to_string(address.strideInBytes[loop]) + " x iteration of loop " +
              std::to_string(loop);
  return text;
}

/// Where core 0 finds the operand, and how far the next core's part is.
std::string formatPlace(const Tensor &tensor, const artifact::Launch *launch) {
  auto describe = [&](int64_t address) -> std::string {
    if (address >= 0)
      return (tensor.component == MemorySpace::LX ? "byte " : "address ") + std::to_string(address);
    if (launch)
      for (const auto &[id, bound] : launch->symbols)
        if (id == address)
          return formatAddress(bound);
    return "symbol " + std::to_string(address);
  };
  if (tensor.startAddress.empty())
    return "nowhere";
  std::string text = tensor.component == MemorySpace::LX ? "in each core's scratchpad (LX) at "
                                                         : "in device memory at ";
  text += describe(tensor.startAddress.front());
  if (std::adjacent_find(tensor.startAddress.begin(), tensor.startAddress.end(),
                         std::not_equal_to<>()) != tensor.startAddress.end())
    text += " for core 0, " + describe(tensor.startAddress[1]) + " for core 1, ...";
  else if (tensor.startAddress.size() > 1 && tensor.component == MemorySpace::HBM)
    text += ", the same for every core";
  return text;
}

/// "mb = 128 x out = 1024", outer dims first as the operation has them.
std::string formatShape(const Descriptor &descriptor, const std::vector<OperandDim> &dims) {
  std::vector<std::string> present;
  for (const sdsc::Dim &dim : descriptor.dims)
    for (const OperandDim &entry : dims)
      if (entry.dim == &dim && entry.scale == 1)
        present.push_back(dim.name + " = " + std::to_string(dim.size));
  return present.empty() ? "one element" : join(present, " x ");
}

void explainTensor(const Descriptor &descriptor, size_t index, const artifact::Launch *launch,
                   std::ostream &os, const std::string &indent) {
  const Tensor &tensor = descriptor.tensors[index];
  auto contains = [&](const std::vector<unsigned> &list) {
    return std::find(list.begin(), list.end(), index) != list.end();
  };
  // A reduction lists its result among the inputs, too.
  std::string role = contains(descriptor.outputs)        ? "written"
                     : contains(descriptor.inputs)       ? "read"
                     : contains(descriptor.indexTensors) ? "read as index"
                                                         : "unused";
  std::vector<OperandDim> dims = getDims(descriptor, tensor);
  os << indent << tensor.name << ", " << role << ": " << formatShape(descriptor, dims) << " of "
     << getFormatName(tensor.format) << ", " << formatPlace(tensor, launch) << "\n";
  if (dims.empty())
    return;
  std::string in = indent + "  ";
  // Memory order, outermost first, as a core's part has it.
  std::vector<std::string> order, lanes, absent, lane0;
  for (auto it = dims.rbegin(); it != dims.rend(); ++it) {
    if (it->scale == -1)
      absent.push_back(it->dim->name);
    if (it->scale == -2)
      lane0.push_back(it->dim->name);
    if (it->scale != 1)
      continue;
    order.push_back(it->inStick == 1 ? it->dim->name
                                     : it->dim->name + " / " + std::to_string(it->inStick));
  }
  const sdsc::LayoutClass *layout = findLayout(descriptor, tensor);
  for (size_t i = 0; i < layout->stickDims.size() && i < layout->stickSizes.size(); ++i)
    lanes.push_back(std::to_string(layout->stickSizes[i]) + " of " + layout->stickDims[i]);
  os << in << "layout class " << tensor.label << ": ";
  if (!lane0.empty())
    os << "one value a stick, in its first lane, for every " << join(lane0);
  else
    os << "a stick holds " << join(lanes, " x ");
  if (!order.empty())
    os << "; sticks follow each other " << (order.size() > 1 ? "outermost first by " : "by ")
       << join(order, ", ");
  os << "\n";
  if (!absent.empty())
    os << in << (contains(descriptor.outputs) ? "reduced" : "the same") << " over " << join(absent)
       << "\n";
  if (tensor.indirection == sdsc::Indirection::ValueTensor)
    os << in << "a table: the elements of " << tensor.relatedAllocation << " say which rows\n";
  for (const auto &[dim, gaps] : tensor.backGap)
    if (!gaps.empty())
      os << in
         << (gaps.front() < 0 ? "memory lacks the last " + std::to_string(-gaps.front()) +
                                    " (padding) elements of " + dim
                              : "memory goes on for " + std::to_string(gaps.front()) +
                                    " elements of " + dim + " that are not touched")
         << "\n";
  for (const sdsc::DimCoordinate &coordinate : tensor.coordinates)
    if (coordinate.padding != sdsc::PaddingKind::NoPad)
      os << in << coordinate.dim << " is padded: " << sdsc::getPaddingName(coordinate.padding)
         << "\n";
  int64_t perCore = getBytesPerCore(descriptor, tensor);
  os << in << formatBytes(perCore) << " a core";
  if (descriptor.numCores > 1)
    os << ", " << formatBytes(getBytes(descriptor, tensor)) << " in all";
  os << "\n";
}

/// How a core finds its work slice: "core c has mb slice c mod 4, out slice (c / 4) mod 8".
std::string formatDivision(const Descriptor &descriptor) {
  std::vector<std::string> parts;
  int64_t inner = 1;
  for (unsigned position : descriptor.coreOrder) {
    if (position >= descriptor.dims.size())
      continue;
    const sdsc::Dim &dim = descriptor.dims[position];
    if (dim.numSlices == 1)
      continue;
    std::string core = inner == 1 ? "c" : "(c / " + std::to_string(inner) + ")";
    bool isLast = inner * dim.numSlices >= descriptor.numCores;
    parts.push_back(dim.name + " slice " +
                    (isLast ? (inner == 1 ? "c" : "c / " + std::to_string(inner))
                            : core + " mod " + std::to_string(dim.numSlices)));
    inner *= dim.numSlices;
  }
  return parts.empty() ? std::string() : "core c works on " + join(parts);
}

double decodeConstant(const sdsc::Constant &constant) {
  return constant.format == DataFormat::IEEE_FP32
             ? std::bit_cast<float>(constant.bits)
             : decodeDL16(static_cast<uint16_t>(constant.bits));
}

/// Dims that an input has and the result has not.
std::vector<std::string> getReducedDims(const Descriptor &descriptor) {
  std::vector<std::string> reduced;
  if (descriptor.outputs.size() != 1)
    return reduced;
  auto has = [&](unsigned tensor, const sdsc::Dim &dim) {
    for (const OperandDim &entry : getDims(descriptor, descriptor.tensors[tensor]))
      if (entry.dim == &dim)
        return entry.scale == 1;
    return false;
  };
  for (const sdsc::Dim &dim : descriptor.dims)
    if (!has(descriptor.outputs.front(), dim) &&
        std::any_of(descriptor.inputs.begin(), descriptor.inputs.end(), [&](unsigned input) {
          return input != descriptor.outputs.front() && has(input, dim);
        }))
      reduced.push_back(dim.name);
  return reduced;
}

} // namespace

void explainDescriptor(const Descriptor &descriptor, const artifact::Launch *launch,
                       std::ostream &os, const std::string &indent) {
  const OpFuncInfo *info = lookupOpFunc(descriptor.opFunc);
  os << indent << "operation " << descriptor.index << ": " << descriptor.opFunc;
  if (info)
    os << " (" << info->meaning << ")";
  os << ", computed in " << getFormatName(descriptor.format) << " by the "
     << (descriptor.executionUnit == "pt"    ? "systolic arrays"
         : descriptor.executionUnit == "sfp" ? "SIMD units"
                                             : "unit " + descriptor.executionUnit)
     << " of " << descriptor.numCores << (descriptor.numCores == 1 ? " core" : " cores") << "\n";
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
  os << in << "for every " << join(descriptor.dims, [](const sdsc::Dim &dim) {
    std::string text = dim.name + " of " + std::to_string(dim.size);
    return dim.numSlices == 1 ? text
                              : text + " (" + std::to_string(dim.numSlices) + " work slices of " +
                                    std::to_string(dim.coreSize) + ")";
  });
  if (std::vector<std::string> reduced = getReducedDims(descriptor); !reduced.empty())
    os << "; over " << join(reduced) << " the results are combined";
  os << "\n";
  if (std::string division = formatDivision(descriptor); !division.empty())
    os << in << division << "\n";
  for (const sdsc::DimSymbols &entry : descriptor.dimSymbols)
    os << in << "the extent of " << entry.dim << " is known at the launch only (symbol "
       << join(entry.symbols, [](int64_t id) { return std::to_string(id); }) << ")\n";
  for (const sdsc::PaddedWindow &window : descriptor.windows)
    os << in << "a window over " << window.windowDim << " slides along " << window.dim
       << " in steps of " << window.stride << ", padded by " << window.padFront << " and "
       << window.padBack << "\n";
  for (size_t i = 0; i < descriptor.tensors.size(); ++i)
    explainTensor(descriptor, i, launch, os, in);
  for (const sdsc::Constant &constant : descriptor.constants)
    os << in << "constant " << constant.name << " = " << formatNumber(decodeConstant(constant))
       << "\n";
  for (const sdsc::Mask &mask : descriptor.masks) {
    os << in << "elements " << mask.firstInvalid << " to " << mask.firstInvalid + mask.count - 1
       << " of " << mask.dim << " are padding";
    if (mask.count > 0 && descriptor.maskConstant >= 0 &&
        descriptor.maskConstant < static_cast<int64_t>(descriptor.constants.size()))
      os << " and read as "
         << formatNumber(decodeConstant(descriptor.constants[descriptor.maskConstant]));
    os << "\n";
  }
}

namespace {

struct Totals {
  int64_t operations = 0, readInBytes = 0, writtenInBytes = 0;
};

void addTraffic(const Descriptor &descriptor, int64_t runs, Totals &totals) {
  totals.operations += runs;
  for (size_t i = 0; i < descriptor.tensors.size(); ++i) {
    const Tensor &tensor = descriptor.tensors[i];
    if (tensor.component != MemorySpace::HBM)
      continue;
    bool isWritten = std::find(descriptor.outputs.begin(), descriptor.outputs.end(), i) !=
                     descriptor.outputs.end();
    (isWritten ? totals.writtenInBytes : totals.readInBytes) += runs * getBytes(descriptor, tensor);
  }
}

void explainSteps(const std::vector<artifact::Step> &steps,
                  const std::map<std::string, Descriptor> &descriptors, std::ostream &os,
                  const std::string &indent, int64_t runs, unsigned depth, Totals &totals) {
  for (const artifact::Step &step : steps) {
    if (const auto *loop = std::get_if<artifact::Loop>(&step.content)) {
      os << indent << "loop " << depth << ", " << loop->count.constant << " times:\n";
      explainSteps(loop->body, descriptors, os, indent + "  ", runs * loop->count.constant,
                   depth + 1, totals);
      continue;
    }
    const auto &launch = std::get<artifact::Launch>(step.content);
    auto it = descriptors.find(launch.descriptor);
    if (it == descriptors.end()) {
      os << indent << "launch of " << launch.descriptor << ", " << launch.symbols.size()
         << " symbols bound\n";
      continue;
    }
    explainDescriptor(it->second, &launch, os, indent);
    addTraffic(it->second, runs, totals);
  }
}

} // namespace

void explainPlan(const artifact::Plan &plan, const std::optional<artifact::LaunchSpec> &spec,
                 const std::map<std::string, Descriptor> &descriptors, std::ostream &os) {
  os << "bundle " << plan.name << ": operations that run one after the other; "
     << (plan.numArguments == 0
             ? std::string("the addresses of its arguments are fixed")
             : "the launcher passes the addresses of " + std::to_string(plan.numArguments) +
                   (plan.numArguments == 1 ? " argument" : " arguments"))
     << ", " << (plan.hasPool ? "and of a pool for intermediates" : "it has no pool");
  if (plan.hasPool && plan.poolInBytes > 0)
    os << " of " << formatBytes(plan.poolInBytes);
  for (size_t i = 0; i < plan.sizes.size(); ++i)
    os << "\n  size " << i << ", passed at the launch: a multiple of " << plan.sizes[i].granularity
       << ", at most " << plan.sizes[i].maxValue;
  os << "\n  a stick is " << kStickInBytes
     << " bytes, what device memory and the scratchpads (LX) exchange; a work slice is the part of "
        "an operation that one core computes\n";
  if (spec)
    for (size_t i = 0; i < spec->arguments.size(); ++i) {
      const artifact::ArgumentSpec &argument = spec->arguments[i];
      auto sizes = [](const std::vector<int64_t> &list) {
        return "[" + join(list, [](int64_t size) { return std::to_string(size); }) + "]";
      };
      const char *role = argument.role == artifact::Role::Input         ? "input"
                         : argument.role == artifact::Role::Output      ? "output"
                         : argument.role == artifact::Role::InputOutput ? "input and output"
                                                                        : "constant";
      os << "  argument " << i << ": " << role
         << (argument.array.empty() ? "" : " " + argument.array)
         << (argument.result.empty() ? "" : " -> " + argument.result);
      if (argument.value)
        os << " " << formatNumber(*argument.value);
      os << ", " << getHostTypeName(argument.dtype) << " " << sizes(argument.shape)
         << ", on the device " << getFormatName(argument.deviceFormat) << " "
         << sizes(argument.deviceSize) << "\n";
    }
  Totals totals;
  explainSteps(plan.steps, descriptors, os, "  ", 1, 0, totals);
  if (!descriptors.empty())
    os << totals.operations << " operations are executed; they read "
       << formatBytes(totals.readInBytes) << " of device memory and write "
       << formatBytes(totals.writtenInBytes) << "\n";
}

} // namespace spyre::explain
