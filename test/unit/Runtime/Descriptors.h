//===- Descriptors.h - Small descriptors for tests --------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds descriptors of one operation by hand, so that the emulator's tests do
// not depend on the emission that it is to check.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TEST_UNIT_RUNTIME_DESCRIPTORS_H
#define SPYRE_TEST_UNIT_RUNTIME_DESCRIPTORS_H

#include "spyre/Numerics/DL16.h"
#include "spyre/Runtime/Emulator.h"
#include "spyre/SuperDSC/Standard.h"

#include <bit>
#include <functional>

namespace spyre::runtime::test {

struct TestTensor {
  std::vector<std::string> dims; ///< layoutDimOrder_, innermost first
  std::string stick;
  std::vector<int64_t> scale; ///< in the order of dims
  MemorySpace component = MemorySpace::HBM;
  /// Address on each core, by its slices.
  std::function<int64_t(const std::vector<int64_t> &)> address;
  DataFormat format = DataFormat::SEN169_FP16;
};

inline sdsc::Descriptor makeDescriptor(const std::string &op, std::vector<sdsc::Dim> dims,
                                       const std::vector<TestTensor> &tensors,
                                       bool outputIsInput = false,
                                       std::vector<sdsc::Constant> constants = {}) {
  sdsc::Descriptor d;
  d.opFunc = op;
  d.executionUnit = op == "batchmatmul" ? "pt" : "sfp";
  d.format = tensors[0].format;
  d.dims = std::move(dims);
  d.constants = std::move(constants);
  for (sdsc::Dim &dim : d.dims) {
    dim.coreSize = dim.size / dim.numSlices;
    d.numCores *= dim.numSlices;
  }
  for (unsigned i = 0; i < d.dims.size(); ++i)
    d.coreOrder.push_back(i);
  d.coreToSlice = sdsc::getStandardCoreToSlice(d.dims, d.coreOrder, d.numCores);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TestTensor &from = tensors[i];
    std::string label = "L" + std::to_string(i);
    d.layouts.push_back({label, from.dims, {from.stick}, {getElementsPerStick(from.format)}});
    sdsc::Tensor tensor;
    tensor.name = "Tensor" + std::to_string(i);
    tensor.label = label;
    tensor.format = from.format;
    tensor.wordLength = getWidthInBytes(from.format);
    tensor.scale = from.scale;
    tensor.component = from.component;
    tensor.dimOrder = from.dims;
    tensor.maxDimSizes.assign(from.dims.size(), -1);
    for (const std::vector<int64_t> &slices : d.coreToSlice)
      tensor.startAddress.push_back(from.address(slices));
    d.tensors.push_back(std::move(tensor));
    d.tensors.back().coordinates = sdsc::getStandardCoordinates(d, d.tensors.back());
    bool isOutput = i + 1 == tensors.size();
    if (!isOutput || outputIsInput)
      d.inputs.push_back(static_cast<unsigned>(i));
    if (isOutput)
      d.outputs.push_back(static_cast<unsigned>(i));
  }
  return d;
}

inline sdsc::Dim dim(const std::string &name, int64_t size, int64_t slices = 1) {
  sdsc::Dim result;
  result.name = name;
  result.size = size;
  result.numSlices = slices;
  return result;
}

inline sdsc::Constant constant(const std::string &name, double value,
                               DataFormat format = DataFormat::SEN169_FP16) {
  uint32_t bits = format == DataFormat::IEEE_FP32
                      ? std::bit_cast<uint32_t>(static_cast<float>(value))
                      : encodeDL16(value);
  return {name, format, bits};
}

/// Makes a gather of a copy: tensor 0 has the numbers of the rows of tensor 1, whose first
/// dim they address.
inline void makeGather(sdsc::Descriptor &d) {
  d.format = d.tensors[1].format;
  d.inputs = {1};
  d.indexTensors = {0};
  d.tensors[0].indirection = sdsc::Indirection::IndexTensor;
  d.tensors[0].relatedAllocation = "allocate-Tensor1_hbm";
  d.tensors[1].indirection = sdsc::Indirection::ValueTensor;
  d.tensors[1].relatedAllocation = "allocate-Tensor0_hbm";
  d.tensors[1].maxDimSizes = {-1, 1};
}

} // namespace spyre::runtime::test

#endif // SPYRE_TEST_UNIT_RUNTIME_DESCRIPTORS_H
