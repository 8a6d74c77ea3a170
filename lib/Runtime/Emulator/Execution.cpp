//===- Execution.cpp - One descriptor being executed ------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Preparation (names, forms, addresses), reading of rows, storing of results.
// All cores compute before any core stores: what a core reads is what memory held
// when the descriptor began, in place or not.
//
//===----------------------------------------------------------------------===//

#include "Execution.h"

#include "spyre/Numerics/DL16.h"
#include "spyre/SuperDSC/Verify.h"

#include <bit>
#include <map>

using namespace spyre;
using namespace spyre::runtime;

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

std::optional<Error> Execution::prepare() {
  auto fail = [&](const std::string &message) { return Error{name + ": " + message}; };
  // Without the device's limits: checked mode reports those with core and address.
  std::vector<sdsc::Violation> violations;
  if (!isVerified)
    violations = sdsc::verifyDescriptor(d);
  for (const sdsc::Violation &violation : violations)
    if (!violation.isWarning)
      return fail((violation.tensor >= 0 ? d.tensors[violation.tensor].name + ": " : "") +
                  violation.message + " [SDSC-" + std::to_string(violation.rule) + "]");
  info = lookupOpFunc(d.opFunc);
  if (!info)
    return fail("operation '" + d.opFunc + "' is unknown");
  kernel = info->specified ? lookupKernel(info->emulatorKernel) : nullptr;
  if (!kernel)
    return fail("operation '" + d.opFunc + "' is not specified and cannot be executed");

  numCores = static_cast<int>(d.numCores);
  if (d.numCores < 1 || d.numCores > emulator.device.getNumCores())
    return fail("it wants " + std::to_string(d.numCores) + " cores, the device has " +
                std::to_string(emulator.device.getNumCores()));
  if (d.coreToSlice.size() != size_t(numCores) || d.outputs.size() != 1)
    return fail("it is inconsistent in cores or outputs");
  for (const auto &slices : d.coreToSlice)
    if (slices.size() != d.dims.size())
      return fail("a core lacks the slice of a dim");
  for (const sdsc::Dim &dim : d.dims)
    coreSizes.push_back(dim.coreSize);
  output = d.outputs[0];
  for (unsigned input : d.inputs)
    if (input != output)
      inputs.push_back(input);
  for (unsigned position : d.inputs)
    if (position >= d.tensors.size())
      return fail("an input is missing");
  if (output >= d.tensors.size())
    return fail("the output is missing");

  if (int64_t(inputs.size()) != info->numInputs) {
    std::string names;
    for (unsigned input : inputs)
      names += (names.empty() ? " (" : ", ") + d.tensors[input].name;
    return fail("it has " + std::to_string(inputs.size()) + " inputs" +
                (names.empty() ? "" : names + ")") + ", " + d.opFunc + " takes " +
                std::to_string(info->numInputs));
  }
  std::vector<DataFormat> formats;
  for (unsigned input : inputs)
    formats.push_back(d.tensors[input].format);
  if (std::optional<std::string> problem = checkForm(*info, formats))
    return fail(*problem);
  const OpFuncForm *form = lookupForm(*info, formats);
  // An int32 tensor passes under the name of another 32-bit format.
  if (form && form->output != d.tensors[output].format &&
      (kernel->structure != Structure::Copy ||
       getWidthInBytes(form->output) != getWidthInBytes(d.tensors[output].format)))
    return fail(d.opFunc + " leaves " + std::string(getFormatName(form->output)) + ", not " +
                std::string(getFormatName(d.tensors[output].format)));
  if (auto error = prepareOperands())
    return error;
  if (auto error = prepareGather())
    return error;
  return prepareConstants();
}

std::optional<Error> Execution::prepareOperands() {
  bool isShuffle = d.opFunc == "shuffle";
  for (unsigned position = 0; position < d.tensors.size(); ++position) {
    const sdsc::Tensor &tensor = d.tensors[position];
    std::vector<int64_t> sizes = coreSizes;
    // A relayout's source has a division of its own, which its folds tell.
    if (isShuffle && position != output)
      for (const sdsc::DimCoordinate &coordinate : tensor.coordinates)
        if (std::optional<unsigned> dim = d.findDim(coordinate.dim))
          for (const sdsc::Fold &fold : coordinate.folds)
            if (fold.label == "core_fold" && fold.factor > 0)
              sizes[*dim] = d.dims[*dim].size / fold.factor;
    auto operand = makeOperand(d, position, sizes);
    if (auto *error = std::get_if<Error>(&operand))
      return Error{name + ": " + error->message};
    operands.push_back(std::move(std::get<Operand>(operand)));
    if (tensor.startAddress.size() != size_t(numCores))
      return Error{name + ": " + tensor.name + " has start addresses for " +
                   std::to_string(tensor.startAddress.size()) + " cores"};
    for (int64_t address : tensor.startAddress) {
      if (address < 0 && tensor.component == MemorySpace::HBM) {
        std::optional<int64_t> bound = symbols(address);
        if (!bound)
          return Error{name + ": " + tensor.name + ": nothing is bound to symbol " +
                       std::to_string(address)};
        address = *bound;
      }
      operands.back().start.push_back(address);
    }
  }
  const Operand &out = operands[output];
  for (unsigned dim = 0; dim < d.dims.size(); ++dim) {
    if (out.dims[dim].inStick && int(dim) != out.stickDim)
      return Error{name + ": a result with a two-dimensional stick is not emulated"};
    if (out.has(dim) && int(dim) != out.stickDim) {
      outerDims.push_back(dim);
      numRows *= coreSizes[dim];
    }
  }
  outPerStick = kStickInBytes / out.width;
  definedLanes = kernel->structure == Structure::Exx2 ? 2 : 1;
  if (out.stickDim >= 0) {
    rowLength = coreSizes[out.stickDim];
    outPerStick = out.dims[out.stickDim].perStick;
    rowSticks = (rowLength + outPerStick - 1) / outPerStick;
    definedLanes = getRowLanes();
  }
  return std::nullopt;
}

/// The number of rows of a table stands nowhere in a descriptor; what lies outside of
/// the indexed dim is as far apart as they need. The table is a whole allocation, so
/// its size tells.
std::optional<std::string> Execution::countTableRows(Operand &table) const {
  OperandDim &rows = table.dims[table.indirectDim];
  int64_t inMemory = d.dims[table.indirectDim].size;
  table.endOffset -= (rows.extent - 1) * rows.unit;
  int64_t planes = 1;
  bool isOutermost = true;
  for (unsigned dim = 0; dim < d.dims.size(); ++dim) {
    const OperandDim &entry = table.dims[dim];
    if (entry.unit <= rows.unit || int(dim) == table.indirectDim)
      continue;
    planes *= entry.inStick ? d.dims[dim].size / entry.perStick : d.dims[dim].size;
    isOutermost &=
        entry.extent <= (entry.inStick ? entry.perStick : 1) && d.dims[dim].numSlices == 1;
  }
  int64_t base = *std::min_element(table.start.begin(), table.start.end()), first = 0;
  if (table.isLX())
    return isOutermost
               ? std::nullopt
               : std::optional<std::string>(
                     "the indexed dim of a table in a scratchpad must be the outermost one");
  const Block *block = emulator.memory.find(base, first);
  if (!block)
    return std::nullopt; // reported with the addresses
  int64_t size = block->getSizeInBytes();
  if (isOutermost) {
    table.numRows = (size - (base - first)) / rows.unit;
    return std::nullopt;
  }
  if (base != first || size % (planes * rows.unit) != 0)
    return "the indexed dim is not the outermost one, and the table is not a whole allocation: how "
           "far apart its planes lie cannot be known";
  table.numRows = size / (planes * rows.unit);
  for (OperandDim &entry : table.dims)
    if (entry.unit > rows.unit) {
      int64_t steps =
          entry.inStick ? (entry.extent + entry.perStick - 1) / entry.perStick : entry.extent;
      int64_t unit = entry.unit / inMemory * table.numRows;
      table.endOffset += (steps - 1) * (unit - entry.unit);
      entry.unit = unit;
    }
  return std::nullopt;
}

std::optional<Error> Execution::prepareGather() {
  if (d.indexTensors.empty())
    return std::nullopt;
  auto fail = [&](const std::string &message) { return Error{name + ": " + message}; };
  if (d.indexTensors.size() != 1 || d.indexTensors[0] >= operands.size())
    return fail("more than one index tensor is not emulated");
  Operand &index = operands[d.indexTensors[0]];
  if (index.width != 4)
    return fail(index.tensor->name + ": an index has 4 bytes");
  for (Operand &operand : operands) {
    if (operand.tensor->indirection != sdsc::Indirection::ValueTensor)
      continue;
    if (operand.position == output)
      return fail("a scatter is not emulated");
    for (unsigned dim = 0; dim < d.dims.size(); ++dim) {
      if (!index.has(dim) || !operand.has(dim))
        continue;
      if (operand.indirectDim >= 0)
        return fail("an index over more than one dim is not emulated");
      operand.indirectDim = static_cast<int>(dim);
    }
    if (operand.indirectDim < 0 || operand.dims[operand.indirectDim].inStick)
      return fail(operand.tensor->name + ": the dim that the index addresses is not to be found");
    operand.index = &index;
    if (auto problem = countTableRows(operand))
      return fail(operand.tensor->name + ": " + *problem);
  }
  return std::nullopt;
}

std::optional<Error> Execution::prepareConstants() {
  auto decode = [](const sdsc::Constant &constant) -> double {
    return constant.format == DataFormat::IEEE_FP32
               ? std::bit_cast<float>(constant.bits)
               : decodeDL16(static_cast<uint16_t>(constant.bits));
  };
  for (std::string_view wanted : info->constants) {
    auto it = std::find_if(d.constants.begin(), d.constants.end(),
                           [&](const sdsc::Constant &c) { return c.name == wanted; });
    if (it == d.constants.end())
      return Error{name + ": constant '" + std::string(wanted) + "' is missing"};
    constants.push_back(decode(*it));
  }
  if (d.masks.empty())
    return std::nullopt;
  // The reference front end writes 0 for the mask constant's position even where
  // other constants precede it, so the name decides.
  auto it = std::find_if(d.constants.begin(), d.constants.end(),
                         [](const sdsc::Constant &c) { return c.name == "samv-maskvalue"; });
  if (it == d.constants.end()) {
    if (d.maskConstant < 0 || d.maskConstant >= int64_t(d.constants.size()))
      return Error{name + ": it has a mask and no mask constant"};
    it = d.constants.begin() + d.maskConstant;
  }
  maskValue = decode(*it);
  for (const sdsc::Mask &mask : d.masks)
    if (!d.findDim(mask.dim))
      return Error{name + ": the mask's dim '" + mask.dim + "' is unknown"};
  return std::nullopt;
}

/// Finds the memory behind every start address; reports what is wrong. True if
/// the descriptor can be executed.
bool Execution::resolveAddresses() {
  bool good = true;
  std::string who;
  auto bad = [&](ReportKind kind, int core, int64_t address, const std::string &message) {
    emulator.report({kind, name, core, address, message, who});
    good = false;
  };
  for (Operand &operand : operands) {
    who = operand.tensor->name;
    bool spanReported = false;
    for (int core = 0; core < numCores; ++core) {
      int64_t start = operand.start[core];
      operand.data.push_back(nullptr);
      operand.block.push_back(nullptr);
      operand.blockOffset.push_back(0);
      if (start % emulator.device.getAlignmentInBytes() != 0) {
        bad(ReportKind::Unaligned, core, start, who + " does not start at a stick");
        continue;
      }
      if (operand.isLX()) {
        Block &lx = emulator.scratchpads[core];
        if (start < 0 || start + operand.endOffset > lx.getSizeInBytes()) {
          bad(ReportKind::LXOverflow, core, start,
              who + " ends at " + std::to_string(start + operand.endOffset) +
                  " in a scratchpad of " + std::to_string(lx.getSizeInBytes()) + " bytes");
          continue;
        }
        emulator.counters.peakLXInBytes =
            std::max(emulator.counters.peakLXInBytes, start + operand.endOffset);
        lx.prepare(start + operand.endOffset);
        operand.block[core] = &lx;
        operand.blockOffset[core] = start;
        operand.data[core] = lx.getData() ? lx.getData() + start : nullptr;
        continue;
      }
      if (operand.endOffset > emulator.device.getSpanLimitInBytes() && !spanReported) {
        spanReported = true;
        bad(ReportKind::SpanOverflow, core, start,
            who + " spans " + std::to_string(operand.endOffset) + " bytes on one core, at most " +
                std::to_string(emulator.device.getSpanLimitInBytes()) + " can be addressed");
      }
      int64_t first = 0;
      Block *block = emulator.memory.find(start, first);
      if (!block) {
        bad(ReportKind::OutOfBounds, core, start, who + " lies outside every allocation");
        continue;
      }
      int64_t offset = start - first;
      if (offset + operand.endOffset > block->getSizeInBytes()) {
        bad(ReportKind::OutOfBounds, core, first + block->getSizeInBytes(),
            who + " runs " + std::to_string(offset + operand.endOffset - block->getSizeInBytes()) +
                " bytes over the end of " + block->getName());
        continue;
      }
      operand.block[core] = block;
      operand.blockOffset[core] = offset;
      operand.data[core] = block->getData() ? block->getData() + offset : nullptr;
    }
  }
  return good;
}

void Execution::count() {
  if (!executable)
    return;
  if (!cost) {
    cost = getLaunchCost(*info, d, operands, inputs, output);
    activity = getActivity(emulator.device, d, cost->problem, operands, inputs, output);
  }
  Counters &counters = emulator.counters;
  ++counters.launches;
  counters.readInBytes += cost->readInBytes;
  counters.writtenInBytes += cost->writtenInBytes;
  cost::Scheduled scheduled = emulator.clock.execute(activity);
  if (emulator.options.timeline) {
    cost::TimelineEvent event;
    event.name = d.opFunc;
    event.where = name;
    event.origin = getOrigin(d);
    event.numCores = numCores;
    event.startInNs = scheduled.startInNs;
    event.durationInNs = scheduled.durationInNs;
    event.readInBytes = cost->readInBytes;
    event.writtenInBytes = cost->writtenInBytes;
    event.estimate = activity.estimate;
    event.busy = std::move(scheduled.busy);
    emulator.timeline.push_back(std::move(event));
  }
  counters.modelledInNs += activity.estimate.totalInNs;
  counters.elapsedInNs = emulator.clock.getNowInNs();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Offset of the row from the operand's start on \p core; -1 if a gathered row
/// lies outside its table (then it is reported).
int64_t Execution::baseOffset(const Operand &operand, int core, const int64_t *index, int inner,
                              CoreResult &result) {
  int64_t base = 0;
  for (int dim = 0; dim < int(operand.dims.size()); ++dim)
    if (dim != inner && dim != operand.indirectDim)
      base += operand.dims[dim].getOffset(index[dim]);
  if (operand.indirectDim < 0)
    return base;
  const Operand &numbers = *operand.index;
  int64_t at = 0;
  for (int dim = 0; dim < int(numbers.dims.size()); ++dim)
    at += numbers.dims[dim].getOffset(index[dim]);
  if (isChecking)
    checkRead(numbers, core, at, 4, result);
  int32_t row;
  std::memcpy(&row, numbers.data[core] + at, 4);
  int64_t offset = int64_t(row) * operand.dims[operand.indirectDim].unit;
  int64_t first = operand.blockOffset[core] + offset;
  if (row < 0 || row >= operand.numRows ||
      first + operand.endOffset > operand.block[core]->getSizeInBytes()) {
    std::string message = "index " + std::to_string(row) + " leaves " + operand.tensor->name;
    if (result.error.empty())
      result.error = message;
    addReport(result, ReportKind::OutOfBounds, operand, core, operand.start[core] + offset,
              "has no row " + std::to_string(row));
    return -1;
  }
  return base + offset;
}

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

void Execution::fillUndefined(float *row, int64_t begin, int64_t end) const {
  for (int64_t i = begin; i < end; ++i) {
    uint64_t bits = mix(emulator.options.seed * 0x9e3779b97f4a7c15ull + uint64_t(i) + 1);
    row[i] = bits % 8 == 0 ? NAN : float(int64_t(bits >> 40) - (1 << 23)) * 0.25f;
  }
}

void Execution::fillUndefinedBytes(uint8_t *bytes, int64_t count, uint64_t where) const {
  for (int64_t i = 0; i < count; ++i)
    bytes[i] = uint8_t(
        mix(emulator.options.seed * 0x9e3779b97f4a7c15ull + where * 131 + uint64_t(i) + 1) >> 24);
}

void Execution::loadRow(const Operand &operand, int core, const int64_t *index, int inner,
                        int64_t length, int64_t padded, float *row, CoreResult &result) {
  int64_t filled = 0;
  visitRow(
      operand, core, index, inner, length, padded, result,
      [&](int64_t lane, const uint8_t *data, int64_t n) {
        decodeElements(operand.format, data, row + lane, n);
        filled = lane + n;
      },
      [&](const uint8_t *data) {
        float value;
        decodeElements(operand.format, data, &value, 1);
        std::fill(row, row + padded, value);
        filled = padded;
      });
  fillUndefined(row, filled, padded);
}

void Execution::loadRawRow(const Operand &operand, int core, const int64_t *index, int inner,
                           int64_t length, int64_t padded, uint8_t *row, CoreResult &result) {
  int64_t filled = 0, width = operand.width;
  visitRow(
      operand, core, index, inner, length, padded, result,
      [&](int64_t lane, const uint8_t *data, int64_t n) {
        std::memcpy(row + lane * width, data, n * width);
        filled = lane + n;
      },
      [&](const uint8_t *data) {
        for (int64_t i = 0; i < padded; ++i)
          std::memcpy(row + i * width, data, width);
        filled = padded;
      });
  fillUndefinedBytes(row + filled * width, (padded - filled) * width, filled);
}

void Execution::applyMask(int core, const int64_t *index, int inner, int64_t length,
                          float *row) const {
  for (const sdsc::Mask &mask : d.masks) {
    int dim = static_cast<int>(*d.findDim(mask.dim));
    int64_t origin = d.coreToSlice[core][dim] * coreSizes[dim];
    int64_t begin = mask.firstInvalid - origin, end = begin + mask.count;
    float value = static_cast<float>(maskValue);
    if (dim == inner)
      std::fill(row + std::clamp<int64_t>(begin, 0, length),
                row + std::clamp<int64_t>(end, 0, length), value);
    else if (index[dim] >= begin && index[dim] < end)
      std::fill(row, row + length, value);
  }
}

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

/// One row of results to its sticks.
void Execution::encodeRow(const float *row, uint8_t *sticks) const {
  const Operand &out = operands[output];
  encodeElements(out.format, row, sticks, getRowLanes(), kernel->saturate);
}

void Execution::store(int core) {
  const Operand &out = operands[output];
  const CoreResult &result = results[core];
  bool checked = emulator.options.checked;
  std::vector<int64_t> index(d.dims.size(), 0);
  Odometer odometer(outerDims, coreSizes, index.data());
  const uint8_t *from = result.sticks.data();
  bool reported = false;
  size_t lane = 0;
  int64_t stickUnit = out.stickDim >= 0 ? out.dims[out.stickDim].unit : 0;
  // Sticks that a padded dim has and memory has not.
  int64_t sticksInMemory = rowSticks;
  if (out.stickDim >= 0)
    sticksInMemory = std::min(rowSticks, out.dims[out.stickDim].limit / outPerStick);
  int64_t firstUndefined = definedLanes * out.width;
  do {
    if (!out.hasRow(index.data(), out.stickDim)) {
      from += rowSticks * kStickInBytes;
      lane += getRowLanes();
      continue;
    }
    int64_t base = 0;
    for (unsigned dim : outerDims)
      base += out.dims[dim].getOffset(index[dim]);
    for (int64_t stick = 0; stick < rowSticks;
         ++stick, from += kStickInBytes, lane += outPerStick) {
      if (stick >= sticksInMemory)
        continue;
      int64_t offset = base + stick * stickUnit;
      std::memcpy(out.data[core] + offset, from, kStickInBytes);
      if (!checked)
        continue;
      StickShadow &shadow =
          out.block[core]->getShadow((out.blockOffset[core] + offset) / kStickInBytes);
      if (shadow.epoch == emulator.epoch && shadow.owner != core && !reported) {
        reported = true;
        emulator.report(
            {ReportKind::Conflict, name, core, out.start[core] + offset,
             out.tensor->name + " writes what core " + std::to_string(shadow.owner) + " writes too",
             out.tensor->name});
      }
      checkStore(shadow, core, out.start[core] + offset);
      shadow.written.set();
      shadow.undefined.reset();
      shadow.padding.reset();
      for (int64_t i = 0; i < outPerStick && !result.marks.empty(); ++i)
        for (int64_t byte = i * out.width; byte < (i + 1) * out.width; ++byte) {
          shadow.undefined[byte] = result.marks[lane + i] & kUndefinedLane;
          shadow.padding[byte] = result.marks[lane + i] & kPaddingLane;
        }
      int64_t undefined = std::max<int64_t>(0, firstUndefined - stick * kStickInBytes);
      for (int64_t i = undefined; i < kStickInBytes; ++i)
        shadow.undefined.set(i);
      shadow.owner = core;
      shadow.epoch = emulator.epoch;
      shadow.writer = record;
    }
  } while (odometer.next());
}

/// Cores that compute one output slice together, each group in core order.
std::vector<std::vector<int>> Execution::getGroups() const {
  std::map<std::vector<int64_t>, std::vector<int>> groups;
  for (int core = 0; core < numCores; ++core) {
    std::vector<int64_t> key;
    for (unsigned dim = 0; dim < d.dims.size(); ++dim)
      if (operands[output].has(dim))
        key.push_back(d.coreToSlice[core][dim]);
    groups[key].push_back(core);
  }
  std::vector<std::vector<int>> list;
  for (auto &[key, cores] : groups)
    list.push_back(std::move(cores));
  return list;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

std::optional<Error> Execution::begin() {
  if (auto error = prepare())
    return error;
  if (d.opFunc != "shuffle")
    if (auto problem = checkStructure())
      return Error{name + ": " + *problem};
  int64_t before = emulator.numReports;
  executable = resolveAddresses();
  if (!executable) {
    if (emulator.options.checked)
      return std::nullopt;
    return Error{
        emulator.reports.empty()
            ? name + ": an address is wrong"
            : emulator.reports[std::min<size_t>(before, emulator.reports.size() - 1)].toString()};
  }
  count();
  if (!emulator.options.countOnly)
    planFast();
  return std::nullopt;
}

std::optional<Error> Execution::finish() {
  if (!executable || emulator.options.countOnly)
    return std::nullopt;
  ++emulator.epoch;
  if (work.run) {
    runPlan();
    return std::nullopt;
  }
  if (mayRunFast() && kernel->structure == Structure::Matmul && runFastMatmul())
    return std::nullopt;
  results.clear();
  results.resize(numCores);
  isChecking = emulator.options.checked;
  if (isChecking)
    checkAddresses();
  if (d.opFunc == "shuffle") {
    if (auto error = computeShuffle())
      return error;
  } else {
    emulator.pool.run(numCores, [&](int64_t core) {
      CoreResult &result = results[core];
      switch (kernel->structure) {
      case Structure::Pointwise:
        return computePointwise(core, result);
      case Structure::Copy:
        return d.masks.empty() ? computeCopy(core, result) : computePointwise(core, result);
      case Structure::LayerNormScale:
        return computeLayerNormScale(core, result);
      case Structure::Reduction:
      case Structure::Exx2:
        return computeReduction(core, result);
      case Structure::Matmul:
        return computeMatmul(core, result);
      case Structure::TopKValue:
      case Structure::TopKIndex:
        return computeTopK(core, result);
      }
    });
  }
  bool combines = kernel->structure == Structure::Reduction ||
                  kernel->structure == Structure::Exx2 || kernel->structure == Structure::Matmul;
  std::vector<std::vector<int>> groups;
  if (combines)
    groups = getGroups();
  if (isChecking) {
    isChecking = false;
    trackLanes(groups);
    recordWrite();
  }
  for (CoreResult &result : results) {
    for (Report &report : result.reports)
      emulator.report(std::move(report));
    if (!result.error.empty() && !emulator.options.checked)
      return Error{name + ": " + result.error};
  }
  if (combines) {
    emulator.pool.run(groups.size(), [&](int64_t g) { finishReduction(groups[g], groups[g][0]); });
    for (const std::vector<int> &group : groups) {
      store(group[0]);
      // In scratchpads every member of the group has its copy of the sum.
      for (size_t i = 1; i < group.size() && operands[output].isLX(); ++i) {
        results[group[i]].sticks = results[group[0]].sticks;
        results[group[i]].marks = results[group[0]].marks;
        store(group[i]);
      }
    }
  } else {
    for (int core = 0; core < numCores; ++core)
      store(core);
  }
  // What is stored is not kept beside it until the next launch.
  results.clear();
  return std::nullopt;
}
