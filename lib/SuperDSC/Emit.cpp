//===- Emit.cpp - One planned operation to one descriptor -----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of emitDescriptor up to dims, scales, padding and gaps: device
// coordinates, alignment, names. What a descriptor writes about each tensor is
// in EmitTensors.cpp. Source of the rules: docs/formats/superdsc-rules.md, e.1 to e.2.
//
//===----------------------------------------------------------------------===//

#include "EmitInternal.h"

#include <algorithm>
#include <set>

namespace spyre::sdsc {

using layout::AlignedCoordinate;
using layout::CoordinateKind;

namespace {

int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

const char *const kNames[] = {"mb", "x", "y", "i", "j", "ki", "kj"};
const char *const kMatmulNames[] = {"ki", "kj", "y", "x", "mb", "out", "in"};

} // namespace

bool Emitter::fail(std::string message, int operand) {
  if (error.message.empty())
    error = {std::move(message), operand};
  return false;
}

std::variant<EmittedOp, EmitError> Emitter::run() {
  if (checkInput() && computeCoordinates() && alignDims() && nameDims() && orderTensors() &&
      computeScales() && computePadding() && checkSplits() && computeOwnDivisions()) {
    computeLoopStrides();
    writeDescriptor();
  }
  if (!error.message.empty())
    return error;
  return std::move(result);
}

/// True if the operation contracts nothing: the product of its inputs then.
static bool isContractionTrivial(const EmitOp &op) {
  const layout::IndexMap &output = op.operands.back().access;
  for (unsigned i = 0; i < op.dims.size(); ++i)
    if (op.dims[i].extent != 1 &&
        std::none_of(output.results.begin(), output.results.end(),
                     [&](const layout::IndexExpr &expr) { return dependsOn(expr, i); }))
      return false;
  return true;
}

bool Emitter::checkInput() {
  if (op.operands.size() < 2)
    return fail("an operation needs an input and an output, not " +
                std::to_string(op.operands.size()) + " operands");
  opFunc = op.opFunc == "batchmatmul" && isContractionTrivial(op) ? "mul" : op.opFunc;
  auto answer = getEmitFacts(opFunc);
  if (std::string *problem = std::get_if<std::string>(&answer))
    return fail(*problem);
  facts = std::move(std::get<EmitFacts>(answer));
  for (const EmitDim &dim : op.dims)
    if (dim.extent < 1 || dim.split < 1)
      return fail("an iteration dim has extent " + std::to_string(dim.extent) + " and split " +
                  std::to_string(dim.split));
  if (!checkConstants())
    return false;
  if (!op.iteration.empty() && op.iteration.size() != op.numLoops)
    return fail("the iteration has " + std::to_string(op.iteration.size()) + " numbers for " +
                std::to_string(op.numLoops) + " loops");
  for (unsigned i = 0; i < op.operands.size(); ++i) {
    const EmitOperand &operand = op.operands[i];
    std::vector<std::string> problems = layout::verify(operand.layout);
    if (!problems.empty())
      return fail("the layout is not valid: " + problems.front(), int(i));
    if (operand.access.extents.size() != op.dims.size() + op.numLoops ||
        operand.access.results.size() != operand.layout.shape.size())
      return fail("the access map does not fit to the iteration dims and the operand's rank",
                  int(i));
    if (getWidthInBytes(operand.layout.format) == 0)
      return fail("formats narrower than a byte have no descriptor form", int(i));
    if (operand.isIndexTensor)
      indexTensors.push_back(i);
    if (operand.indirectDim != -1 &&
        (operand.indexOperand < 0 || operand.indexOperand >= int(op.operands.size()) ||
         !op.operands[operand.indexOperand].isIndexTensor))
      return fail("the operand is addressed through an operand that is no index tensor", int(i));
    if (operand.indirectDim >= int(operand.layout.shape.size()))
      return fail("the operand has no dim " + std::to_string(operand.indirectDim), int(i));
  }
  if (op.operands.back().isIndexTensor)
    return fail("the output cannot be an index tensor", int(op.operands.size()) - 1);
  // 8-bit contractions take pairs of the second operand's rows at once.
  if (facts.needsPairs && op.operands[1].layout.stick.size() != 2)
    return fail("the second operand of '" + opFunc +
                    "' needs a stick of two dims, [reduction 2, generated 64]",
                1);
  int64_t numInputs = int64_t(op.operands.size() - 1 - indexTensors.size());
  if (numInputs != facts.numInputs)
    return fail("'" + opFunc + "' takes " + std::to_string(facts.numInputs) + " inputs, not " +
                std::to_string(numInputs));
  return true;
}

bool Emitter::checkConstants() {
  // Others between them are written too; nothing reads them.
  size_t found = 0;
  for (const auto &[name, value] : op.constants)
    if (found < facts.constants.size() && name == facts.constants[found])
      ++found;
  if (found == facts.constants.size())
    return true;
  std::string names;
  for (const std::string &name : facts.constants)
    names += (names.empty() ? "" : ", ") + name;
  return fail("'" + opFunc + "' takes the constants (" + names + ") in this order");
}

/// Device coordinates at the first iteration of all loops, and what a step of
/// each loop adds to them.
bool Emitter::computeCoordinates() {
  accesses.resize(op.operands.size());
  loopSteps.resize(op.operands.size());
  for (unsigned i = 0; i < op.operands.size(); ++i) {
    const EmitOperand &operand = op.operands[i];
    layout::IndexMap logical = operand.access;
    if (operand.indirectDim != -1)
      logical.results[operand.indirectDim] = layout::makeConstant(0);
    auto answer = layout::getDeviceCoordinates(operand.layout, logical);
    if (auto *problem = std::get_if<layout::LayoutError>(&answer))
      return fail(problem->message, int(i));
    layout::IndexMap &coordinates = std::get<layout::IndexMap>(answer);

    layout::AlignAccess &access = accesses[i];
    access.stickRank = std::max(1u, unsigned(operand.layout.stick.size()));
    access.deviceSizes = layout::getDeviceSizes(operand.layout);
    for (unsigned d = 0; d < coordinates.results.size(); ++d) {
      layout::IndexExpr own;
      own.constant = coordinates.results[d].constant;
      for (const layout::Digit &digit : coordinates.results[d].digits) {
        if (digit.input < op.dims.size()) {
          own.digits.push_back(digit);
          continue;
        }
        if (digit.divisor != 1 || digit.modulus != 0)
          return fail("the operand does not move by the same number of bytes in each iteration: " +
                          toString(coordinates.results[d]),
                      int(i));
        if (d + access.stickRank >= coordinates.results.size())
          return fail("a loop moves the operand by a part of a stick", int(i));
        loopSteps[i].push_back({d, unsigned(digit.input - op.dims.size()), digit.coefficient});
      }
      access.coordinates.push_back(std::move(own));
    }

    std::vector<layout::DeviceDim> deviceDims = layout::getDeviceDims(operand.layout);
    for (unsigned d = 0; d < deviceDims.size(); ++d) {
      bool isInStick = d + access.stickRank >= deviceDims.size();
      if (deviceDims[d].dim == -1)
        continue;
      if (deviceDims[d].dim == operand.indirectDim && !isInStick) {
        if (layout::getElementsInStick(operand.layout, operand.indirectDim) != 1)
          return fail("the stick dim cannot be addressed through an index tensor", int(i));
        access.indirectDim = int(d);
      }
      for (unsigned u = 0; u < op.dims.size(); ++u)
        if (op.dims[u].keepUnit && op.dims[u].extent == 1 &&
            (isInStick || operand.layout.shape[deviceDims[d].dim] == 1) &&
            dependsOn(operand.access.results[deviceDims[d].dim], u))
          access.unitDims.push_back({d, u});
    }
  }
  return true;
}

/// In an unrolled nest the operand is as long as its tile along the outermost
/// device dim: nothing depends on what follows there.
void Emitter::cutTiles() {
  std::vector<int64_t> extents;
  for (const EmitDim &dim : op.dims)
    extents.push_back(dim.extent);
  for (unsigned i = 0; i < accesses.size(); ++i) {
    layout::AlignAccess &access = accesses[i];
    // A tile of whole sticks leaves the dim as long as it is
    // (docs/formats/superdsc-rules.md, e.5).
    auto isStickDim = [&](unsigned d) {
      for (const layout::Digit &digit : access.coordinates[d].digits)
        for (unsigned lane = access.deviceSizes.size() - access.stickRank;
             lane < access.deviceSizes.size(); ++lane)
          if (dependsOn(access.coordinates[lane], digit.input))
            return true;
      return false;
    };
    for (unsigned d = 0; d + access.stickRank < access.deviceSizes.size(); ++d) {
      if (!isStickDim(d) && std::any_of(loopSteps[i].begin(), loopSteps[i].end(),
                                        [&](const LoopStep &step) { return step.deviceDim == d; }))
        access.deviceSizes[d] = layout::getRange(access.coordinates[d], extents).second + 1;
      if (access.deviceSizes[d] != 1)
        break;
    }
  }
}

bool Emitter::alignDims() {
  if (!op.iteration.empty())
    cutTiles();
  std::vector<layout::AlignDim> dims;
  for (const EmitDim &dim : op.dims)
    dims.push_back({dim.extent, dim.split, dim.keepUnit});
  // A restickify works on whole sticks of both stick dims; a dim that has to be
  // padded for that is not divided.
  if (facts.category == EmitCategory::Restickify)
    for (const layout::AlignAccess &access : accesses)
      for (const layout::Digit &digit : access.coordinates.back().digits)
        if (dims[digit.input].extent % access.deviceSizes.back() != 0)
          dims[digit.input].split = 1;
  auto align = [&] {
    auto answer = layout::align(dims, accesses);
    if (auto *problem = std::get_if<layout::AlignError>(&answer))
      return fail(problem->message, problem->access);
    alignment = std::move(std::get<layout::Alignment>(answer));
    return true;
  };
  if (!align())
    return false;
  // Dims of extent 1 are kept while there are names for them: they say nothing.
  if (int64_t(alignment.dims.size()) > getMostDims()) {
    for (layout::AlignDim &dim : dims)
      dim.keepUnit = false;
    for (layout::AlignAccess &access : accesses)
      access.unitDims.clear();
    if (!align())
      return false;
  }
  // The constants' dims of a matmul go in front: its last three dims are M, N, K.
  if (facts.category == EmitCategory::Matmul)
    moveConstantDimsToFront();
  return true;
}

void Emitter::moveConstantDimsToFront() {
  std::vector<unsigned> order;
  for (bool isConstant : {true, false})
    for (unsigned i = 0; i < alignment.dims.size(); ++i)
      if ((alignment.dims[i].source == -1) == isConstant)
        order.push_back(i);
  std::vector<int> position(order.size());
  std::vector<layout::AlignedDim> dims;
  for (unsigned i = 0; i < order.size(); ++i) {
    position[order[i]] = int(i);
    dims.push_back(alignment.dims[order[i]]);
  }
  alignment.dims = std::move(dims);
  for (layout::AlignedAccess &access : alignment.accesses)
    for (AlignedCoordinate &coordinate : access.coordinates)
      if (coordinate.dim != -1)
        coordinate.dim = position[coordinate.dim];
}

unsigned Emitter::getReference() const {
  bool contracts = facts.category == EmitCategory::Reduction ||
                   facts.category == EmitCategory::Scan || facts.category == EmitCategory::Matmul;
  return contracts ? 0 : unsigned(op.operands.size()) - 1;
}

/// Dims that SuperDSC has names for, where the operation's are as they were aligned.
int64_t Emitter::getMostDims() const {
  if (facts.category == EmitCategory::Matmul)
    return 7;
  return alignment.accesses[getReference()].getStickDim() == -1 ? 6 : 8;
}

/// Names, sizes and slices of the dims, with a virtual row in front and an
/// injected stick dim behind where the operation needs them.
bool Emitter::nameDims() {
  unsigned count = unsigned(alignment.dims.size());
  bool isMatmul = facts.category == EmitCategory::Matmul;
  const layout::AlignedAccess &reference = alignment.accesses[getReference()];
  unsigned limit = isMatmul ? 7 : 8;
  if (count > limit)
    return fail("the operation needs " + std::to_string(count) +
                " dims, which is not supported: SuperDSC has names for " + std::to_string(limit));

  bool hasOnlyStick = reference.getStickDim() != -1;
  for (const AlignedCoordinate &coordinate : reference.coordinates)
    hasOnlyStick &=
        coordinate.kind == CoordinateKind::Constant || coordinate.dim == reference.getStickDim();
  hasVirtualRow = facts.category == EmitCategory::Cast && hasOnlyStick;
  std::vector<Dim> &dims = result.descriptor.dims;
  if (hasVirtualRow)
    dims.push_back({kNames[0], 1, 1, 1});
  for (unsigned i = 0; i < count; ++i) {
    const char *name = isMatmul ? kMatmulNames[7 - count + i] : i + 1 == count ? "out" : kNames[i];
    dims.push_back({name, alignment.dims[i].size, alignment.dims[i].split, 1});
  }
  if (reference.getStickDim() == -1) {
    if (isMatmul)
      return fail("the first operand of a matmul has no dim in its stick", 0);
    if (count > 6)
      return fail("the operation needs a stick dim beside its " + std::to_string(count) +
                  " dims, which is not supported: SuperDSC has no name for it");
    injectedStick = int(dims.size());
    dims.push_back({kNames[count], getElementsPerStick(op.operands[0].layout.format), 1, 1});
  }
  return true;
}

/// Each operand's own dims, innermost first, and where they sit in its access.
bool Emitter::orderTensors() {
  size_t numDims = result.descriptor.dims.size();
  int shift = hasVirtualRow ? 1 : 0;
  tensors.resize(op.operands.size());
  // Index tensors first: the tensors that they address take over their dims.
  std::vector<unsigned> sequence = indexTensors;
  for (unsigned i = 0; i < tensors.size(); ++i)
    if (!op.operands[i].isIndexTensor)
      sequence.push_back(i);
  for (unsigned i : sequence) {
    EmitTensor &tensor = tensors[i];
    tensor.operand = &op.operands[i];
    tensor.access = alignment.accesses[i];
    tensor.elementsPerStick = getElementsPerStick(tensor.operand->layout.format);
    tensor.scale.assign(numDims, 0);
    tensor.place.assign(numDims, -1);
    tensor.indirect.assign(numDims, false);
    tensor.gap.assign(numDims, 0);
    tensor.inStick.assign(numDims, 1);
    int stick = tensor.access.getStickDim();
    tensor.stick = stick == -1 ? -1 : stick + shift;
    for (unsigned d = 0; d < alignment.dims.size(); ++d)
      tensor.inStick[d + shift] = tensor.access.getElementsInStick(int(d));
    auto append = [&](unsigned dim, int place) {
      if (std::find(tensor.order.begin(), tensor.order.end(), dim) != tensor.order.end())
        return fail("two dims of the operand are accessed by one loop dim (a diagonal)", int(i));
      tensor.order.push_back(dim);
      tensor.place[dim] = place;
      tensor.scale[dim] = 1;
      return true;
    };
    if (hasVirtualRow)
      append(0, -1);
    for (size_t c = tensor.access.coordinates.size() - tensor.access.stickRank; c-- > 0;) {
      const AlignedCoordinate &coordinate = tensor.access.coordinates[c];
      if (coordinate.kind == CoordinateKind::Indirect) {
        for (unsigned dim : tensors[tensor.operand->indexOperand].order) {
          if (!append(dim, int(c)))
            return false;
          tensor.indirect[dim] = true;
        }
      } else if (coordinate.dim != -1 && !append(unsigned(coordinate.dim + shift), int(c))) {
        return false;
      }
    }
  }
  return true;
}

/// Dims that an operand lacks are reduced or broadcast: scale -1, or -2 if that
/// leaves it without a dim in its stick.
bool Emitter::computeScales() {
  const EmitTensor &reference = tensors[getReference()];
  std::vector<unsigned> referenceOrder = reference.order;
  bool isComplete = facts.category == EmitCategory::Matmul || facts.category == EmitCategory::Scan;
  for (EmitTensor &tensor : tensors) {
    if (isComplete || tensor.operand->isIndexTensor)
      continue;
    for (unsigned dim : referenceOrder) {
      if (tensor.scale[dim] != 0)
        continue;
      tensor.order.push_back(dim);
      tensor.scale[dim] = tensor.stick == -1 && reference.stick == int(dim) ? -2 : -1;
    }
    if (injectedStick != -1) {
      tensor.order.push_back(unsigned(injectedStick));
      // The statistics that layernormscale reads are one lane a stick.
      bool readsOneLane = opFunc == "layernormscale" && &tensor == &tensors.front();
      tensor.scale[injectedStick] = readsOneLane ? -2 : 1;
    }
  }
  for (unsigned i = 0; i < tensors.size(); ++i) {
    int stick = getLabelStick(tensors[i]);
    if (stick == -1 || tensors[i].scale[stick] == 0)
      return fail("the operand has no dim in its stick and nothing to broadcast there", int(i));
    if (tensors[i].stick == -1 && tensors[i].place[stick] != -1)
      return fail("dim '" + result.descriptor.dims[stick].name +
                      "' is the stick of the operation and outside of this operand's stick; "
                      "restickify it first",
                  int(i));
  }
  return true;
}

/// The stick dim of the operand's layout class: its own, or else the one that it
/// lacks.
int Emitter::getLabelStick(const EmitTensor &tensor) const {
  if (tensor.stick != -1)
    return tensor.stick;
  return injectedStick != -1 ? injectedStick : tensors[getReference()].stick;
}

/// Whether a cast's operand pads \p dim. The reference looks for the dim among the
/// operand's device dims by its place in the operand's order, the virtual row counted,
/// so that a lone stick dim of a tensor [sticks, lanes] is not padded. (A divided one is,
/// for its slices to be whole sticks.)
bool Emitter::padsCast(const EmitTensor &tensor, unsigned dim) const {
  if (result.descriptor.dims[dim].numSlices > 1)
    return true;
  auto place = std::find(tensor.order.begin(), tensor.order.end(), dim);
  return place != tensor.order.end() &&
         place - tensor.order.begin() + 1 < ptrdiff_t(tensor.access.deviceSizes.size());
}

/// Gaps, then padded sizes: stick dims are rounded up to whole sticks, and the
/// contraction of a matmul to the second operand's.
bool Emitter::computePadding() {
  std::vector<Dim> &dims = result.descriptor.dims;
  if (facts.category == EmitCategory::Matmul)
    for (unsigned dim : tensors[1].order)
      if (int(dim) != tensors[1].stick && tensors.back().scale[dim] == 0)
        dims[dim].size = roundUp(dims[dim].size, tensors[1].elementsPerStick);

  auto getDeviceExtent = [&](const EmitTensor &tensor, unsigned dim) {
    int place = tensor.place[dim];
    if (place == -1)
      return int64_t(0);
    bool isCount = tensor.access.coordinates[place].kind == CoordinateKind::Count;
    return tensor.access.deviceSizes[place] * (isCount ? tensor.inStick[dim] : 1);
  };
  for (EmitTensor &tensor : tensors)
    for (unsigned dim : tensor.order) {
      if (tensor.scale[dim] != 1 || tensor.indirect[dim])
        continue;
      int64_t extent = roundUp(dims[dim].size, tensor.inStick[dim]);
      tensor.gap[dim] = std::max<int64_t>(0, getDeviceExtent(tensor, dim) - extent);
    }

  padding.assign(dims.size(), 0);
  for (unsigned i = 0; i < tensors.size(); ++i) {
    bool pads = true;
    if (facts.category == EmitCategory::Reduction)
      pads = i == 0;
    else if (facts.category == EmitCategory::Pointwise || facts.category == EmitCategory::Scan)
      pads = i + 1 == tensors.size();
    if (!pads)
      continue;
    for (unsigned dim = 0; dim < dims.size(); ++dim) {
      if (facts.category == EmitCategory::Cast && !padsCast(tensors[i], dim))
        continue;
      int64_t padded = roundUp(dims[dim].size, tensors[i].inStick[dim]);
      padding[dim] += padded - dims[dim].size;
      dims[dim].size = padded;
    }
  }
  // What a restickify's operand lacks of the padded size counts as its gap.
  if (facts.category == EmitCategory::Restickify)
    for (EmitTensor &tensor : tensors)
      for (unsigned dim : tensor.order) {
        // Where the memory is padded just as the dim is, what looked like a gap behind
        // the unpadded dim is that padding.
        // What is left behind the padded size is a gap, too.
        int64_t missing = dims[dim].size - getDeviceExtent(tensor, dim);
        if (int(dim) != tensor.stick && tensor.scale[dim] == 1)
          tensor.gap[dim] = std::abs(missing);
      }
  // The sticks of a cast's operands differ in their elements: what the dim is padded
  // to may be more sticks than the operand with the smaller ones has. It must neither
  // be read nor written there, and the places behind must be found; a negative gap
  // says both. The slices of such a dim would differ, so it is not divided.
  if (facts.category == EmitCategory::Cast)
    for (EmitTensor &tensor : tensors)
      for (unsigned dim : tensor.order) {
        int64_t extent = getDeviceExtent(tensor, dim);
        if (tensor.scale[dim] != 1 || extent == 0 || padding[dim] == 0 || dims[dim].size <= extent)
          continue;
        tensor.gap[dim] = extent - dims[dim].size;
        dims[dim].numSlices = 1;
      }
  return true;
}

bool Emitter::checkSplits() {
  for (unsigned d = 0; d < result.descriptor.dims.size(); ++d) {
    Dim &dim = result.descriptor.dims[d];
    if (dim.size % dim.numSlices != 0)
      return fail("dim '" + dim.name + "' of size " + std::to_string(dim.size) + " has no " +
                  std::to_string(dim.numSlices) + " equal slices");
    dim.coreSize = dim.size / dim.numSlices;
    // What a cast does not pad is not divided, and its last stick is a part of one.
    bool isPart = facts.category == EmitCategory::Cast && dim.numSlices == 1;
    for (unsigned i = 0; i < tensors.size(); ++i)
      if (!isPart && tensors[i].scale[d] == 1 && dim.coreSize % tensors[i].inStick[d] != 0)
        return fail("a core gets " + std::to_string(dim.coreSize) + " elements of dim '" +
                        dim.name + "', which are no whole sticks of " +
                        std::to_string(tensors[i].inStick[d]),
                    int(i));
  }
  return true;
}

/// A relayout moves what each core holds to where the other division wants it: both
/// sides in scratchpads, whole sticks, every part of the source held by some core.
bool Emitter::computeOwnDivisions() {
  const std::vector<Dim> &dims = result.descriptor.dims;
  int64_t numCores = 1;
  for (const Dim &dim : dims)
    numCores *= dim.numSlices;
  for (unsigned i = 0; i < tensors.size(); ++i) {
    const EmitOperand &operand = *tensors[i].operand;
    if (operand.slices.empty())
      continue;
    if (operand.space != PlacementKind::LX)
      return fail("a division of its own is for an operand in scratchpads", int(i));
    if (operand.slices.size() != op.dims.size() || int64_t(operand.coreToSlice.size()) != numCores)
      return fail("its own division is of " + std::to_string(operand.coreToSlice.size()) +
                      " cores, the operation runs on " + std::to_string(numCores),
                  int(i));
    EmitTensor &tensor = tensors[i];
    tensor.ownSlices.assign(dims.size(), 1);
    for (unsigned source = 0; source < op.dims.size(); ++source) {
      int64_t slices = operand.slices[source];
      if (slices == 1)
        continue;
      int found = -1, parts = 0;
      for (unsigned d = 0; d < alignment.dims.size(); ++d)
        if (alignment.dims[d].source == int(source)) {
          found = int(d);
          ++parts;
        }
      if (parts != 1)
        return fail("a dim that the layouts take apart cannot be divided anew", int(i));
      if (slices < 1 || dims[found].size % slices != 0 ||
          dims[found].size / slices % tensor.inStick[found] != 0)
        return fail("dim '" + dims[found].name + "' of size " + std::to_string(dims[found].size) +
                        " has no " + std::to_string(slices) + " equal slices of whole sticks",
                    int(i));
      tensor.ownSlices[found] = slices;
    }
  }
  if (op.opFunc != "shuffle")
    return true;
  for (unsigned i = 0; i < tensors.size(); ++i)
    if (tensors[i].ownSlices.empty())
      return fail("a relayout needs the division of each operand: which core holds what", int(i));
  for (unsigned d = 0; d < dims.size(); ++d)
    if (tensors.back().ownSlices[d] != dims[d].numSlices)
      return fail("dim '" + dims[d].name + "' has " + std::to_string(dims[d].numSlices) +
                      " work slices, the result's division has " +
                      std::to_string(tensors.back().ownSlices[d]),
                  int(tensors.size()) - 1);
  for (unsigned i = 0; i < tensors.size(); ++i) {
    std::set<std::vector<int64_t>> held(op.operands[i].coreToSlice.begin(),
                                        op.operands[i].coreToSlice.end());
    int64_t parts = 1;
    for (int64_t slices : tensors[i].ownSlices)
      parts *= slices;
    if (int64_t(held.size()) != parts)
      return fail("its " + std::to_string(parts) + " parts are not all held by a core", int(i));
  }
  return true;
}

/// Bytes that each operand moves per iteration of each loop. In device memory the
/// layout says so; in LX a core has only its slices, each with its gap.
void Emitter::computeLoopStrides() {
  result.loopStrideInBytes.resize(tensors.size());
  for (unsigned i = 0; i < tensors.size(); ++i) {
    const EmitTensor &tensor = tensors[i];
    bool isLx = tensor.operand->space == PlacementKind::LX;
    std::vector<int64_t> strides =
        layout::getRowMajorStrides(layout::getDeviceSizes(tensor.operand->layout));
    if (isLx) {
      // The innermost part of a device dim is its unit.
      std::vector<int64_t> parts = getStridesInLX(tensor);
      for (size_t c = 0; c + tensor.access.stickRank < parts.size(); ++c)
        if (tensor.access.sources[c] != -1)
          strides[tensor.access.sources[c]] = parts[c];
    }
    result.loopStrideInBytes[i].assign(op.numLoops, 0);
    for (const LoopStep &step : loopSteps[i])
      result.loopStrideInBytes[i][step.loop] +=
          step.step * strides[step.deviceDim] * tensor.getElementBytes();
  }
}

std::variant<EmittedOp, EmitError> emitDescriptor(const EmitOp &op, int64_t index) {
  return Emitter(op, index).run();
}

} // namespace spyre::sdsc
