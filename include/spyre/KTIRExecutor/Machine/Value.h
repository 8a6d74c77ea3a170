//===- Value.h - Values of a kernel at run time -----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element types, tensors and the union of everything that a kernel's value can be.
// Floats of every type are kept as f32 that has been rounded to the type, integers
// as sign-extended int64 (i1 as 0 and 1), so that all loops run over two types only.
// MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_KTIREXECUTOR_MACHINE_VALUE_H
#define SPYRE_KTIREXECUTOR_MACHINE_VALUE_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace spyre::ktir {

/// How numbers of a type are rounded and lie in memory.
enum class ElementKind : uint8_t { F32, DL16, IEEE16, BF16, E4M3, E5M2, Int };

struct Element {
  ElementKind kind = ElementKind::Int;
  uint8_t bits = 64; ///< of the type; i1 has one

  bool isFloat() const { return kind != ElementKind::Int; }
  /// In memory: whole bytes.
  int64_t getBytes() const { return (bits + 7) / 8; }
  bool operator==(const Element &) const = default;
};
inline constexpr Element kIndex{ElementKind::Int, 64};
inline constexpr Element kBool{ElementKind::Int, 1};
inline constexpr Element kF32{ElementKind::F32, 32};

/// Rounds \p count numbers to \p element, in place.
void roundTo(Element element, float *values, int64_t count);
/// The integer \p value in \p element's bits, sign-extended (i1: 0 or 1).
inline int64_t wrapTo(Element element, int64_t value) {
  if (element.bits >= 64)
    return value;
  if (element.bits == 1)
    return value & 1;
  int shift = 64 - element.bits;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift;
}

/// Elements between bytes in memory and the form above; \p count of them, densely.
void decode(Element element, const uint8_t *bytes, float *values, int64_t count);
void decode(Element element, const uint8_t *bytes, int64_t *values, int64_t count);
void encode(Element element, const float *values, uint8_t *bytes, int64_t count);
void encode(Element element, const int64_t *values, uint8_t *bytes, int64_t count);

/// Whatever is larger than a number; shared by the slots that hold it.
struct Object {
  virtual ~Object() = default;
};

using Shape = std::vector<int64_t>;

/// The number of elements, or -1 where it is beyond what one tensor may have.
int64_t countElements(const Shape &shape);
Shape getRowMajorStrides(const Shape &shape);
std::string toString(const Shape &shape);

/// What the tensors of one compute tile take in LX, now and at most.
struct Account {
  int64_t live = 0, peak = 0;
};

struct Tensor : Object {
  Element element;
  Shape shape;
  std::vector<float> floats; ///< row-major; one of the two is used
  std::vector<int64_t> ints;

  Tensor() = default;
  /// Full of NaN, or of zeros.
  Tensor(Element element, Shape shape);
  /// A copy is charged where it is kept.
  Tensor(const Tensor &other)
      : element(other.element), shape(other.shape), floats(other.floats), ints(other.ints) {}
  Tensor &operator=(const Tensor &) = delete;
  ~Tensor() override {
    if (account)
      account->live -= charged;
  }
  /// Charges it to \p tile's account, unless it is charged already.
  void charge(Account &tile) {
    if (account)
      return;
    account = &tile;
    charged = getBytes();
    tile.live += charged;
    tile.peak = tile.live > tile.peak ? tile.live : tile.peak;
  }
  int64_t size() const { return element.isFloat() ? floats.size() : ints.size(); }
  /// What its elements would take in LX.
  int64_t getBytes() const { return size() * element.getBytes(); }

private:
  Account *account = nullptr;
  int64_t charged = 0;
};

/// What a slot holds: a number, or an object whose class the program knows.
struct Datum {
  union {
    float f;
    int64_t i;
  };
  std::shared_ptr<Object> object;

  Datum() : i(0) {}
  static Datum of(float number) {
    Datum value;
    value.f = number;
    return value;
  }
  static Datum of(int64_t number) {
    Datum value;
    value.i = number;
    return value;
  }
  static Datum of(std::shared_ptr<Object> object) {
    Datum value;
    value.object = std::move(object);
    return value;
  }
  /// The object, which is a \p T.
  template <typename T> T &as() const { return static_cast<T &>(*object); }
};

} // namespace spyre::ktir

#endif // SPYRE_KTIREXECUTOR_MACHINE_VALUE_H
