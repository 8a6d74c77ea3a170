//===- EmitTensors.cpp - What a descriptor says about its tensors ---------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last steps of emitDescriptor: cores, layout classes, constants, addresses
// and folds. Source of the rules: docs/formats/superdsc-rules.md, section 1;
// docs/formats/superdsc-rules.md, e.2 to e.4.
//
//===----------------------------------------------------------------------===//

#include "EmitInternal.h"

#include "spyre/Numerics/DL16.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace spyre::sdsc {

using layout::AlignedCoordinate;
using layout::CoordinateKind;

void Emitter::writeDescriptor() {
  Descriptor &out = result.descriptor;
  out.executionUnit = facts.executionUnit;
  // The operation's format is its first operand's, index tensors apart.
  for (const EmitTensor &tensor : tensors)
    if (!tensor.operand->isIndexTensor) {
      out.format = getWrittenFormat(*tensor.operand);
      break;
    }
  for (unsigned d = 0; d < out.dims.size(); ++d)
    if (padding[d] != 0 && (tensors.back().scale[d] == -2 || op.isMasked))
      out.masks.push_back({out.dims[d].name, out.dims[d].size - padding[d], padding[d]});

  bool keepsStick = std::find(tensors.back().scale.begin(), tensors.back().scale.end(), -2) ==
                    tensors.back().scale.end();
  out.opFunc = opFunc + (facts.hasNonStickForm && keepsStick ? "nonstick" : "");
  writeCores();
  writeLabels();
  writeConstants();
  for (unsigned i = 0; i < tensors.size(); ++i)
    writeTensor(i);

  unsigned last = unsigned(tensors.size()) - 1;
  for (unsigned i = 0; i < last; ++i)
    (tensors[i].operand->isIndexTensor ? out.indexTensors : out.inputs).push_back(i);
  if (facts.outputIsInput)
    out.inputs.push_back(last);
  out.outputs = {last};
}

/// The first dim of the order varies fastest with the core
/// (docs/formats/superdsc-rules.md, e.3).
void Emitter::writeCores() {
  Descriptor &out = result.descriptor;
  unsigned count = unsigned(out.dims.size());
  out.numCores = 1;
  for (const Dim &dim : out.dims)
    out.numCores *= dim.numSlices;
  out.coreOrder.resize(count);
  std::iota(out.coreOrder.begin(), out.coreOrder.end(), 0);
  if (op.kFastCoreOrder && facts.category == EmitCategory::Matmul && count >= 3 &&
      out.dims.back().numSlices > 1)
    std::rotate(out.coreOrder.begin(), out.coreOrder.end() - 1, out.coreOrder.end());
  out.coreToSlice.assign(out.numCores, std::vector<int64_t>(count, 0));
  for (int64_t core = 0; core < out.numCores; ++core) {
    int64_t rest = core;
    for (unsigned d : out.coreOrder) {
      out.coreToSlice[core][d] = rest % out.dims[d].numSlices;
      rest /= out.dims[d].numSlices;
    }
  }
}

/// Operands with the same dims, stick dim and elements a stick share a label.
void Emitter::writeLabels() {
  Descriptor &out = result.descriptor;
  static const char *const usual[] = {"OUTPUT", "KERNEL", "INPUT", "KERNEL_IDX"};
  static const char *const matmul[] = {"INPUT", "KERNEL", "OUTPUT", "KERNEL_IDX"};
  const char *const *names = facts.category == EmitCategory::Matmul ? matmul : usual;
  unsigned used = 0;
  std::vector<std::vector<unsigned>> labelDims;
  for (EmitTensor &tensor : tensors) {
    std::vector<unsigned> sorted = tensor.order;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::string> stickDims;
    std::vector<int64_t> stickSizes;
    const layout::AlignedAccess &access = tensor.access;
    for (size_t i = access.coordinates.size() - access.stickRank; i < access.coordinates.size();
         ++i) {
      int dim = tensor.stick == -1 ? getLabelStick(tensor)
                                   : access.coordinates[i].dim + (hasVirtualRow ? 1 : 0);
      stickDims.push_back(out.dims[dim].name);
      stickSizes.push_back(access.deviceSizes[i]);
    }
    bool found = false;
    for (unsigned l = 0; l < out.layouts.size() && !found; ++l)
      if (labelDims[l] == sorted && out.layouts[l].stickDims == stickDims &&
          out.layouts[l].stickSizes == stickSizes) {
        tensor.label = l;
        found = true;
      }
    if (found)
      continue;
    LayoutClass label;
    if (!indexTensors.empty())
      label.label = tensor.operand->isIndexTensor ? "KERNEL_IDX" : "OUTPUT";
    else
      label.label = names[std::min(used++, 3u)];
    for (unsigned dim : tensor.order)
      label.dimOrder.push_back(out.dims[dim].name);
    label.stickDims = std::move(stickDims);
    label.stickSizes = std::move(stickSizes);
    tensor.label = unsigned(out.layouts.size());
    out.layouts.push_back(std::move(label));
    labelDims.push_back(std::move(sorted));
  }
}

void Emitter::writeConstants() {
  Descriptor &out = result.descriptor;
  auto append = [&](const std::string &name, double value) {
    uint32_t bits = out.format == DataFormat::IEEE_FP32 ? std::bit_cast<uint32_t>(float(value))
                                                        : encodeDL16(value);
    out.constants.push_back({name, out.format, bits});
  };
  for (const auto &[name, value] : op.constants)
    append(name, value);
  if (!out.masks.empty()) {
    out.maskConstant = int64_t(out.constants.size());
    append("samv-maskvalue", facts.maskValue);
  }
}

/// Copies of 32-bit integers run as copies of 32-bit floats.
DataFormat Emitter::getWrittenFormat(const EmitOperand &operand) const {
  if (operand.isIndexTensor)
    return DataFormat::SENUINT32;
  if (opFunc == "identity" && operand.layout.format == DataFormat::IEEE_INT32)
    return DataFormat::IEEE_FP32;
  return operand.layout.format;
}

void Emitter::writeTensor(unsigned position) {
  Descriptor &out = result.descriptor;
  const EmitTensor &in = tensors[position];
  const EmitOperand &operand = *in.operand;
  const LayoutClass &label = out.layouts[in.label];
  bool isLx = operand.space == PlacementKind::LX;

  Tensor tensor;
  tensor.name = "Tensor" + std::to_string(position);
  tensor.label = label.label;
  tensor.format = getWrittenFormat(operand);
  tensor.wordLength = in.getElementBytes();
  tensor.component = isLx ? MemorySpace::LX : MemorySpace::HBM;
  tensor.presentInHbm = !isLx;
  tensor.presentInLx = isLx || !operand.isIndexTensor;

  unsigned labelStick = unsigned(getLabelStick(in));
  for (const std::string &name : label.dimOrder) {
    unsigned dim = *out.findDim(name);
    tensor.scale.push_back(in.scale[dim]);
    tensor.coordinates.push_back(makeCoordinate(in, dim, labelStick));
  }
  for (unsigned dim : in.order) {
    tensor.dimOrder.push_back(out.dims[dim].name);
    tensor.maxDimSizes.push_back(-1);
    if (in.indirect[dim]) {
      // The index tensor names fewer places than the tensor has: one at a time.
      int64_t places = in.access.deviceSizes[in.place[dim]];
      if (out.dims[dim].size < places)
        tensor.maxDimSizes.back() = 1;
    }
    if (in.gap[dim] != 0)
      tensor.backGap.push_back(
          {out.dims[dim].name, std::vector<int64_t>(isLx ? size_t(out.numCores) : 1, in.gap[dim])});
  }
  auto getNode = [&](unsigned i) {
    return "allocate-Tensor" + std::to_string(i) +
           (tensors[i].operand->space == PlacementKind::LX ? "_lx" : "_hbm");
  };
  if (operand.isIndexTensor) {
    tensor.indirection = Indirection::IndexTensor;
    for (unsigned i = 0; i < tensors.size(); ++i)
      if (tensors[i].operand->indexOperand == int(position))
        tensor.relatedAllocation = getNode(i);
  } else if (operand.indirectDim != -1) {
    tensor.indirection = Indirection::ValueTensor;
    tensor.relatedAllocation = getNode(unsigned(operand.indexOperand));
  }
  writeAddresses(position, tensor);
  writeOwnDivision(in, tensor);
  out.tensors.push_back(std::move(tensor));
}

/// coordinates_.coreIdToWkSlice_ of a relayout's operand, all dims in the operation's order.
void Emitter::writeOwnDivision(const EmitTensor &in, Tensor &out) const {
  if (in.ownSlices.empty())
    return;
  for (const std::vector<int64_t> &slices : in.operand->coreToSlice) {
    auto &core = out.coreToSlice.emplace_back();
    for (unsigned d = 0; d < result.descriptor.dims.size(); ++d)
      core.emplace_back(result.descriptor.dims[d].name,
                        in.ownSlices[d] == 1 ? 0 : slices[alignment.dims[d].source]);
  }
}

/// The device coordinates at the first element of each core's slice
/// (docs/formats/superdsc-rules.md, e.4).
std::vector<int64_t> Emitter::getStridesInLX(const EmitTensor &tensor) const {
  const std::vector<Dim> &dims = result.descriptor.dims;
  const layout::AlignedAccess &access = tensor.access;
  std::vector<int64_t> strides(access.coordinates.size(), 1);
  int64_t unit = tensor.elementsPerStick;
  for (size_t c = access.coordinates.size() - access.stickRank; c-- > 0;) {
    strides[c] = unit;
    if (access.coordinates[c].dim == -1)
      continue;
    unsigned dim = unsigned(access.coordinates[c].dim + (hasVirtualRow ? 1 : 0));
    unit *= (dims[dim].coreSize + tensor.gap[dim]) / tensor.inStick[dim];
  }
  return strides;
}

void Emitter::writeAddresses(unsigned position, Tensor &out) {
  const EmitTensor &in = tensors[position];
  const Descriptor &descriptor = result.descriptor;
  int64_t base = in.operand->addressInBytes;
  for (unsigned l = 0; l < op.iteration.size(); ++l)
    base += op.iteration[l] * result.loopStrideInBytes[position][l];
  if (in.operand->space == PlacementKind::LX) {
    // In every core at the same place: what is left out before it is no slice.
    std::vector<int64_t> strides = getStridesInLX(in);
    for (unsigned c = 0; in.operand->isSliceInLX && c < in.access.coordinates.size(); ++c)
      base += in.access.coordinates[c].offset * strides[c] * in.getElementBytes();
    out.startAddress.assign(descriptor.numCores, base);
    return;
  }
  out.startAddress.assign(descriptor.numCores, base);
  std::vector<int64_t> strides = layout::getRowMajorStrides(in.access.deviceSizes);
  int64_t offset = 0;
  std::vector<int64_t> perSlice(descriptor.dims.size(), 0);
  for (unsigned c = 0; c < in.access.coordinates.size(); ++c)
    offset += in.access.coordinates[c].offset * strides[c];
  for (unsigned dim : in.order) {
    int place = in.place[dim];
    if (place == -1 || in.scale[dim] != 1 || in.indirect[dim])
      continue;
    bool isCount = in.access.coordinates[place].kind == CoordinateKind::Count;
    perSlice[dim] =
        descriptor.dims[dim].coreSize / (isCount ? in.inStick[dim] : 1) * strides[place];
  }
  for (int64_t core = 0; core < descriptor.numCores; ++core) {
    int64_t elements = offset;
    for (unsigned dim : in.order)
      elements += descriptor.coreToSlice[core][dim] * perSlice[dim];
    out.startAddress[core] += elements * in.getElementBytes();
  }
}

DimCoordinate Emitter::makeCoordinate(const EmitTensor &in, unsigned dim,
                                      unsigned labelStick) const {
  const Dim &info = result.descriptor.dims[dim];
  int64_t scale = in.scale[dim];
  bool isStick = dim == labelStick || in.inStick[dim] != 1;
  int64_t elements = in.inStick[dim] != 1 ? in.inStick[dim] : in.elementsPerStick;
  int64_t divided = in.ownSlices.empty() ? info.numSlices : in.ownSlices[dim];
  int64_t size = scale == 1 ? info.size / divided : 1;
  int64_t slices = scale == 1 ? divided : 1;
  DimCoordinate coordinate;
  coordinate.dim = info.name;
  auto fold = [&](int64_t alpha, int64_t factor, const char *label) {
    coordinate.folds.push_back({alpha, 0, factor, label});
  };
  bool isLane = isStick && scale == -2;
  fold(isLane ? elements : size, isLane ? 1 : slices, "core_fold");
  fold(0, 1, "corelet_fold");
  fold(0, 1, "row_fold");
  if (!isStick) {
    fold(1, size, "elem_arr_0");
    return coordinate;
  }
  coordinate.elemArr = 2;
  // Whole sticks; of an index tensor, and of what a cast does not pad, the last may be a
  // part of one and is not counted.
  int64_t least = facts.category == EmitCategory::Cast ? 0 : 1;
  fold(elements, isLane ? 1 : std::max(least, size / elements), "elem_arr_1");
  fold(isLane ? 0 : 1, elements, "elem_arr_0");
  return coordinate;
}

} // namespace spyre::sdsc
