//===- DescriptorConversion.cpp - sdsc operations and descriptors ---------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Target/SuperDSC/DescriptorConversion.h"

#include "DescriptorExtensions.h"
#include "spyre/SuperDSC/Standard.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::sdsc;

namespace sd = ::spyre::sdsc;

std::string mlir::sdsc::getDescriptorSymbol(int64_t index) {
  return "sdsc_" + std::to_string(index);
}

//===----------------------------------------------------------------------===//
// Provenance
//===----------------------------------------------------------------------===//

static DictionaryAttr buildProvenance(Builder &b, const sd::Provenance &provenance) {
  SmallVector<NamedAttribute> fields;
  auto add = [&](StringRef name, Attribute value) {
    fields.push_back(b.getNamedAttr(name, value));
  };
  auto strings = [&](ArrayRef<std::string> texts) {
    SmallVector<Attribute> list;
    for (const std::string &text : texts)
      list.push_back(b.getStringAttr(text));
    return b.getArrayAttr(list);
  };
  add("id", b.getStringAttr(provenance.id));
  if (!provenance.file.empty()) {
    add("file", b.getStringAttr(provenance.file));
    add("start_line", b.getI64IntegerAttr(provenance.startLine));
    add("start_col", b.getI64IntegerAttr(provenance.startCol));
  }
  if (provenance.endLine)
    add("end_line", b.getI64IntegerAttr(*provenance.endLine));
  if (provenance.endCol)
    add("end_col", b.getI64IntegerAttr(*provenance.endCol));
  if (!provenance.atenOp.empty())
    add("aten_op", b.getStringAttr(provenance.atenOp));
  if (!provenance.irChain.empty())
    add("ir_chain", strings(provenance.irChain));
  SmallVector<Attribute> fused, history;
  for (const sd::Provenance &handle : provenance.fusedFrom)
    fused.push_back(buildProvenance(b, handle));
  for (const std::array<std::string, 3> &step : provenance.transformHistory)
    history.push_back(strings(ArrayRef<std::string>(step.data(), step.size())));
  if (!fused.empty())
    add("fused_from", b.getArrayAttr(fused));
  if (!history.empty())
    add("transform_history", b.getArrayAttr(history));
  return b.getDictionaryAttr(fields);
}

static bool readStrings(Attribute attribute, SmallVectorImpl<std::string> &texts) {
  auto list = dyn_cast<ArrayAttr>(attribute);
  if (!list || !llvm::all_of(list, llvm::IsaPred<StringAttr>))
    return false;
  for (Attribute text : list)
    texts.push_back(cast<StringAttr>(text).getValue().str());
  return true;
}

/// Returns the name of the field that cannot be read, or "".
static StringRef readProvenance(DictionaryAttr fields, sd::Provenance &provenance) {
  for (NamedAttribute field : fields) {
    StringRef name = field.getName();
    Attribute value = field.getValue();
    auto text = dyn_cast<StringAttr>(value);
    auto number = dyn_cast<IntegerAttr>(value);
    SmallVector<std::string> texts;
    bool ok = false;
    if (std::string *slot = name == "id"        ? &provenance.id
                            : name == "file"    ? &provenance.file
                            : name == "aten_op" ? &provenance.atenOp
                                                : nullptr) {
      ok = static_cast<bool>(text);
      if (ok)
        *slot = text.getValue().str();
    } else if (name.ends_with("_line") || name.ends_with("_col")) {
      ok = number && number.getType().isInteger(64);
      if (ok && name == "start_line")
        provenance.startLine = number.getInt();
      else if (ok && name == "start_col")
        provenance.startCol = number.getInt();
      else if (ok && name == "end_line")
        provenance.endLine = number.getInt();
      else if (ok && name == "end_col")
        provenance.endCol = number.getInt();
      else
        ok = false;
    } else if (name == "ir_chain") {
      ok = readStrings(value, texts);
      provenance.irChain.assign(texts.begin(), texts.end());
    } else if (name == "fused_from") {
      auto list = dyn_cast<ArrayAttr>(value);
      ok = list && llvm::all_of(list, llvm::IsaPred<DictionaryAttr>);
      for (Attribute handle : ok ? list.getValue() : ArrayRef<Attribute>())
        if (!readProvenance(cast<DictionaryAttr>(handle), provenance.fusedFrom.emplace_back())
                 .empty())
          ok = false;
    } else if (name == "transform_history") {
      auto list = dyn_cast<ArrayAttr>(value);
      ok = static_cast<bool>(list);
      for (Attribute step : ok ? list.getValue() : ArrayRef<Attribute>()) {
        texts.clear();
        ok = ok && readStrings(step, texts) && texts.size() == 3;
        if (ok)
          provenance.transformHistory.push_back({texts[0], texts[1], texts[2]});
      }
    }
    if (!ok)
      return name;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Descriptor to operation
//===----------------------------------------------------------------------===//

static SmallVector<StringAttr> getNames(Builder &b, ArrayRef<std::string> names) {
  return llvm::map_to_vector(names, [&](const std::string &name) { return b.getStringAttr(name); });
}

static ArrayAttr getNameArray(Builder &b, ArrayRef<std::string> names) {
  return b.getArrayAttr(llvm::map_to_vector(
      names, [&](const std::string &name) -> Attribute { return b.getStringAttr(name); }));
}

static CoordinateAttr buildCoordinate(Builder &b, const sd::DimCoordinate &coordinate) {
  SmallVector<StringAttr> labels;
  SmallVector<int64_t> factors, alphas, betas;
  for (const sd::Fold &fold : coordinate.folds) {
    labels.push_back(b.getStringAttr(fold.label));
    factors.push_back(fold.factor);
    alphas.push_back(fold.alpha);
    betas.push_back(fold.beta);
  }
  return CoordinateAttr::get(b.getContext(), b.getStringAttr(coordinate.dim), coordinate.spatial,
                             coordinate.temporal, coordinate.elemArr, coordinate.padding, labels,
                             factors, alphas, betas);
}

static AllocateOp buildAllocate(OpBuilder &b, Location loc, const sd::Descriptor &descriptor,
                                const sd::Tensor &tensor) {
  OperationState state(loc, AllocateOp::getOperationName());
  AllocateOp::Properties &p = state.getOrAddProperties<AllocateOp::Properties>();
  p.name = b.getStringAttr(tensor.name);
  p.component = ComponentAttr::get(b.getContext(), tensor.component);
  p.label = b.getStringAttr(tensor.label);
  p.dim_order = getNameArray(b, tensor.dimOrder);
  p.scale = b.getDenseI64ArrayAttr(tensor.scale);
  p.format = FormatAttr::get(b.getContext(), tensor.format);
  ArrayRef<int64_t> addresses = tensor.startAddress;
  p.start_address =
      b.getDenseI64ArrayAttr(llvm::all_equal(addresses) ? addresses.take_front() : addresses);
  if (tensor.symbolicAddress)
    p.symbolic = b.getUnitAttr();
  if (tensor.wordLength != ::spyre::getWidthInBytes(tensor.format))
    p.word_length = b.getI64IntegerAttr(tensor.wordLength);
  if (!llvm::all_of(tensor.maxDimSizes, [](int64_t size) { return size == -1; }))
    p.max_dim_sizes = b.getDenseI64ArrayAttr(tensor.maxDimSizes);
  if (tensor.indirection != sd::Indirection::None)
    p.indirection = IndirectionAttr::get(b.getContext(), tensor.indirection);
  if (!tensor.relatedAllocation.empty())
    p.related = b.getStringAttr(tensor.relatedAllocation);
  if (!tensor.unusualAllocationName.empty())
    p.allocation_name = b.getStringAttr(tensor.unusualAllocationName);
  if (tensor.addressCorelets != 1)
    p.address_corelets = b.getI64IntegerAttr(tensor.addressCorelets);
  if (!tensor.backGap.empty()) {
    SmallVector<Attribute> gaps;
    for (const auto &[dim, values] : tensor.backGap)
      gaps.push_back(GapAttr::get(b.getContext(), b.getStringAttr(dim), values));
    p.back_gap = b.getArrayAttr(gaps);
  }
  if (tensor.coordinates != sd::getStandardCoordinates(descriptor, tensor)) {
    SmallVector<Attribute> coordinates;
    for (const sd::DimCoordinate &coordinate : tensor.coordinates)
      coordinates.push_back(buildCoordinate(b, coordinate));
    p.coordinates = b.getArrayAttr(coordinates);
  }
  if (!tensor.coreToSlice.empty()) {
    SmallVector<Attribute> dims;
    for (const auto &[dim, slice] : tensor.coreToSlice.front())
      dims.push_back(b.getStringAttr(dim));
    SmallVector<int64_t> slices;
    for (const auto &core : tensor.coreToSlice)
      for (Attribute dim : dims) {
        // The files list the same dims for every core; one that is missing is 0.
        auto it = llvm::find_if(core, [&](const auto &entry) {
          return cast<StringAttr>(dim).getValue() == entry.first;
        });
        slices.push_back(it == core.end() ? 0 : it->second);
      }
    p.slice_dims = b.getArrayAttr(dims);
    p.core_to_slice = b.getDenseI64ArrayAttr(slices);
  }
  if (sd::getStandardMemories(tensor) != std::pair(tensor.presentInHbm, tensor.presentInLx)) {
    SmallVector<Attribute> memories;
    if (tensor.presentInHbm)
      memories.push_back(b.getStringAttr("hbm"));
    if (tensor.presentInLx)
      memories.push_back(b.getStringAttr("lx"));
    p.memories = b.getArrayAttr(memories);
  }
  state.addTypes(AllocationType::get(b.getContext()));
  return cast<AllocateOp>(b.create(state));
}

DescriptorOp mlir::sdsc::buildDescriptorOp(OpBuilder &b, Location loc,
                                           const sd::Descriptor &descriptor) {
  MLIRContext *context = b.getContext();
  context->getOrLoadDialect<SdscDialect>();
  OperationState state(loc, DescriptorOp::getOperationName());
  auto &p = state.getOrAddProperties<DescriptorOp::Properties>();
  p.sym_name = b.getStringAttr(getDescriptorSymbol(descriptor.index));
  p.index = b.getI64IntegerAttr(descriptor.index);
  p.cores = b.getI64IntegerAttr(descriptor.numCores);
  SmallVector<Attribute> dims, layouts;
  for (const sd::Dim &dim : descriptor.dims)
    dims.push_back(DimAttr::get(context, b.getStringAttr(dim.name), dim.size, dim.numSlices,
                                dim.coreSize, dim.epilogueSize.value_or(0), dim.isUnsized));
  for (const sd::LayoutClass &layout : descriptor.layouts)
    layouts.push_back(LayoutAttr::get(context, b.getStringAttr(layout.label),
                                      getNames(b, layout.dimOrder), getNames(b, layout.stickDims),
                                      layout.stickSizes));
  p.dims = b.getArrayAttr(dims);
  p.layouts = b.getArrayAttr(layouts);
  if (!llvm::equal(descriptor.coreOrder, llvm::seq<unsigned>(0, descriptor.dims.size())))
    p.core_order = b.getDenseI64ArrayAttr(
        SmallVector<int64_t>(descriptor.coreOrder.begin(), descriptor.coreOrder.end()));
  if (descriptor.coreToSlice !=
      sd::getStandardCoreToSlice(descriptor.dims, descriptor.coreOrder, descriptor.numCores)) {
    SmallVector<int64_t> slices;
    for (const std::vector<int64_t> &core : descriptor.coreToSlice)
      llvm::append_range(slices, core);
    p.core_to_slice = b.getDenseI64ArrayAttr(slices);
  }
  if (descriptor.provenance)
    p.provenance = buildProvenance(b, *descriptor.provenance);
  if (!descriptor.unknownFields.empty()) {
    SmallVector<NamedAttribute> fields;
    for (const auto &[pointer, text] : descriptor.unknownFields)
      fields.push_back(b.getNamedAttr(pointer, b.getStringAttr(text)));
    p.unknown_fields = b.getDictionaryAttr(fields);
  }
  buildExtensions(b, descriptor, p);
  state.addRegion();
  auto op = cast<DescriptorOp>(b.create(state));

  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op.getBody().emplaceBlock());
  SmallVector<Value> tensors;
  for (const sd::Tensor &tensor : descriptor.tensors)
    tensors.push_back(buildAllocate(b, loc, descriptor, tensor).getResult());
  for (const sd::Constant &constant : descriptor.constants)
    ConstantOp::create(
        b, loc, b.getStringAttr(constant.name), FormatAttr::get(context, constant.format),
        b.getI64IntegerAttr(constant.bits),
        constant.corelets == 1 ? IntegerAttr() : b.getI64IntegerAttr(constant.corelets));
  for (const sd::Mask &mask : descriptor.masks)
    MaskOp::create(b, loc, b.getStringAttr(mask.dim), b.getI64IntegerAttr(mask.firstInvalid),
                   b.getI64IntegerAttr(mask.count));
  auto pick = [&](ArrayRef<unsigned> positions) {
    return llvm::map_to_vector(positions, [&](unsigned position) { return tensors[position]; });
  };
  ComputeOp::create(
      b, loc, b.getStringAttr(descriptor.executionUnit), b.getStringAttr(descriptor.opFunc),
      FormatAttr::get(context, descriptor.format), pick(descriptor.inputs),
      pick(descriptor.outputs), pick(descriptor.indexTensors),
      descriptor.maskConstant < 0 ? IntegerAttr() : b.getI64IntegerAttr(descriptor.maskConstant),
      descriptor.fidelity == "regular" ? StringAttr() : b.getStringAttr(descriptor.fidelity));
  return op;
}

//===----------------------------------------------------------------------===//
// Operation to descriptor
//===----------------------------------------------------------------------===//

static std::vector<std::string> toStrings(ArrayRef<StringAttr> names) {
  std::vector<std::string> result;
  for (StringAttr name : names)
    result.push_back(name.getValue().str());
  return result;
}

static sd::Tensor toTensor(AllocateOp op, const sd::Descriptor &descriptor) {
  sd::Tensor tensor;
  tensor.name = op.getName().str();
  tensor.label = op.getLabel().str();
  tensor.format = op.getFormat().getValue();
  tensor.wordLength = op.getWordLength() ? static_cast<int64_t>(*op.getWordLength())
                                         : ::spyre::getWidthInBytes(tensor.format);
  tensor.scale = op.getScale().vec();
  tensor.component = op.getComponent();
  for (Attribute dim : op.getDimOrder())
    tensor.dimOrder.push_back(cast<StringAttr>(dim).getValue().str());
  if (std::optional<ArrayRef<int64_t>> sizes = op.getMaxDimSizes())
    tensor.maxDimSizes = sizes->vec();
  else
    tensor.maxDimSizes.assign(tensor.dimOrder.size(), -1);
  tensor.indirection = op.getIndirection().value_or(sd::Indirection::None);
  tensor.unusualAllocationName = op.getAllocationName().value_or("").str();
  tensor.addressCorelets = static_cast<int64_t>(op.getAddressCorelets().value_or(1));
  tensor.relatedAllocation = op.getRelated().value_or("").str();
  tensor.symbolicAddress = op.getSymbolic();
  tensor.startAddress = op.getStartAddress().vec();
  size_t cores = static_cast<size_t>(descriptor.numCores);
  if (tensor.startAddress.size() == 1)
    tensor.startAddress.assign(cores, tensor.startAddress.front());
  if (std::optional<ArrayAttr> gaps = op.getBackGap())
    for (GapAttr gap : gaps->getAsRange<GapAttr>())
      tensor.backGap.emplace_back(gap.getDim().str(), gap.getGaps().vec());
  if (std::optional<ArrayAttr> coordinates = op.getCoordinates()) {
    for (CoordinateAttr attribute : coordinates->getAsRange<CoordinateAttr>()) {
      sd::DimCoordinate coordinate;
      coordinate.dim = attribute.getDim().str();
      coordinate.spatial = attribute.getSpatial();
      coordinate.temporal = attribute.getTemporal();
      coordinate.elemArr = attribute.getElemArr();
      coordinate.padding = attribute.getPadding();
      for (size_t i = 0; i < attribute.getLabels().size(); ++i)
        coordinate.folds.push_back({attribute.getAlphas()[i], attribute.getBetas()[i],
                                    attribute.getFactors()[i], attribute.getLabels()[i].str()});
      tensor.coordinates.push_back(std::move(coordinate));
    }
  } else {
    tensor.coordinates = sd::getStandardCoordinates(descriptor, tensor);
  }
  if (std::optional<ArrayRef<int64_t>> slices = op.getCoreToSlice()) {
    ArrayAttr dims = *op.getSliceDims();
    for (size_t core = 0; core < cores; ++core) {
      auto &entry = tensor.coreToSlice.emplace_back();
      for (size_t i = 0; i < dims.size(); ++i)
        entry.emplace_back(cast<StringAttr>(dims[i]).str(), (*slices)[core * dims.size() + i]);
    }
  }
  std::tie(tensor.presentInHbm, tensor.presentInLx) = sd::getStandardMemories(tensor);
  if (std::optional<ArrayAttr> memories = op.getMemories()) {
    auto has = [&](StringRef name) {
      return llvm::any_of(memories->getAsRange<StringAttr>(),
                          [&](StringAttr memory) { return memory == name; });
    };
    tensor.presentInHbm = has("hbm");
    tensor.presentInLx = has("lx");
  }
  return tensor;
}

FailureOr<sd::Descriptor> mlir::sdsc::toDescriptor(DescriptorOp op) {
  sd::Descriptor d;
  d.index = op.getIndex();
  d.numCores = op.getCores();
  for (DimAttr dim : op.getDims().getAsRange<DimAttr>())
    d.dims.push_back({dim.getName().str(), dim.getSize(), dim.getNumSlices(), dim.getCoreSize(),
                      dim.getLastSize() == 0 ? std::nullopt : std::optional(dim.getLastSize()),
                      dim.getIsSymbolic()});
  for (LayoutAttr layout : op.getLayouts().getAsRange<LayoutAttr>())
    d.layouts.push_back({layout.getLabel().str(), toStrings(layout.getDimOrder()),
                         toStrings(layout.getStickDims()), layout.getStickSizes().vec()});
  if (std::optional<ArrayRef<int64_t>> order = op.getCoreOrder())
    d.coreOrder.assign(order->begin(), order->end());
  else
    llvm::append_range(d.coreOrder, llvm::seq<unsigned>(0, d.dims.size()));
  if (std::optional<ArrayRef<int64_t>> slices = op.getCoreToSlice()) {
    for (int64_t core = 0; core < d.numCores; ++core)
      d.coreToSlice.push_back(slices->slice(core * d.dims.size(), d.dims.size()).vec());
  } else {
    d.coreToSlice = sd::getStandardCoreToSlice(d.dims, d.coreOrder, d.numCores);
  }
  if (std::optional<DictionaryAttr> provenance = op.getProvenance()) {
    StringRef bad = readProvenance(*provenance, d.provenance.emplace());
    if (!bad.empty())
      return op.emitOpError() << "has a provenance whose field '" << bad << "' cannot be read";
  }
  if (std::optional<DictionaryAttr> fields = op.getUnknownFields())
    for (NamedAttribute field : *fields)
      d.unknownFields[field.getName().str()] = cast<StringAttr>(field.getValue()).str();

  readExtensions(op, d);

  llvm::SmallDenseMap<Value, unsigned> positions;
  for (Operation &nested : op.getBody().front()) {
    if (auto allocate = dyn_cast<AllocateOp>(nested)) {
      positions[allocate.getResult()] = d.tensors.size();
      d.tensors.push_back(toTensor(allocate, d));
    } else if (auto constant = dyn_cast<ConstantOp>(nested)) {
      d.constants.push_back({constant.getName().str(), constant.getFormat().getValue(),
                             static_cast<uint32_t>(constant.getBits()),
                             static_cast<int64_t>(constant.getCorelets().value_or(1))});
    } else if (auto mask = dyn_cast<MaskOp>(nested)) {
      d.masks.push_back({mask.getDim().str(), static_cast<int64_t>(mask.getFirstInvalid()),
                         static_cast<int64_t>(mask.getCount())});
    } else if (auto compute = dyn_cast<ComputeOp>(nested)) {
      d.opFunc = compute.getOpFunc().str();
      d.executionUnit = compute.getUnit().str();
      d.format = compute.getFormat().getValue();
      d.fidelity = compute.getFidelity().value_or("regular").str();
      for (auto [values, list] :
           {std::pair(compute.getInputs(), &d.inputs), std::pair(compute.getOutputs(), &d.outputs),
            std::pair(compute.getIndices(), &d.indexTensors)})
        for (Value value : values)
          list->push_back(positions.lookup(value));
      if (compute.getMaskConstant())
        d.maskConstant = static_cast<int64_t>(*compute.getMaskConstant());
    }
  }
  return d;
}
