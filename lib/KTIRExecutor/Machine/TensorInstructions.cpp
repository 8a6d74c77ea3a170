//===- TensorInstructions.cpp - Movement within tensor values ---*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every size that a kernel computes is checked before it is used.
//
//===----------------------------------------------------------------------===//

#include "Execution.h"

#include <algorithm>

using namespace spyre::ktir;

namespace {
/// Calls \p visit with the places of each element of a box in two tensors.
template <typename Visit>
void forEachPlace(const Shape &sizes, const Shape &a, int64_t aPlace, const Shape &b,
                  int64_t bPlace, Visit visit) {
  if (countElements(sizes) == 0)
    return;
  Shape point(sizes.size(), 0);
  while (true) {
    if (sizes.empty()) {
      visit(aPlace, bPlace);
      return;
    }
    int64_t last = sizes.size() - 1;
    for (int64_t i = 0; i < sizes[last]; ++i)
      visit(aPlace + i * a[last], bPlace + i * b[last]);
    size_t d = last;
    while (d > 0) {
      aPlace += a[d - 1];
      bPlace += b[d - 1];
      if (++point[d - 1] < sizes[d - 1])
        break;
      aPlace -= a[d - 1] * sizes[d - 1];
      bPlace -= b[d - 1] * sizes[d - 1];
      point[--d] = 0;
    }
    if (d == 0)
      return;
  }
}

void copyBox(const Shape &sizes, const Tensor &from, const Shape &fromStrides, int64_t fromPlace,
             Tensor &to, const Shape &toStrides, int64_t toPlace) {
  if (from.element.isFloat())
    forEachPlace(sizes, fromStrides, fromPlace, toStrides, toPlace,
                 [&](int64_t f, int64_t t) { to.floats[t] = from.floats[f]; });
  else
    forEachPlace(sizes, fromStrides, fromPlace, toStrides, toPlace,
                 [&](int64_t f, int64_t t) { to.ints[t] = from.ints[f]; });
}

int64_t locate(const Shape &shape, const Shape &coordinates) {
  int64_t place = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (coordinates[d] < 0 || coordinates[d] >= shape[d])
      return -1;
    place = place * shape[d] + coordinates[d];
  }
  return place;
}
} // namespace

Flow Executor::executeTensor() {
  switch (in.opcode) {
  case Opcode::Empty: {
    Shape shape;
    if (!getShape(0, shape))
      return Flow::Failed;
    set(0, std::make_shared<Tensor>(in.element, shape));
    return Flow::Next;
  }
  case Opcode::Splat: {
    Shape shape;
    if (!getShape(1, shape))
      return Flow::Failed;
    auto result = std::make_shared<Tensor>(in.element, shape);
    if (in.element.isFloat())
      std::fill(result->floats.begin(), result->floats.end(), slot(0).f);
    else
      std::fill(result->ints.begin(), result->ints.end(), slot(0).i);
    set(0, std::move(result));
    return Flow::Next;
  }
  case Opcode::FromElements: {
    auto result = std::make_shared<Tensor>(in.element, in.shape);
    for (size_t i = 0; i < in.operands.size(); ++i)
      if (in.element.isFloat())
        result->floats[i] = slot(i).f;
      else
        result->ints[i] = slot(i).i;
    set(0, std::move(result));
    return Flow::Next;
  }
  case Opcode::Extract:
    return extract();
  case Opcode::Insert:
    return insert();
  case Opcode::ExtractSlice:
    return slice(false);
  case Opcode::InsertSlice:
    return slice(true);
  case Opcode::Reshape: {
    Shape shape;
    return getShape(1, shape) ? reshape(shape) : Flow::Failed;
  }
  case Opcode::ReshapeTo:
    return reshape(tensor(1).ints);
  case Opcode::Collapse: {
    Shape shape;
    for (const Shape &group : in.shapes) {
      shape.push_back(1);
      for (int64_t d : group)
        shape.back() *= tensor(0).shape[d];
    }
    return reshape(shape);
  }
  case Opcode::Cast: {
    const Shape &shape = tensor(0).shape;
    for (size_t d = 0; d < shape.size(); ++d)
      if (in.shape[d] != kDynamic && in.shape[d] != shape[d])
        return fail("the tensor has the shape " + toString(shape));
    tile.slots[in.results[0]] = slot(0);
    return Flow::Next;
  }
  case Opcode::Pad:
    return pad();
  case Opcode::Concat:
    return concat();
  case Opcode::Dim: {
    const Shape &shape = in.flags[0] ? slot(0).as<View>().sizes : tensor(0).shape;
    int64_t dim = number(1);
    if (dim < 0 || dim >= static_cast<int64_t>(shape.size()))
      return fail("there is no dim " + std::to_string(dim) + " of " + toString(shape));
    tile.slots[in.results[0]] = Datum::of(shape[dim]);
    return Flow::Next;
  }
  default:
    return fail("an instruction that is not known");
  }
}

Flow Executor::extract() {
  Shape coordinates;
  for (size_t i = 1; i < in.operands.size(); ++i)
    coordinates.push_back(number(i));
  const Tensor &source = tensor(0);
  int64_t place = locate(source.shape, coordinates);
  if (place < 0)
    return fail("coordinates " + toString(coordinates) + " are outside of " +
                toString(source.shape));
  tile.slots[in.results[0]] =
      source.element.isFloat() ? Datum::of(source.floats[place]) : Datum::of(source.ints[place]);
  return Flow::Next;
}

Flow Executor::insert() {
  Shape coordinates;
  for (size_t i = 2; i < in.operands.size(); ++i)
    coordinates.push_back(number(i));
  int64_t place = locate(tensor(1).shape, coordinates);
  if (place < 0)
    return fail("coordinates " + toString(coordinates) + " are outside of " +
                toString(tensor(1).shape));
  std::shared_ptr<Tensor> result = take(1);
  if (result->element.isFloat())
    result->floats[place] = slot(0).f;
  else
    result->ints[place] = slot(0).i;
  set(0, std::move(result));
  return Flow::Next;
}

/// Operands: source, (target,) dynamic offsets, sizes, strides. Shapes: the static ones;
/// flags: dims that the result does not have.
Flow Executor::slice(bool isInsert) {
  size_t position = isInsert ? 2 : 1;
  Shape offsets = resolve(in.shapes[0], position), sizes = resolve(in.shapes[1], position),
        strides = resolve(in.shapes[2], position);
  const Shape &whole = tensor(isInsert ? 1 : 0).shape;
  if (countElements(sizes) < 0)
    return fail("a slice cannot have the sizes " + toString(sizes));
  Shape rowMajor = getRowMajorStrides(whole), steps(whole.size());
  int64_t place = 0;
  for (size_t d = 0; d < whole.size(); ++d) {
    int64_t last = 0;
    if (__builtin_mul_overflow(sizes[d] - 1, strides[d], &last) ||
        __builtin_add_overflow(last, offsets[d], &last))
      last = -1;
    if (sizes[d] > 0 && (offsets[d] < 0 || offsets[d] >= whole[d] || last < 0 || last >= whole[d]))
      return fail("places " + std::to_string(offsets[d]) + ".." + std::to_string(last) +
                  " of dim " + std::to_string(d) + " are outside of " + toString(whole));
    // Of an empty slice neither matters.
    place += sizes[d] > 0 ? offsets[d] * rowMajor[d] : 0;
    steps[d] = sizes[d] > 1 ? strides[d] * rowMajor[d] : 0;
  }
  if (countElements(sizes) == 0)
    place = 0;
  if (!isInsert) {
    // Dims that are dropped have one place, so the elements are the same.
    Shape shape;
    for (size_t d = 0; d < sizes.size(); ++d)
      if (!in.flags[d])
        shape.push_back(sizes[d]);
    auto result = std::make_shared<Tensor>(tensor(0).element, shape);
    copyBox(sizes, tensor(0), steps, place, *result, getRowMajorStrides(sizes), 0);
    set(0, std::move(result));
    return Flow::Next;
  }
  if (countElements(tensor(0).shape) != countElements(sizes))
    return fail("the source of shape " + toString(tensor(0).shape) + " has not the sizes " +
                toString(sizes));
  std::shared_ptr<Tensor> result = take(1);
  copyBox(sizes, tensor(0), getRowMajorStrides(sizes), 0, *result, steps, place);
  if (!in.results.empty())
    set(0, std::move(result));
  return Flow::Next;
}

Flow Executor::reshape(Shape shape) {
  int64_t size = tensor(0).size();
  if (countElements(shape) != size)
    return fail("a tensor of shape " + toString(tensor(0).shape) + " has not the sizes " +
                toString(shape));
  std::shared_ptr<Tensor> result = take(0);
  result->shape = std::move(shape);
  set(0, std::move(result));
  return Flow::Next;
}

Flow Executor::pad() {
  size_t position = 1;
  Shape low = resolve(in.shapes[0], position), high = resolve(in.shapes[1], position);
  Shape shape;
  const Shape &inner = tensor(0).shape;
  for (size_t d = 0; d < low.size(); ++d) {
    if (low[d] < 0 || high[d] < 0)
      return fail("the padding of dim " + std::to_string(d) + " is negative");
    shape.push_back(low[d] + inner[d] + high[d]);
  }
  if (countElements(shape) < 0)
    return fail("a tensor cannot have the sizes " + toString(shape));
  auto result = std::make_shared<Tensor>(in.element, shape);
  std::string error =
      generate(*in.body, *result, getOperands(position, in.operands.size() - position),
               run.options.roundsEach);
  if (!error.empty())
    return fail(error);
  Shape strides = getRowMajorStrides(shape);
  int64_t place = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    place += low[d] * strides[d];
  copyBox(inner, tensor(0), getRowMajorStrides(inner), 0, *result, strides, place);
  set(0, std::move(result));
  return Flow::Next;
}

Flow Executor::concat() {
  size_t dim = in.numbers[0];
  Shape shape = tensor(0).shape;
  for (size_t i = 1; i < in.operands.size(); ++i) {
    const Shape &other = tensor(i).shape;
    for (size_t d = 0; d < shape.size(); ++d)
      if (d != dim && other[d] != shape[d])
        return fail("shapes " + toString(shape) + " and " + toString(other) + " do not fit");
    shape[dim] += other[dim];
  }
  auto result = std::make_shared<Tensor>(in.element, shape);
  Shape strides = getRowMajorStrides(shape);
  int64_t place = 0;
  for (size_t i = 0; i < in.operands.size(); ++i) {
    const Tensor &part = tensor(i);
    copyBox(part.shape, part, getRowMajorStrides(part.shape), 0, *result, strides, place);
    place += part.shape[dim] * strides[dim];
  }
  set(0, std::move(result));
  return Flow::Next;
}
