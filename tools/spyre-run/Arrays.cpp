//===- Arrays.cpp - Host arrays of spyre-run --------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversions and comparison. Random floats are multiples of 1/64 in [-2, 2), so
// that every 16-bit format holds them exactly.
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"

#include "spyre/Layout/TensorLayout.h"
#include "spyre/Numerics/FP8.h"
#include "spyre/Numerics/HostConversion.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace spyre;
using namespace spyre::tools;
using artifact::ArgumentSpec;
using runtime::Error;
using runtime::HostTensor;
using runtime::Result;

std::string spyre::tools::getNumpyType(HostType type) {
  switch (type) {
  case HostType::Float16:
    return "f2";
  case HostType::BFloat16:
    return "u2";
  case HostType::Float32:
    return "f4";
  case HostType::Float64:
    return "f8";
  case HostType::Int8:
    return "i1";
  case HostType::Int16:
    return "i2";
  case HostType::Int32:
    return "i4";
  case HostType::Int64:
    return "i8";
  case HostType::UInt8:
    return "u1";
  case HostType::Bool:
    return "b1";
  case HostType::Float8E4M3FN:
  case HostType::Float8E5M2:
  case HostType::Float8E4M3FNUZ:
  case HostType::Float8E5M2FNUZ:
    return "u1";
  case HostType::Complex64:
    return "c8";
  case HostType::Complex128:
    return "c16";
  }
  return "";
}

/// NumPy's name of a type code: "f8" -> "float64".
static std::string getNumpyName(const std::string &type) {
  if (type.size() < 2)
    return "of no number";
  const char *kind = type[0] == 'f'   ? "float"
                     : type[0] == 'i' ? "int"
                     : type[0] == 'u' ? "uint"
                     : type[0] == 'c' ? "complex"
                                      : nullptr;
  return type == "b1" || !kind ? "bool" : kind + std::to_string(8 * std::atoi(type.c_str() + 1));
}

Result<HostTensor> spyre::tools::toHostTensor(const npz::Array &array, HostType type) {
  if (array.type == getNumpyType(type))
    return HostTensor{type, array.shape, array.data};
  return Error{"the file has NumPy type " + getNumpyName(array.type) + ", the program takes " +
               std::string(getHostTypeName(type)) + " (NumPy type " + getNumpyType(type) + ")"};
}

npz::Array spyre::tools::toNumpy(const HostTensor &tensor) {
  return {getNumpyType(tensor.dtype), tensor.shape, tensor.data};
}

HostTensor spyre::tools::makeRandom(HostType type, const std::vector<int64_t> &shape,
                                    uint64_t seed) {
  HostTensor tensor = HostTensor::create(type, shape);
  int64_t width = spyre::getWidthInBytes(type);
  uint64_t state = seed * 0x9e3779b97f4a7c15ull + 0x1234567;
  for (int64_t i = 0, n = tensor.getNumElements(); i < n; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    int whole = static_cast<int>(state >> 56) - 128;
    double value = whole / 64.0;
    uint8_t *to = tensor.data.data() + i * width;
    auto put = [&](auto stored) { std::memcpy(to, &stored, sizeof(stored)); };
    switch (type) {
    case HostType::Float16:
      put(encodeSmallFloat(kBinary16, value, true));
      break;
    case HostType::BFloat16:
      put(encodeSmallFloat(kBFloat16, value, true));
      break;
    case HostType::Float32:
      put(static_cast<float>(value));
      break;
    case HostType::Float64:
      put(value);
      break;
    case HostType::Bool:
      *to = whole & 1;
      break;
    case HostType::Int16:
      put(static_cast<int16_t>(whole & 7));
      break;
    case HostType::Int32:
      put(static_cast<int32_t>(whole & 7));
      break;
    case HostType::Int64:
      put(static_cast<int64_t>(whole & 7));
      break;
    case HostType::Float8E4M3FN:
      *to = encodeFP8E4M3(static_cast<float>(value));
      break;
    case HostType::Int8:
    case HostType::UInt8:
      *to = whole & 7;
      break;
    default:
      break;
    }
  }
  return tensor;
}

double spyre::tools::getElement(const npz::Array &array, int64_t i) {
  int64_t width = npz::getWidthInBytes(array.type);
  const uint8_t *from = array.data.data() + i * width;
  auto get = [&]<typename T>(T value) {
    std::memcpy(&value, from, sizeof(T));
    return static_cast<double>(value);
  };
  if (array.type == "f2")
    return decodeSmallFloat(kBinary16, static_cast<uint16_t>(get(uint16_t())));
  if (array.type == "f4")
    return get(float());
  if (array.type == "f8")
    return get(double());
  if (array.type == "i1")
    return get(int8_t());
  if (array.type == "i2")
    return get(int16_t());
  if (array.type == "i4")
    return get(int32_t());
  if (array.type == "i8")
    return get(int64_t());
  if (array.type == "u2")
    return get(uint16_t());
  if (array.type == "u4")
    return get(uint32_t());
  if (array.type == "u8")
    return get(uint64_t());
  return *from;
}

double spyre::tools::getElement(const HostTensor &tensor, int64_t i) {
  const uint8_t *from = tensor.data.data() + i * spyre::getWidthInBytes(tensor.dtype);
  uint16_t code;
  switch (tensor.dtype) {
  case HostType::BFloat16:
    std::memcpy(&code, from, 2);
    return decodeSmallFloat(kBFloat16, code);
  case HostType::Float8E4M3FN:
    return decodeSmallFloat(kE4M3FN, *from);
  case HostType::Float8E5M2:
    return decodeSmallFloat(kE5M2, *from);
  case HostType::Float8E4M3FNUZ:
    return decodeSmallFloat(kE4M3FNUZ, *from);
  case HostType::Float8E5M2FNUZ:
    return decodeSmallFloat(kE5M2FNUZ, *from);
  default:
    return getElement(
        npz::Array{getNumpyType(tensor.dtype),
                   {},
                   std::vector<uint8_t>(from, from + spyre::getWidthInBytes(tensor.dtype))},
        0);
  }
}

static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

Comparison spyre::tools::compare(const HostTensor &got, const npz::Array &expected,
                                 std::optional<double> rtol, std::optional<double> atol) {
  Comparison result;
  if (got.shape != expected.shape) {
    result.equal = false;
    result.message = "shape " + shapeText(got.shape) + ", expected " + shapeText(expected.shape);
    return result;
  }
  int64_t n = got.getNumElements();
  // A bit pattern is compared as the number it stands for.
  bool bits = expected.type == getNumpyType(got.dtype);
  HostTensor same{got.dtype, got.shape, bits ? expected.data : std::vector<uint8_t>()};
  std::vector<double> want(n), have(n);
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    want[i] = bits ? getElement(same, i) : getElement(expected, i);
    have[i] = getElement(got, i);
    if (std::isfinite(want[i]))
      squares += want[i] * want[i];
  }
  double rms = n ? std::sqrt(squares / static_cast<double>(n)) : 0;
  bool wide = got.dtype == HostType::Float32 || got.dtype == HostType::Float64;
  double bound = !isFloat(got.dtype) ? 0 : wide ? 256 * 0x1p-24 : 24 * 0x1p-10;
  for (int64_t i = 0; i < n; ++i) {
    double error = std::fabs(have[i] - want[i]);
    bool good;
    if (!std::isfinite(want[i]) || !std::isfinite(have[i])) {
      // Infinity and NaN are one class in 16 bits, but the sign of an infinity counts.
      good = wide ? (have[i] == want[i] || (std::isnan(have[i]) && std::isnan(want[i])))
                  : !std::isfinite(want[i]) && !std::isfinite(have[i]) &&
                        !(std::isinf(want[i]) && std::isinf(have[i]) && want[i] != have[i]);
      error = good ? 0 : INFINITY;
    } else {
      double scale = std::max(rms, std::fabs(want[i]));
      double relative = error == 0 ? 0 : scale > 0 ? error / scale : INFINITY;
      result.maxAbsError = std::max(result.maxAbsError, error);
      result.maxRelError = std::max(result.maxRelError, relative);
      good = rtol || atol ? error <= atol.value_or(0) + rtol.value_or(0) * std::fabs(want[i])
                          : relative <= bound || (isFloat(got.dtype) && error <= 0x1p-24);
    }
    if (!good && result.equal) {
      result.equal = false;
      std::string index;
      int64_t rest = i, stride = n;
      for (int64_t size : got.shape) {
        stride /= size;
        index += (index.empty() ? "" : ", ") + std::to_string(rest / stride);
        rest %= stride;
      }
      result.message = "element [" + index + "]: got " + std::to_string(have[i]) + ", expected " +
                       std::to_string(want[i]);
    }
  }
  return result;
}

Result<ArgumentSpec> spyre::tools::parseShortArgument(const std::string &text, bool isOutput,
                                                      unsigned number) {
  size_t at = text.find('@');
  auto fail = [&](const std::string &why) {
    return Error{"'" + text + "': " + why + "; the form is 512x1024@fp16"};
  };
  if (at == std::string::npos)
    return fail("no type");
  std::string name = text.substr(at + 1);
  name = name == "fp16"   ? "float16"
         : name == "bf16" ? "bfloat16"
         : name == "fp32" ? "float32"
                          : name;
  std::optional<HostType> type = parseHostType(name);
  if (!type)
    return fail("unknown type '" + name + "'");
  std::optional<DataFormat> format = getDeviceFormat(*type);
  if (!format)
    return fail("the device has no format for " + name);
  ArgumentSpec spec;
  spec.role = isOutput ? artifact::Role::Output : artifact::Role::Input;
  spec.array = (isOutput ? "out" : "in") + std::to_string(number);
  spec.dtype = *type;
  spec.deviceFormat = *format;
  std::string sizes = text.substr(0, at);
  int64_t product = 1;
  for (size_t begin = 0; begin < sizes.size();) {
    size_t end = std::min(sizes.find('x', begin), sizes.size());
    int64_t size = 0;
    for (size_t i = begin; i < end; ++i) {
      if (sizes[i] < '0' || sizes[i] > '9' || size > (int64_t(1) << 40))
        return fail("'" + sizes.substr(begin, end - begin) + "' is no size");
      size = size * 10 + (sizes[i] - '0');
    }
    if (end == begin || size == 0 || product > (int64_t(1) << 48) / size)
      return fail("a size is missing or too large");
    product *= size;
    spec.shape.push_back(size);
    begin = end + 1;
  }
  layout::TensorLayout layout = layout::getDefaultLayout(spec.shape, *format);
  spec.deviceSize = layout::getDeviceSizes(layout);
  spec.strideMap = layout::getStrideMap(layout);
  return spec;
}
