//===- Signals.cpp - Fourier transforms -----------------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transforms along one dim, in double, by factors of the length; and the transforms of the
// windows of a signal.
//
//===----------------------------------------------------------------------===//

#include "Contractions.h"

#include <cmath>
#include <numbers>

namespace spyre::host {

using Complex = std::complex<double>;

/// The transform of n elements of \p in, \p stride apart, to \p out; \p turns are the n0-th
/// roots of one, of which every (n0 / n)-th is one of the n-th.
static void transform(const Complex *in, int64_t stride, Complex *out, int64_t n,
                      const std::vector<Complex> &turns) {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  int64_t factor = 2;
  while (n % factor != 0 && factor * factor <= n)
    ++factor;
  if (n % factor != 0)
    factor = n;
  int64_t part = n / factor, step = static_cast<int64_t>(turns.size()) / n;
  std::vector<Complex> parts(n);
  for (int64_t f = 0; f < factor; ++f)
    transform(in + f * stride, stride * factor, parts.data() + f * part, part, turns);
  for (int64_t k = 0; k < n; ++k) {
    Complex sum = 0;
    for (int64_t f = 0; f < factor; ++f)
      sum += parts[f * part + k % part] * turns[f * k % n * step];
    out[k] = sum;
  }
}

static std::vector<Complex> getTurns(int64_t n, bool isInverse) {
  std::vector<Complex> turns(n);
  for (int64_t i = 0; i < n; ++i) {
    double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
    turns[i] = {std::cos(angle), isInverse ? std::sin(angle) : -std::sin(angle)};
  }
  return turns;
}

/// Lengths whose largest prime factor makes more work than this are refused.
static constexpr int64_t kMaxWork = int64_t(1) << 34;

/// \p n times the sum of its prime factors.
static int64_t getWork(int64_t n) {
  int64_t sum = 0, rest = n;
  for (int64_t factor = 2; factor * factor <= rest; ++factor)
    for (; rest % factor == 0; rest /= factor)
      sum += factor;
  return n * (sum + (rest > 1 ? rest : 0));
}

namespace {
/// What is made of real or complex elements.
struct Kind {
  bool isInverse = false;
  bool isHalf = false; ///< the second half is the first one's mirror image
};
} // namespace

static std::optional<double> getScale(Call &call, const std::string &norm, int64_t n,
                                      bool isInverse) {
  auto size = static_cast<double>(n);
  if (norm == "ortho")
    return 1 / std::sqrt(size);
  if (norm.empty() || norm == "backward")
    return isInverse ? 1 / size : 1;
  if (norm == "forward")
    return isInverse ? 1 : 1 / size;
  call.refuse("'" + norm + "' is no way to scale");
  return std::nullopt;
}

static Function fourier(Kind kind) {
  return [kind](Call &call) {
    const Array &source = call.getArray(0);
    size_t dim = call.getDim(2, source.shape.size(), -1);
    if (!call.isOk() || source.shape.empty() || (kind.isHalf && source.isComplex()))
      return call.refuse("needs a dim, of real numbers for one half");
    int64_t extent = source.shape[dim], n = call.getInt(1, extent);
    std::optional<double> scale = getScale(call, call.getText(3), n, kind.isInverse);
    if (!call.isOk() || n < 1 || n > kMaxStep)
      return call.refuse("needs a length of at least 1");
    Ints shape = source.shape;
    shape[dim] = kind.isHalf ? n / 2 + 1 : n;
    if (!call.expectShape(shape))
      return false;
    Lanes from(source.shape, {static_cast<int64_t>(dim)}), to(shape, {static_cast<int64_t>(dim)});
    if (getWork(n) > kMaxWork / std::max<int64_t>(from.getCount(), 1))
      return call.refuse("a length of " + std::to_string(n) + " has too large prime factors");
    std::vector<Complex> turns = getTurns(n, kind.isInverse), in(n), out(n);
    for (int64_t l = 0; l < from.getCount(); ++l) {
      // Cut, or filled up with zeros.
      for (int64_t i = 0; i < n; ++i)
        in[i] = i < extent ? source.getComplex(from.bases[l] + from.offsets[i]) : Complex();
      transform(in.data(), 1, out.data(), n, turns);
      for (int64_t i = 0; i < shape[dim]; ++i)
        call.result.set(to.bases[l] + to.offsets[i], out[i] * *scale);
    }
    return true;
  };
}

/// Arguments: signal, length, hop, window length, window, is scaled, is one half, is complex.
static bool transformWindows(Call &call) {
  const Array &source = call.getArray(0);
  int64_t n = call.getInt(1), hop = call.getInt(2, n / 4), length = call.getInt(3, n);
  const Array *window = call.getArrayOrNone(4);
  bool isScaled = call.getBool(5, false), isHalf = call.getBool(6, !source.isComplex()),
       isComplex = call.getBool(7, source.isComplex());
  size_t rank = source.shape.size();
  if (!call.isOk() || rank < 1 || rank > 2 || n < 1 || hop < 1 || length < 1 || length > n ||
      n > source.shape.back() || (isHalf && source.isComplex()))
    return call.refuse("needs a signal of rank 1 or 2 and windows that fit it");
  if (window && (window->shape != Ints{length} || window->isComplex()))
    return call.refuse("needs a window of " + std::to_string(length) + " real numbers");
  int64_t signals = rank == 2 ? source.shape[0] : 1, extent = source.shape.back(),
          frames = (extent - n) / hop + 1, bins = isHalf ? n / 2 + 1 : n;
  Ints shape = {bins, frames};
  if (rank == 2)
    shape.insert(shape.begin(), signals);
  if (!isComplex)
    shape.push_back(2);
  if (!call.expectShape(shape))
    return false;
  if (getWork(n) > kMaxWork / std::max<int64_t>(signals * frames, 1))
    return call.refuse("a length of " + std::to_string(n) + " has too large prime factors");
  std::vector<Complex> turns = getTurns(n, false), in(n), out(n);
  double scale = isScaled ? 1 / std::sqrt(static_cast<double>(n)) : 1;
  // A window that is shorter lies in the middle.
  int64_t before = (n - length) / 2;
  for (int64_t s = 0; s < signals; ++s)
    for (int64_t f = 0; f < frames; ++f) {
      for (int64_t i = 0; i < n; ++i) {
        bool isInside = i >= before && i < before + length;
        in[i] =
            source.getComplex(s * extent + f * hop + i) * (!isInside ? 0
                                                           : window  ? window->getNumber(i - before)
                                                                     : 1);
      }
      transform(in.data(), 1, out.data(), n, turns);
      for (int64_t b = 0; b < bins; ++b) {
        int64_t place = (s * bins + b) * frames + f;
        if (isComplex) {
          call.result.set(place, out[b] * scale);
          continue;
        }
        call.result.set(2 * place, out[b].real() * scale);
        call.result.set(2 * place + 1, out[b].imag() * scale);
      }
    }
  return true;
}

void addSignals(Table &table) {
  table["aten.fft_fft"] = fourier({false, false});
  table["aten.fft_ifft"] = fourier({true, false});
  table["aten.fft_rfft"] = fourier({false, true});
  table["aten.stft"] = transformWindows;
}

} // namespace spyre::host
