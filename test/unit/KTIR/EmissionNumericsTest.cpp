//===- EmissionNumericsTest.cpp - Emitted kernels give the right numbers -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs and hand-written plans go through the emission and are run by the
// executor in checked mode, on memory that is NaN wherever the caller has not
// written. Results are compared with what the operations mean on logical
// coordinates: pointwise operations exactly, contractions within the rounding of
// their f32 sum.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/Pipelines.h"
#include "spyre/Conversion/SpyreToKTIR/SpyreToKTIR.h"
#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"
#include "spyre/Dialect/KTIR/Transforms/Passes.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/KTIRExecutor/Interpreter.h"
#include "spyre/Layout/TensorLayout.h"
#include "spyre/Numerics/DL16.h"
#include "spyre/Tools/Register.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

using namespace mlir;
namespace layout = ::spyre::layout;

namespace {
/// An argument of the planned function, on the host.
struct Array {
  layout::TensorLayout layout;
  std::vector<int64_t> shape;
  std::vector<float> values; ///< row-major
  int64_t address = 0;
  std::string role;
  float constant = 0;

  float at(std::vector<int64_t> point) const {
    int64_t index = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      index = index * shape[i] + point[i];
    return values[index];
  }
};

int64_t getWidth(const Array &array) {
  return ::spyre::kStickInBytes / ::spyre::getElementsPerStick(array.layout.format);
}

void encode(const Array &array, float value, uint8_t *to) {
  if (array.layout.format == ::spyre::DataFormat::IEEE_FP32) {
    std::memcpy(to, &value, sizeof(value));
  } else if (array.layout.format == ::spyre::DataFormat::IEEE_INT32) {
    auto number = static_cast<int32_t>(value);
    std::memcpy(to, &number, sizeof(number));
  } else {
    uint16_t code = ::spyre::encodeDL16(value);
    std::memcpy(to, &code, sizeof(code));
  }
}

double decode(const Array &array, const uint8_t *from) {
  if (array.layout.format == ::spyre::DataFormat::IEEE_FP32) {
    float value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  uint16_t code;
  std::memcpy(&code, from, sizeof(code));
  return ::spyre::decodeDL16(code);
}

/// Calls \p visit with each point of \p shape.
void forEachPoint(const std::vector<int64_t> &shape,
                  const std::function<void(const std::vector<int64_t> &)> &visit) {
  std::vector<int64_t> point(shape.size(), 0);
  while (true) {
    visit(point);
    size_t i = shape.size();
    while (i > 0 && ++point[i - 1] == shape[i - 1])
      point[--i] = 0;
    if (i == 0)
      return;
  }
}

using Expected = std::function<double(const std::vector<Array> &, const std::vector<int64_t> &)>;

class EmissionNumerics : public testing::Test {
protected:
  /// Compiles \p text (a program, or a plan where \p cores is negative), runs it
  /// and compares every output argument with \p expected. \p tolerance is in units
  /// of DL16's last place; \p capacity limits the LX for tiles.
  void check(const std::string &text, int64_t cores, const Expected &expected, double tolerance = 0,
             int64_t capacity = 0) {
    DialectRegistry registry;
    ::spyre::registerAllDialects(registry);
    MLIRContext context(registry);
    std::string diagnostics;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      diagnostics += diagnostic.str() + "\n";
      for (Diagnostic &note : diagnostic.getNotes())
        diagnostics += note.str() + "\n";
      return success();
    });
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << diagnostics;
    if (cores >= 0) {
      ::spyre::compiler::LowerOptions options;
      options.cores = cores;
      PassManager pm(&context);
      ::spyre::compiler::buildPlanPipeline(pm, options);
      ASSERT_TRUE(succeeded(pm.run(*module))) << diagnostics;
    }
    std::vector<Array> arrays = describeArguments(*module->getOps<func::FuncOp>().begin());
    PassManager pm(&context);
    mlir::spyre::ConvertSpyreToKTIROptions conversion;
    conversion.capacity = capacity;
    pm.addPass(mlir::spyre::createConvertSpyreToKTIR(conversion));
    pm.addPass(ktdp::createKtirCheckLegality());
    ASSERT_TRUE(succeeded(pm.run(*module))) << diagnostics;
    func::FuncOp kernel = *module->getOps<func::FuncOp>().begin();
    // Whatever order the compute tiles run in, the result is the same.
    for (bool reversed : {false, true})
      compare(kernel, arrays, expected, tolerance, reversed);
    numTiles = ktdp::getGrid(kernel)->front();
    hasLoop = false;
    kernel.walk([&](Operation *op) { hasLoop |= op->getName().getStringRef() == "scf.for"; });
  }

  int64_t numTiles = 0;
  bool hasLoop = false;

private:
  std::vector<Array> describeArguments(func::FuncOp planned) {
    std::vector<Array> arrays;
    std::mt19937 random(7);
    std::uniform_int_distribution<int> number(-64, 64);
    for (auto [i, type] : llvm::enumerate(planned.getArgumentTypes())) {
      auto buffer = cast<mlir::spyre::BufferType>(type);
      Array array;
      array.layout = buffer.getTensorLayout();
      array.shape = buffer.getShape().vec();
      array.role = "input";
      if (auto role = planned.getArgAttrOfType<StringAttr>(i, mlir::spyre::kRoleAttr))
        array.role = role.str();
      if (auto value = planned.getArgAttrOfType<FloatAttr>(i, mlir::spyre::kValueAttr))
        array.constant = ::spyre::roundToDL16(static_cast<float>(value.getValueAsDouble()));
      // Indices count up; they stay within 32 places.
      int64_t count = 0;
      bool isIndex = array.layout.format == ::spyre::DataFormat::IEEE_INT32;
      forEachPoint(array.shape, [&](const auto &) {
        array.values.push_back(isIndex ? static_cast<float>(count++ * 7 % 32)
                                       : number(random) / 16.0f);
      });
      arrays.push_back(std::move(array));
    }
    return arrays;
  }

  void compare(func::FuncOp kernel, std::vector<Array> arrays, const Expected &expected,
               double tolerance, bool reversed) {
    // Arguments lie apart in memory; between them everything is NaN.
    std::vector<::spyre::ktir::RunArgument> addresses;
    int64_t end = 1024;
    if (auto pool = kernel->getAttrOfType<IntegerAttr>(ktdp::kPoolBytesAttr)) {
      addresses.push_back(end);
      end += pool.getInt() + 1024;
    }
    for (Array &array : arrays) {
      array.address = end;
      addresses.push_back(end);
      end += layout::getSizeInBytes(array.layout) + 1024;
    }
    ::spyre::ktir::Memory image(end);
    image.markNothingWritten();
    std::vector<uint8_t> &memory = image.bytes;
    for (const Array &array : arrays) {
      if (array.role == "output")
        continue;
      image.markWritten(array.address, layout::getSizeInBytes(array.layout));
      // Copy-in fills the padding with zeros, a constant's stick with its value.
      const int64_t width = getWidth(array);
      auto put = [&](int64_t element, float value) {
        encode(array, value, &memory[array.address + width * element]);
      };
      for (int64_t i = 0, e = layout::getSizeInBytes(array.layout) / width; i < e; ++i)
        put(i, array.role == "constant" ? array.constant : 0);
      if (array.role == "constant")
        continue;
      forEachPoint(array.shape, [&](const std::vector<int64_t> &point) {
        put(layout::getDeviceOffset(array.layout, point), array.at(point));
      });
    }
    ::spyre::ktir::RunOptions options;
    options.isReversed = reversed;
    options.isChecked = true;
    std::string error = ::spyre::ktir::run(kernel, image, addresses, options);
    ASSERT_EQ(error, "");
    int64_t wrong = 0, outputs = 0;
    for (const Array &array : arrays) {
      if (array.role != "output")
        continue;
      ++outputs;
      forEachPoint(array.shape, [&](const std::vector<int64_t> &point) {
        double got = decode(
                   array, &memory[array.address +
                                  getWidth(array) * layout::getDeviceOffset(array.layout, point)]),
               want = expected(arrays, point);
        double bound = tolerance * std::ldexp(std::max(std::fabs(want), 0x1p-10), -9);
        if (!(std::fabs(got - want) <= bound) && wrong++ < 5)
          ADD_FAILURE() << "got " << got << ", expected " << want << " at "
                        << testing::PrintToString(point);
      });
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(outputs, 1);
  }
};

std::string tensorType(std::vector<int64_t> shape) {
  std::string text = "!torch.vtensor<[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "," : "") + std::to_string(shape[i]);
  return text + "],f16>";
}

std::string makeAdd(std::vector<int64_t> shape) {
  std::string type = tensorType(shape);
  return "func.func @main(%a: " + type + ", %b: " + type + ") -> " + type +
         " {\n  %int1 = torch.constant.int 1\n  %0 = torch.aten.add.Tensor %a, %b, %int1 : " +
         type + ", " + type + ", !torch.int -> " + type + "\n  return %0 : " + type + "\n}\n";
}

std::string makeProduct(std::vector<int64_t> x, std::vector<int64_t> y, std::vector<int64_t> o) {
  std::string name = x.size() == 2 ? "torch.aten.mm" : "torch.aten.bmm";
  return "func.func @main(%a: " + tensorType(x) + ", %b: " + tensorType(y) + ") -> " +
         tensorType(o) + " {\n  %0 = " + name + " %a, %b : " + tensorType(x) + ", " +
         tensorType(y) + " -> " + tensorType(o) + "\n  return %0 : " + tensorType(o) + "\n}\n";
}

double expectSum(const std::vector<Array> &arrays, const std::vector<int64_t> &point) {
  return ::spyre::roundToDL16(arrays[0].at(point) + arrays[1].at(point));
}

/// The fold of \p combine over the last dim of argument 0, from \p start on.
Expected expectFold(double start, double (*combine)(double, double), double factor = 1) {
  return [=](const std::vector<Array> &arrays, const std::vector<int64_t> &point) {
    double value = start;
    for (int64_t k = 0; k < arrays[0].shape.back(); ++k)
      value = combine(value, arrays[0].at({point[0], k}));
    return value * factor;
  };
}

/// Sum over k of x[..., m, k] * y[..., k, n].
double expectProduct(const std::vector<Array> &arrays, const std::vector<int64_t> &point) {
  const Array &x = arrays[0], &y = arrays[1];
  double sum = 0;
  for (int64_t k = 0; k < x.shape.back(); ++k) {
    std::vector<int64_t> px = point, py = point;
    px.back() = k;
    py[py.size() - 2] = k;
    sum += static_cast<double>(x.at(px)) * y.at(py);
  }
  return sum;
}
} // namespace

TEST_F(EmissionNumerics, AddOnOneCore) {
  check(makeAdd({67, 255}), 1, expectSum);
  EXPECT_EQ(numTiles, 1);
}

TEST_F(EmissionNumerics, AddOnSeveralCores) {
  check(makeAdd({64, 256}), 32, expectSum);
  EXPECT_GT(numTiles, 1);
}

TEST_F(EmissionNumerics, AddOfOddShapes) {
  for (std::vector<int64_t> shape : std::vector<std::vector<int64_t>>{
           {1, 1}, {5, 1}, {130}, {3, 5, 130}, {32, 200}, {2, 3, 4, 70}})
    check(makeAdd(shape), 32, expectSum);
}

TEST_F(EmissionNumerics, MatmulOnSeveralCores) {
  check(makeProduct({32, 256}, {256, 128}, {32, 128}), 32, expectProduct, 1);
  EXPECT_GT(numTiles, 1);
}

TEST_F(EmissionNumerics, MatmulOfOddShapes) {
  check(makeProduct({5, 100}, {100, 70}, {5, 70}), 1, expectProduct, 1);
  check(makeProduct({67, 130}, {130, 65}, {67, 65}), 1, expectProduct, 1);
  check(makeProduct({16, 64}, {64, 200}, {16, 200}), 8, expectProduct, 1);
}

TEST_F(EmissionNumerics, MatmulOfUnitDims) {
  // Products: nothing is summed, no column or row to move along.
  check(makeProduct({5, 1}, {1, 70}, {5, 70}), 4, expectProduct, 1);
  // One column is computed by the transposed product, which restickifies: refused (lit).
  check(makeProduct({1, 100}, {100, 130}, {1, 130}), 1, expectProduct, 1);
  check(makeProduct({1, 1}, {1, 1}, {1, 1}), 4, expectProduct, 1);
}

TEST_F(EmissionNumerics, BatchedMatmul) {
  check(makeProduct({4, 16, 64}, {4, 64, 48}, {4, 16, 48}), 32, expectProduct, 1);
}

TEST_F(EmissionNumerics, Tiles) {
  check(makeAdd({48, 200}), 2, expectSum, 0, /*capacity=*/2048);
  EXPECT_TRUE(hasLoop);
  // The sum, the columns and the rows are cut.
  check(makeProduct({8, 256}, {256, 128}, {8, 128}), 2, expectProduct, 1, /*capacity=*/12000);
  EXPECT_TRUE(hasLoop);
  check(makeProduct({2, 12, 130}, {2, 130, 192}, {2, 12, 192}), 1, expectProduct, 1, 10000);
  EXPECT_TRUE(hasLoop);
}

TEST_F(EmissionNumerics, MatmulWithSplitColumns) {
  check(R"(
    !x = !spyre.buffer<16x100xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>, hbm>
    !y = !spyre.buffer<100x256xf16, #spyre.layout<[4, 128, 64], order [0, 1], SEN169_FP16>, hbm>
    !o = !spyre.buffer<16x256xf16, #spyre.layout<[4, 16, 64], order [0, 1], SEN169_FP16>, hbm>
    func.func @main(%x: !x, %y: !y, %o: !o {spyre.role = "output"}) {
      spyre.batchmatmul (d0 = 16 / 8, d1 = 256 / 4, d2 = 100) k_fast
        ins(%x[d0, d2], %y[d2, d1]) outs(%o[d0, d1]) : !x, !y -> !o
      return
    })",
        -1, expectProduct, 1);
  EXPECT_EQ(numTiles, 32);
}

TEST_F(EmissionNumerics, ResidentIntermediate) {
  // (x + row) * constant, the sum in LX.
  check(R"(
    !h = !spyre.buffer<64x130xf16, #spyre.layout<[3, 64, 64], order [0, 1], SEN169_FP16>, hbm>
    !l = !spyre.buffer<64x130xf16, #spyre.layout<[3, 64, 64], order [0, 1], SEN169_FP16>, lx>
    !v = !spyre.buffer<130xf16, #spyre.layout<[3, 64], order [0], SEN169_FP16>, hbm>
    !s = !spyre.buffer<f16, #spyre.layout<[1, 64], order [], SEN169_FP16>, hbm>
    func.func @main(%x: !h, %row: !v, %c: !s {spyre.role = "constant", spyre.value = 0.3},
                    %o: !h {spyre.role = "output"}) {
      %t = spyre.alloc lx(2048) holding<cores 32, slices[32, 1], (c) -> (c, 0)> : !l
      spyre.add (d0 = 64 / 32, d1 = 130) ins(%x[d0, d1], %row[d1]) outs(%t[d0, d1]) : !h, !v -> !l
      spyre.mul (d0 = 64 / 32, d1 = 130) ins(%t[d0, d1], %c[]) outs(%o[d0, d1]) : !l, !s -> !h
      return
    })",
        -1, [](const std::vector<Array> &arrays, const std::vector<int64_t> &point) {
          float sum = ::spyre::roundToDL16(arrays[0].at(point) + arrays[1].at({point[1]}));
          return ::spyre::roundToDL16(sum * arrays[2].constant);
        });
}

TEST_F(EmissionNumerics, BodiesOfSeveralOperations) {
  // where(relu(x) >= clip(y, -1, 2), clip(y, -1, 2), x)
  check(R"(
    !h = !spyre.buffer<64x130xf16, #spyre.layout<[3, 64, 64], order [0, 1], SEN169_FP16>, hbm>
    func.func @main(%x: !h, %y: !h, %o: !h {spyre.role = "output"}) {
      %r = spyre.alloc pool(0) : !h
      %c = spyre.alloc pool(24576) : !h
      %t = spyre.alloc pool(49152) : !h
      spyre.relufwd (d0 = 64 / 8, d1 = 130) ins(%x[d0, d1]) outs(%r[d0, d1]) : !h -> !h
      spyre.clip (d0 = 64 / 8, d1 = 130) ins(%y[d0, d1]) outs(%c[d0, d1])
        constants {clipMax = 2.0, clipMin = -1.0} : !h -> !h
      spyre.greaterequal (d0 = 64 / 8, d1 = 130) ins(%r[d0, d1], %c[d0, d1]) outs(%t[d0, d1])
        : !h, !h -> !h
      spyre.where3 (d0 = 64 / 8, d1 = 130) ins(%t[d0, d1], %c[d0, d1], %x[d0, d1]) outs(%o[d0, d1])
        : !h, !h, !h -> !h
      return
    })",
        -1, [](const std::vector<Array> &arrays, const std::vector<int64_t> &point) {
          float x = arrays[0].at(point), c = std::clamp(arrays[1].at(point), -1.0f, 2.0f);
          return std::max(x, 0.0f) >= c ? c : x;
        });
}

TEST_F(EmissionNumerics, PoolAndIdleCores) {
  // -|x|, then its two halves: the last operation has more cores than the others.
  check(R"(
    !h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
    func.func @main(%x: !h, %y: !h, %o: !h {spyre.role = "output"}) {
      %t = spyre.alloc pool(0) : !h
      %u = spyre.alloc pool(16384) : !h
      spyre.abs (d0 = 64 / 8, d1 = 128 / 2) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !h
      spyre.neg (d0 = 64 / 8, d1 = 128 / 2) ins(%t[d0, d1]) outs(%u[d0, d1]) : !h -> !h
      spyre.identity (d0 = 64 / 8, d1 = 128 / 2) ins(%u[d0, d1]) outs(%o[d0, d1]) : !h -> !h
      %v = spyre.alloc pool(32768) : !h
      spyre.maximum (d0 = 32 / 16, d1 = 128 / 2)
        ins(%y[d0, d1], %y[d0 + 32, d1]) outs(%v[d0 + 32, d1]) : !h, !h -> !h
      return
    })",
        -1, [](const std::vector<Array> &arrays, const std::vector<int64_t> &point) {
          return -std::fabs(arrays[0].at(point));
        });
  EXPECT_EQ(numTiles, 32);
}

TEST_F(EmissionNumerics, Reductions) {
  // Along the stick: rows end inside one, and memory behind them holds what would show.
  for (auto [name, start, combine] :
       {std::tuple<const char *, double, double (*)(double, double)>{
            "sum", 0.0, [](double a, double b) { return a + b; }},
        {"max", -1e30, [](double a, double b) { return std::max(a, b); }},
        {"min", 1e30, [](double a, double b) { return std::min(a, b); }}})
    check(R"(
      !h = !spyre.buffer<32x130xf16, #spyre.layout<[3, 32, 64], order [0, 1], SEN169_FP16>, hbm>
      !s = !spyre.buffer<32xf16, #spyre.layout<[1, 32, 64], order [0, -1], SEN169_FP16>, hbm>
      !c = !spyre.buffer<f16, #spyre.layout<[1, 64], order [], SEN169_FP16>, hbm>
      func.func @main(%x: !h, %c: !c {spyre.role = "constant", spyre.value = 300.0},
                      %o: !s {spyre.role = "output"}) {
        %t = spyre.alloc pool(0) : !h
        spyre.identity (d0 = 32, d1 = 130) ins(%c[]) outs(%t[d0, d1]) : !c -> !h
        spyre.minimum (d0 = 32 / 4, d1 = 130) ins(%x[d0, d1], %t[d0, d1]) outs(%t[d0, d1])
          : !h, !h -> !h
        spyre.)" +
              std::string(name) +
              R"( (d0 = 32 / 8, d1 = 130) ins(%t[d0, d1]) outs(%o[d0]) : !h -> !s
        return
      })",
          -1, expectFold(start, combine), 1);
  check(R"(
    !f = !spyre.buffer<32x100xf32, #spyre.layout<[4, 32, 32], order [0, 1], IEEE_FP32>, hbm>
    !s = !spyre.buffer<32xf32, #spyre.layout<[1, 32, 32], order [0, -1], IEEE_FP32>, hbm>
    func.func @main(%x: !f, %o: !s {spyre.role = "output"}) {
      spyre.mean (d0 = 32 / 8, d1 = 100) ins(%x[d0, d1]) outs(%o[d0])
        constants {scaling_factor = 0.25} : !f -> !s
      return
    })",
        -1, expectFold(0, [](double a, double b) { return a + b; }, 0.25), 0.001);
}

TEST_F(EmissionNumerics, SharedSums) {
  // Cores share the sum along sticks and along rows, neighbours or not; in tiles.
  for (std::string kFast : {"", "k_fast"})
    check(R"(
      !x = !spyre.buffer<16x256xf16, #spyre.layout<[4, 16, 64], order [0, 1], SEN169_FP16>, hbm>
      !y = !spyre.buffer<256x128xf16, #spyre.layout<[2, 256, 64], order [0, 1], SEN169_FP16>, hbm>
      !o = !spyre.buffer<16x128xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>, hbm>
      func.func @main(%x: !x, %y: !y, %o: !o {spyre.role = "output"}) {
        spyre.batchmatmul (d0 = 16 / 4, d1 = 128 / 2, d2 = 256 / 4) )" +
              kFast + R"(
          ins(%x[d0, d2], %y[d2, d1]) outs(%o[d0, d1]) : !x, !y -> !o
        return
      })",
          -1, expectProduct, 1, /*capacity=*/kFast.empty() ? 0 : 11000);
  EXPECT_EQ(numTiles, 32);
  EXPECT_TRUE(hasLoop);
}

TEST_F(EmissionNumerics, OrderAmongCores) {
  // Rows of one core are columns of another, in a loop whose iterations use one buffer: what is
  // not ordered is a race of the executor, or NaN.
  check(R"(
    !h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
    !b = !spyre.buffer<16x128xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>, hbm>
    func.func @main(%x: !h, %o: !h {spyre.role = "output"}) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %t = spyre.alloc pool(0) : !b
      scf.for %i = %c0 to %c4 step %c1 {
        spyre.neg (d0 = 16 / 16, d1 = 128) loops(%i) ins(%x[d0 + s0 * 16, d1]) outs(%t[d0, d1])
          : !h -> !b
        spyre.abs (d0 = 16, d1 = 128 / 2) loops(%i) ins(%t[d0, d1]) outs(%o[d0 + s0 * 16, d1])
          : !b -> !h
      }
      return
    })",
        -1, [](const std::vector<Array> &arrays, const std::vector<int64_t> &point) {
          return std::fabs(arrays[0].at(point));
        });
}

TEST_F(EmissionNumerics, TurnedAndCast) {
  // Turned, widened, halved in f32 and narrowed again.
  check(R"(
    !h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
    !t = !spyre.buffer<128x64xf16, #spyre.layout<[2, 64, 64], order [1, 0], SEN169_FP16>, hbm>
    !f = !spyre.buffer<128x64xf32, #spyre.layout<[4, 64, 32], order [1, 0], IEEE_FP32>, hbm>
    func.func @main(%x: !h, %o: !t {spyre.role = "output"}) {
      %t = spyre.alloc pool(0) : !t
      %f = spyre.alloc pool(16384) : !f
      %g = spyre.alloc pool(49152) : !f
      spyre.restickify (d0 = 128 / 2, d1 = 64) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !t
      spyre.dl16tofp32 (d0 = 128 / 2, d1 = 64 / 4) ins(%t[d0, d1]) outs(%f[d0, d1]) : !t -> !f
      spyre.add (d0 = 128 / 4, d1 = 64) ins(%f[d0, d1], %f[d0, d1]) outs(%g[d0, d1]) : !f, !f -> !f
      spyre.fp32todl16 (d0 = 128 / 2, d1 = 64) ins(%g[d0, d1]) outs(%o[d0, d1]) : !f -> !t
      return
    })",
        -1, [](const std::vector<Array> &arrays, const std::vector<int64_t> &point) {
          return ::spyre::roundToDL16(2 * arrays[0].at(point));
        });
  // No room for 64 x 64: sticks of what is read are cut.
  check(
      R"(
    !h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
    !t = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [1, 0], SEN169_FP16>, hbm>
    func.func @main(%x: !h, %o: !t {spyre.role = "output"}) {
      spyre.restickify (d0 = 64, d1 = 64) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !t
      return
    })",
      -1,
      [](const std::vector<Array> &arrays, const std::vector<int64_t> &point) {
        return arrays[0].at(point);
      },
      0, /*capacity=*/4096);
  EXPECT_TRUE(hasLoop);
}

TEST_F(EmissionNumerics, RelayoutsAndGathers) {
  // Each core takes what others hold; then rows by an index.
  check(R"(
    !h = !spyre.buffer<32x256xf16, #spyre.layout<[4, 32, 64], order [0, 1], SEN169_FP16>, hbm>
    !l = !spyre.buffer<32x256xf16, #spyre.layout<[4, 32, 64], order [0, 1], SEN169_FP16>, lx>
    func.func @main(%x: !h, %o: !h {spyre.role = "output"}) {
      %a = spyre.alloc lx(0) holding<cores 16, slices [16, 1], (c) -> (c, 0)> : !l
      %b = spyre.alloc lx(4096) holding<cores 16, slices [4, 4], (c) -> (c mod 4, c floordiv 4)> : !l
      spyre.abs (d0 = 32 / 16, d1 = 256) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !l
      spyre.shuffle (d0 = 32 / 4, d1 = 256 / 4) ins(%a[d0, d1]) outs(%b[d0, d1]) : !l -> !l
      spyre.neg (d0 = 32 / 4, d1 = 256 / 4) ins(%b[d0, d1]) outs(%o[d0, d1]) : !l -> !h
      return
    })",
        -1, [](const std::vector<Array> &arrays, const std::vector<int64_t> &point) {
          return -std::fabs(arrays[0].at(point));
        });
  check(R"(
    !i = !spyre.buffer<64xi32, #spyre.layout<[2, 32], order [0], IEEE_INT32>, hbm>
    !t = !spyre.buffer<50x256xf16, #spyre.layout<[4, 50, 64], order [0, 1], SEN169_FP16>, hbm>
    !o = !spyre.buffer<64x256xf16, #spyre.layout<[4, 64, 64], order [0, 1], SEN169_FP16>, hbm>
    func.func @main(%i: !i, %t: !t, %o: !o {spyre.role = "output"}) {
      spyre.identity (d0 = 64 / 2, d1 = 256 / 4) ins(%i[d0], %t[0, d1]) outs(%o[d0, d1])
        gather(1[0] by 0) : !i, !t -> !o
      return
    })",
        -1, [](const std::vector<Array> &arrays, const std::vector<int64_t> &point) {
          return arrays[1].at({static_cast<int64_t>(arrays[0].at({point[0]})), point[1]});
        });
}

TEST_F(EmissionNumerics, LoopsThatCarry) {
  // Running sums of rows: each iteration reads what the one before it wrote.
  check(R"(
    !h = !spyre.buffer<8x64xf16, #spyre.layout<[1, 8, 64], order [0, 1], SEN169_FP16>, hbm>
    func.func @main(%x: !h, %o: !h {spyre.role = "output"}) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c7 = arith.constant 7 : index
      spyre.identity (d0 = 1, d1 = 64) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !h
      scf.for %i = %c0 to %c7 step %c1 {
        spyre.add (d0 = 1, d1 = 64) loops(%i) ins(%o[d0 + s0, d1], %x[d0 + s0 + 1, d1])
          outs(%o[d0 + s0 + 1, d1]) : !h, !h -> !h
      }
      return
    })",
        -1, [](const std::vector<Array> &arrays, const std::vector<int64_t> &point) {
          float sum = arrays[0].at({0, point[1]});
          for (int64_t row = 1; row <= point[0]; ++row)
            sum = ::spyre::roundToDL16(sum + arrays[0].at({row, point[1]}));
          return sum;
        });
}
