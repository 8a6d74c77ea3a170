//===- MemoryInstructions.cpp - Views, access tiles, loads and stores -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An access tile is worked out when it is made, with the index values of that moment.
// Whether all of its places are there matters when it is used.
//
//===----------------------------------------------------------------------===//

#include "Execution.h"

#include "spyre/Numerics/Formats.h"

#include <algorithm>
#include <cstring>

using namespace spyre;
using namespace spyre::ktir;

Flow Executor::executeMemory() {
  switch (in.opcode) {
  case Opcode::MemoryView:
    return memoryView();
  case Opcode::DistributedView:
    return distributedView();
  case Opcode::SubView:
    return subView();
  case Opcode::CastView: {
    const Shape &sizes = slot(0).as<View>().sizes;
    for (size_t d = 0; d < sizes.size(); ++d)
      if (in.shape[d] != kDynamic && in.shape[d] != sizes[d])
        return fail("the view has the sizes " + toString(sizes));
    tile.slots[in.results[0]] = slot(0);
    return Flow::Next;
  }
  case Opcode::DirectTile:
    return directTile();
  case Opcode::IndirectTile:
    return indirectTile();
  case Opcode::Load:
    return load();
  default:
    return store();
  }
}

/// numbers: bytes of the address's unit; the space (kOwnSpace: the tile's LX).
Flow Executor::memoryView() {
  auto view = std::make_shared<View>();
  View::Part part;
  size_t position = 1, firstSize = position;
  view->element = in.element;
  view->sizes = part.sizes = resolve(in.shapes[0], position);
  size_t numSizes = position - firstSize;
  part.strides = resolve(in.shapes[1], position);
  for (int64_t size : part.sizes)
    if (size < 0)
      return fail("a size is " + std::to_string(size));
  // Addresses of this size are outside of every memory; beyond it they would wrap around.
  constexpr int64_t kFar = int64_t(1) << 60;
  if (number(0) > kFar || number(0) < -kFar)
    return fail("no memory has the address " + std::to_string(number(0)));
  part.address = number(0) * in.numbers[0];
  part.space = static_cast<int32_t>(in.numbers[1]);
  if (part.space == kOwnSpace)
    part.space = static_cast<int32_t>(tile.number);
  if (part.space >= run.program.getNumTiles())
    return fail("there is no compute tile " + std::to_string(part.space));
  size_t rank = part.sizes.size();
  part.origin.assign(rank, 0);
  part.setOffset.assign(rank, 0);
  part.set = in.set;
  for (size_t i = 0; i < numSizes; ++i)
    part.symbols.push_back(number(firstSize + i));
  if (auto bounds = part.set.getBounds(part.symbols)) {
    part.box = *bounds;
    // Sets of parts are in the coordinates of the whole; those that reach beyond the view's
    // own are moved.
    bool isMoved = false;
    for (size_t d = 0; d < rank; ++d)
      isMoved |= part.box[d].upper >= part.sizes[d] && part.box[d].lower > 0;
    for (size_t d = 0; d < rank && isMoved; ++d)
      part.setOffset[d] = part.box[d].lower;
  } else {
    part.set.isBox = false;
  }
  view->parts.push_back(std::move(part));
  tile.slots[in.results[0]] = Datum::of(std::move(view));
  return Flow::Next;
}

Flow Executor::distributedView() {
  auto view = std::make_shared<View>();
  view->element = in.element;
  view->sizes.assign(in.shape.size(), 0);
  for (size_t i = 0; i < in.operands.size(); ++i) {
    const View &source = slot(i).as<View>();
    if (source.parts.size() != 1)
      return fail("a part of a distributed view is distributed itself");
    View::Part part = source.parts[0];
    if (part.box.empty() && !part.sizes.empty())
      return fail("the coordinate_set of part " + std::to_string(i) + " has no bounds");
    for (size_t d = 0; d < part.sizes.size(); ++d) {
      part.origin[d] = part.box[d].lower;
      part.setOffset[d] = 0;
      view->sizes[d] = std::max(view->sizes[d], part.box[d].upper + 1);
    }
    view->parts.push_back(std::move(part));
  }
  for (size_t d = 0; d < in.shape.size(); ++d) {
    if (in.shape[d] == kDynamic)
      continue;
    if (view->sizes[d] > in.shape[d])
      return fail("its parts reach to place " + std::to_string(view->sizes[d] - 1) + " of dim " +
                  std::to_string(d) + ", its type has " + std::to_string(in.shape[d]));
    view->sizes[d] = in.shape[d];
  }
  tile.slots[in.results[0]] = Datum::of(std::move(view));
  return Flow::Next;
}

/// The last place of a slice along a dim; below zero if it is outside of all numbers.
static int64_t getLast(int64_t offset, int64_t size, int64_t stride) {
  int64_t last;
  return __builtin_mul_overflow(size - 1, stride, &last) ||
                 __builtin_add_overflow(last, offset, &last)
             ? -1
             : last;
}

/// Operands: view, dynamic offsets, sizes, strides. flags: dims that the result does not have.
Flow Executor::subView() {
  const View &source = slot(0).as<View>();
  if (source.parts.size() != 1)
    return fail("a subview of a distributed view");
  size_t position = 1;
  Shape offsets = resolve(in.shapes[0], position), sizes = resolve(in.shapes[1], position),
        strides = resolve(in.shapes[2], position);
  const View::Part &whole = source.parts[0];
  auto view = std::make_shared<View>();
  view->element = source.element;
  View::Part part;
  part.space = whole.space;
  part.address = whole.address;
  for (size_t d = 0; d < sizes.size(); ++d) {
    int64_t last = getLast(offsets[d], sizes[d], strides[d]);
    if (sizes[d] < 0 || (sizes[d] > 0 && (offsets[d] < 0 || offsets[d] >= source.sizes[d] ||
                                          last < 0 || last >= source.sizes[d])))
      return fail("places " + std::to_string(offsets[d]) + ".." + std::to_string(last) +
                  " of dim " + std::to_string(d) + " are outside of the view of sizes " +
                  toString(source.sizes));
    part.address += offsets[d] * whole.strides[d] * source.element.getBytes();
    if (in.flags[d])
      continue;
    part.sizes.push_back(sizes[d]);
    part.strides.push_back(strides[d] * whole.strides[d]);
    part.box.push_back({0, sizes[d] - 1});
  }
  // What the whole owns has to be a box here, or the parts of it that are seen would have to
  // be asked one by one.
  Shape first = offsets, end = offsets;
  for (size_t d = 0; d < sizes.size(); ++d)
    end[d] = getLast(offsets[d], sizes[d], strides[d]);
  if (countElements(sizes) > 0 && !(whole.set.isBox && whole.owns(first) && whole.owns(end)))
    return fail("the view does not own all places of the subview");
  part.origin.assign(part.sizes.size(), 0);
  part.setOffset = part.origin;
  part.set.numDims = part.sizes.size();
  part.set.isBox = true;
  view->sizes = part.sizes;
  view->parts.push_back(std::move(part));
  tile.slots[in.results[0]] = Datum::of(std::move(view));
  return Flow::Next;
}

/// The view of a tile's base; a tensor is one row-major part.
static std::shared_ptr<Object> getBase(const Datum &base, bool isTensor) {
  if (!isTensor)
    return base.object;
  const Tensor &tensor = base.as<Tensor>();
  auto view = std::make_shared<View>();
  view->element = tensor.element;
  view->sizes = tensor.shape;
  view->tensor = base.object;
  View::Part part;
  part.space = kTensorSpace;
  part.sizes = tensor.shape;
  part.strides = getRowMajorStrides(tensor.shape);
  part.origin.assign(tensor.shape.size(), 0);
  part.setOffset = part.origin;
  for (int64_t size : tensor.shape)
    part.box.push_back({0, size - 1});
  part.set.numDims = tensor.shape.size();
  part.set.isBox = true;
  view->parts.push_back(std::move(part));
  return view;
}

/// Puts the extents of \p set's box, in \p order, in the place of unknown sizes.
static std::string completeShape(const Set &set, const std::vector<int64_t> &symbols,
                                 const Map &order, int64_t count, Shape &shape) {
  for (size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] != kDynamic)
      continue;
    auto bounds = set.getBounds(symbols);
    const Expression &result = order.results[k];
    if (!bounds || result.steps.size() != 1 || result.steps[0].code != Expression::Code::Input)
      return "the shape of the tile does not follow from its set";
    shape[k] = (*bounds)[result.steps[0].number].getExtent();
  }
  if (countElements(shape) != count)
    return "the set has " + std::to_string(count) + " points, the tile of shape " +
           toString(shape) + " has " + std::to_string(countElements(shape));
  return "";
}

/// numbers: of indices. flags[0]: the base is a tensor.
Flow Executor::directTile() {
  auto access = std::make_shared<AccessTile>();
  access->view = getBase(slot(0), in.flags[0]);
  const View &view = static_cast<const View &>(*access->view);
  std::vector<int64_t> indices, symbols;
  for (size_t i = 1; i < in.operands.size(); ++i)
    (static_cast<int64_t>(i) <= in.numbers[0] ? indices : symbols).push_back(number(i));
  Shape base;
  for (const Expression &result : in.maps[0].results)
    base.push_back(result.evaluate(indices));
  constexpr int64_t kFar = int64_t(1) << 60;
  for (int64_t coordinate : base)
    if (coordinate > kFar || coordinate < -kFar)
      return fail("coordinate " + std::to_string(coordinate) + " is outside of every view");
  RunBuilder builder(view, *access);
  Shape coordinates(base.size()), step(base.size());
  std::string error =
      forEachRun(in.set, symbols, in.maps[1], [&](const Shape &point, int64_t dim, int64_t count) {
        for (size_t d = 0; d < base.size(); ++d) {
          coordinates[d] = base[d] + point[d];
          step[d] = static_cast<int64_t>(d) == dim;
        }
        builder.add(coordinates, step, count);
      });
  access->shape = in.shape;
  if (error.empty())
    error = completeShape(in.set, symbols, in.maps[1], builder.getCount(), access->shape);
  if (!error.empty())
    return fail(error);
  tile.slots[in.results[0]] = Datum::of(std::move(access));
  return Flow::Next;
}

/// numbers: of index views, of captured values; whether the base is a tensor. maps: one a base dim,
/// then the order. flags: which dims are looked up.
Flow Executor::indirectTile() {
  auto access = std::make_shared<AccessTile>();
  access->view = getBase(slot(0), in.numbers[2]);
  const View &view = static_cast<const View &>(*access->view);
  size_t numViews = in.numbers[0], numCaptured = in.numbers[1], rank = in.flags.size();
  Shape inputs;
  for (size_t i = 0; i < numCaptured; ++i)
    inputs.push_back(number(1 + numViews + i));
  std::vector<int64_t> symbols;
  for (size_t i = 1 + numViews + numCaptured; i < in.operands.size(); ++i)
    symbols.push_back(number(i));
  inputs.resize(numCaptured + in.set.numDims);
  RunBuilder builder(view, *access);
  // The last value that each dim has looked up, and where.
  std::vector<std::vector<Shape>> places(rank, {Shape()});
  std::vector<std::vector<int64_t>> found(rank);
  bool isGood = true;
  auto locate = [&](Shape &coordinates) {
    size_t indexView = 0;
    for (size_t d = 0; d < rank && isGood; ++d) {
      const std::vector<Expression> &results = in.maps[d].results;
      if (!in.flags[d]) {
        coordinates[d] = results[0].evaluate(inputs);
        continue;
      }
      const View &indices = slot(1 + indexView++).as<View>();
      Shape place;
      for (const Expression &result : results)
        place.push_back(result.evaluate(inputs));
      if (found[d].empty() || places[d][0] != place) {
        places[d][0] = place;
        found[d].clear();
        isGood = readIndices(indices, places[d], found[d]);
      }
      if (isGood)
        coordinates[d] = found[d][0];
    }
  };
  Shape coordinates(rank), step(rank, 0);
  std::string error = forEachRun(
      in.set, symbols, in.maps.back(), [&](const Shape &point, int64_t dim, int64_t count) {
        if (!isGood)
          return;
        std::copy(point.begin(), point.end(), inputs.begin() + numCaptured);
        // A run stays one if each dim stands still along it or goes on evenly.
        bool isRun = count > 1;
        for (size_t d = 0; d < rank && isRun; ++d) {
          step[d] = 0;
          for (const Expression &result : in.maps[d].results) {
            int64_t variable = numCaptured + dim;
            if (!result.uses(variable))
              continue;
            isRun = !in.flags[d] && result.linear;
            if (isRun)
              step[d] = result.linear->coefficients[variable];
          }
        }
        if (isRun) {
          locate(coordinates);
          if (isGood)
            builder.add(coordinates, step, count);
          return;
        }
        std::fill(step.begin(), step.end(), 0);
        for (int64_t i = 0; i < count && isGood; ++i) {
          if (dim >= 0)
            inputs[numCaptured + dim] = point[dim] + i;
          locate(coordinates);
          if (isGood)
            builder.add(coordinates, step, 1);
        }
      });
  if (!isGood)
    return Flow::Failed;
  access->shape = in.shape;
  if (error.empty())
    error = completeShape(in.set, symbols, in.maps.back(), builder.getCount(), access->shape);
  if (!error.empty())
    return fail(error);
  tile.slots[in.results[0]] = Datum::of(std::move(access));
  return Flow::Next;
}

bool Executor::readIndices(const View &view, const std::vector<Shape> &points,
                           std::vector<int64_t> &values) {
  AccessTile access;
  RunBuilder builder(view, access);
  Shape step(view.sizes.size(), 0);
  for (const Shape &point : points)
    builder.add(point, step, 1);
  if (!access.outOfBounds.empty() && !run.options.readsZeroOutOfBounds) {
    fail("indices: " + access.outOfBounds);
    return false;
  }
  access.shape = {static_cast<int64_t>(points.size())};
  Tensor indices(view.element, access.shape);
  if (!transfer(access, indices, /*writes=*/false))
    return false;
  values = std::move(indices.ints);
  return true;
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

Memory *Executor::getMemory(int32_t space) {
  if (space == kGlobalSpace)
    return &run.memory;
  TileState &owner = run.tiles[space];
  if (owner.lx.size() == 0) {
    owner.lx = Memory(run.options.lxInBytes);
    if (run.options.isChecked)
      owner.lx.markNothingWritten();
  }
  return &owner.lx;
}

bool Executor::checkAccess(const Run &part, int64_t width, bool writes) {
  Memory &memory = *getMemory(part.space);
  int64_t low = part.address, high = 0;
  if (__builtin_mul_overflow(part.stride, part.count - 1, &high) ||
      __builtin_add_overflow(high, low, &high) || high > INT64_MAX - width) {
    fail("the addresses of its elements do not fit in 64 bits");
    return false;
  }
  if (low > high)
    std::swap(low, high);
  std::string place = part.space == kGlobalSpace
                          ? "device memory"
                          : "the LX of compute tile " + std::to_string(part.space);
  if (low < 0 || high + width > memory.size()) {
    fail("bytes " + std::to_string(low) + ".." + std::to_string(high + width - 1) +
         " are outside of " + place + ", which has " + std::to_string(memory.size()));
    return false;
  }
  if (part.space >= 0) {
    TileState &owner = run.tiles[part.space];
    owner.lxTopInBytes = std::max(owner.lxTopInBytes, high + width);
  }
  if (!run.options.isChecked)
    return true;
  bool isDense = part.stride == width || part.count == 1;
  int64_t pieces = isDense ? 1 : part.count, bytes = isDense ? width * part.count : width;
  for (int64_t i = 0; i < pieces; ++i) {
    int64_t address = (isDense ? low : part.address + i * part.stride);
    if (!writes)
      if (int64_t at = memory.findUnwritten(address, bytes); at >= 0) {
        fail("reads byte " + std::to_string(at) + " of " + place + ", which nobody has written");
        return false;
      }
    if (run.detectsRaces) {
      RaceDetector &races = part.space == kGlobalSpace ? run.races : run.lxRaces[part.space];
      int64_t other = races.access(tile.number, tile.clocks, address, bytes, writes);
      if (other >= 0) {
        fail("touches bytes " + std::to_string(address) + ".." +
             std::to_string(address + bytes - 1) + " of " + place + ", as compute tile " +
             std::to_string(other) + " does, without an order between them");
        return false;
      }
    }
    if (writes)
      memory.markWritten(address, bytes);
  }
  return true;
}

bool Executor::transfer(const AccessTile &access, Tensor &tensor, bool writes) {
  Element element = tensor.element;
  int64_t width = element.getBytes(), at = 0, lastStick = -1, sticks = 0, bytes = 0;
  for (const Run &part : access.runs) {
    if (part.space == kNoSpace) {
      if (!writes)
        for (int64_t i = 0; i < part.count; ++i)
          element.isFloat() ? void(tensor.floats[at + i] = 0) : void(tensor.ints[at + i] = 0);
      at += part.count;
      continue;
    }
    if (!checkAccess(part, width, writes))
      return false;
    uint8_t *data = getMemory(part.space)->bytes.data() + part.address;
    auto move = [&](uint8_t *place, int64_t first, int64_t count) {
      if (element.isFloat())
        writes ? encode(element, tensor.floats.data() + first, place, count)
               : decode(element, place, tensor.floats.data() + first, count);
      else
        writes ? encode(element, tensor.ints.data() + first, place, count)
               : decode(element, place, tensor.ints.data() + first, count);
    };
    if (part.stride == width || part.count == 1)
      move(data, at, part.count);
    else
      for (int64_t i = 0; i < part.count; ++i)
        move(data + i * part.stride, at + i, 1);
    at += part.count;
    if (part.space != kGlobalSpace)
      continue;
    bytes += part.count * width;
    if (part.stride == width || part.count == 1) {
      int64_t first = part.address / kStickInBytes,
              last = (part.address + part.count * width - 1) / kStickInBytes;
      sticks += last - first + (first != lastStick);
      lastStick = last;
      continue;
    }
    for (int64_t i = 0; i < part.count; ++i) {
      int64_t stick = (part.address + i * part.stride) / kStickInBytes;
      sticks += stick != lastStick;
      lastStick = stick;
    }
  }
  (writes ? tile.stats.writtenInBytes : tile.stats.readInBytes) += bytes;
  (writes ? tile.stats.writtenInSticks : tile.stats.readInSticks) += sticks;
  return true;
}

Flow Executor::load() {
  const AccessTile &access = slot(0).as<AccessTile>();
  if (!access.outOfBounds.empty() && !run.options.readsZeroOutOfBounds)
    return fail(access.outOfBounds);
  auto result = std::make_shared<Tensor>(in.element, access.shape);
  const View &view = static_cast<const View &>(*access.view);
  if (view.tensor) {
    const Tensor &source = static_cast<const Tensor &>(*view.tensor);
    int64_t at = 0;
    for (const Run &part : access.runs)
      for (int64_t i = 0; i < part.count; ++i, ++at) {
        bool isThere = part.space != kNoSpace;
        int64_t place = part.address + i * part.stride;
        if (in.element.isFloat())
          result->floats[at] = isThere ? source.floats[place] : 0;
        else
          result->ints[at] = isThere ? source.ints[place] : 0;
      }
  } else if (!transfer(access, *result, /*writes=*/false)) {
    return Flow::Failed;
  }
  set(0, std::move(result));
  return Flow::Next;
}

Flow Executor::store() {
  const AccessTile &access = slot(1).as<AccessTile>();
  if (!access.outOfBounds.empty() && !run.options.readsZeroOutOfBounds)
    return fail(access.outOfBounds);
  Tensor &value = tensor(0);
  if (value.shape != access.shape)
    return fail("a value of shape " + toString(value.shape) + " does not fit a tile of shape " +
                toString(access.shape));
  return transfer(access, value, /*writes=*/true) ? Flow::Next : Flow::Failed;
}
