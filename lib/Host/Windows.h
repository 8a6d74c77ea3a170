//===- Windows.h - What a window slides over --------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every place of a result, dim by dim, the places of the operand that its window covers:
// of convolutions, of their transposes, and of pooling.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_HOST_WINDOWS_H
#define SPYRE_LIB_HOST_WINDOWS_H

#include "Call.h"

namespace spyre::host {

/// Extents of one kind for each spatial dim.
struct WindowShape {
  Ints kernel, stride, padding, dilation;
};

class Windows {
public:
  /// Outside of the operand.
  static constexpr int64_t kOutside = -1;

  /// Of \p kernel places each, some of them outside; \p isTransposed: the operand slides.
  Windows(const Ints &input, const Ints &output, const WindowShape &shape, bool isTransposed);
  /// That part the operand evenly.
  Windows(const Ints &input, const Ints &output);

  /// Offsets in the operand that the window at \p at of the result covers, row-major.
  void list(const Ints &at, Ints &offsets) const;

private:
  Ints strides;
  /// By dim, by place of the result, by place of the window.
  std::vector<std::vector<Ints>> places;
};

/// Reads the arguments at these positions (kNoArgument: not there) for \p rank spatial dims.
/// False, and a reason, unless strides and dilations are positive, paddings not negative, and
/// all are small enough to count with.
inline constexpr size_t kNoArgument = 99;
bool getWindowShape(Call &call, size_t rank, size_t kernel, size_t stride, size_t padding,
                    size_t dilation, WindowShape &shape);

} // namespace spyre::host

#endif // SPYRE_LIB_HOST_WINDOWS_H
