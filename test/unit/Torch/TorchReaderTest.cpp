//===- TorchReaderTest.cpp - Every exported text reads and round-trips -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads all texts of test/data that torch-mlir wrote: each must parse, print, and
// the print must parse to the same print. Then cuts and mutates texts: the reader
// may refuse, it may not crash. Then the helpers of TorchOps.h.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Torch/IR/TorchOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <random>
#include <sstream>

using namespace mlir;
using namespace mlir::torch_reader;
namespace fs = std::filesystem;

namespace {

fs::path dataFolder() {
  const char *set = std::getenv("SPYRE_TEST_DATA");
  return set ? fs::path(set) : fs::path(SPYRE_SOURCE_DIR) / "test" / "data";
}

struct Text {
  std::string name, mlir;
};

std::string readPlain(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string readGzip(const fs::path &path) {
  std::string out;
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file)
    return out;
  std::vector<char> buffer(1 << 20);
  for (int n; (n = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0;)
    out.append(buffer.data(), static_cast<size_t>(n));
  gzclose(file);
  return out;
}

std::vector<Text> readModels() {
  std::vector<Text> texts;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(dataFolder() / "models", error))
    if (entry.path().extension() == ".mlir")
      texts.push_back({entry.path().filename().string(), readPlain(entry.path())});
  return texts;
}

std::vector<Text> readLines(const char *folder) {
  std::vector<Text> texts;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(dataFolder() / folder, error)) {
    if (entry.path().extension() != ".gz")
      continue;
    std::istringstream lines(readGzip(entry.path()));
    for (std::string line; std::getline(lines, line);) {
      auto json = nlohmann::json::parse(line, nullptr, false);
      if (json.is_discarded())
        continue;
      texts.push_back({json.value("name", ""), json.value("mlir", "")});
    }
  }
  return texts;
}

class TorchReader : public testing::Test {
protected:
  static std::unique_ptr<MLIRContext> makeContext() {
    auto made = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
    DialectRegistry registry;
    registry.insert<TorchDialect, func::FuncDialect>();
    made->appendDialectRegistry(registry);
    return made;
  }

  /// Parses; on failure the first diagnostic is in `message`.
  OwningOpRef<ModuleOp> parse(const std::string &text, MLIRContext &in) {
    message.clear();
    ScopedDiagnosticHandler handler(&in, [&](Diagnostic &diagnostic) {
      if (message.empty()) {
        llvm::raw_string_ostream stream(message);
        stream << diagnostic.getLocation() << ": " << diagnostic;
      }
      return success();
    });
    return parseSourceString<ModuleOp>(text, ParserConfig(&in), "text");
  }
  OwningOpRef<ModuleOp> parse(const std::string &text) { return parse(text, *context); }

  static std::string print(ModuleOp module) {
    std::string out;
    llvm::raw_string_ostream stream(out);
    module.print(stream);
    return out;
  }

  /// Empty if \p text round-trips, else what went wrong.
  std::string roundTrip(const std::string &text) {
    // A context each: one that knows a resource's name gives the next another name.
    auto firstContext = makeContext(), secondContext = makeContext();
    OwningOpRef<ModuleOp> first = parse(text, *firstContext);
    if (!first)
      return message;
    std::string printed = print(*first);
    OwningOpRef<ModuleOp> second = parse(printed, *secondContext);
    if (!second)
      return "its print does not parse: " + message;
    return print(*second) == printed ? "" : "its print parses to something else";
  }

  void roundTripAll(const std::vector<Text> &texts) {
    size_t good = 0, reported = 0;
    for (const Text &text : texts) {
      std::string problem = roundTrip(text.mlir);
      if (problem.empty())
        ++good;
      else if (++reported <= 10)
        ADD_FAILURE() << text.name << ": " << problem;
    }
    std::cout << good << " of " << texts.size() << " texts round-trip\n";
    EXPECT_GT(texts.size(), 0u);
    EXPECT_EQ(good, texts.size());
  }

  std::unique_ptr<MLIRContext> context = makeContext();
  std::string message;
};

TEST_F(TorchReader, Models) { roundTripAll(readModels()); }
TEST_F(TorchReader, EndToEnd) { roundTripAll(readLines("e2e")); }
TEST_F(TorchReader, Bugs) { roundTripAll(readLines("bugs")); }

// What the reader accepts it must be able to print and read again, however odd.
TEST_F(TorchReader, GarbageNeverCrashes) {
  std::vector<Text> texts = readModels();
  for (Text &text : readLines("bugs"))
    texts.push_back(std::move(text));
  std::mt19937 random(20261128);
  auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
  static constexpr char odd[] = "<>[](){}%:,\"!*?#-=0x9.^@ \n";
  size_t accepted = 0, refused = 0, bad = 0;
  while (accepted + refused < 3000) {
    const std::string &source = texts[below(texts.size())].mlir;
    if (source.empty() || source.size() > 6000)
      continue;
    std::string text = source;
    if (below(4) == 0) {
      text.resize(below(text.size()));
    } else {
      for (size_t i = 0, n = 1 + below(3); i < n; ++i) {
        size_t at = below(text.size()), length = below(6), from = below(source.size());
        switch (below(4)) {
        case 0:
          text[at] = odd[below(sizeof(odd) - 1)];
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(at, 1, odd[below(sizeof(odd) - 1)]);
          break;
        default:
          text.insert(below(text.size()), source.substr(from, 8 * length));
          break;
        }
        if (text.empty())
          text = " ";
      }
    }
    OwningOpRef<ModuleOp> module = parse(text);
    if (!module) {
      EXPECT_FALSE(message.empty());
      ++refused;
      continue;
    }
    ++accepted;
    std::string problem = roundTrip(text);
    if (!problem.empty() && ++bad <= 5)
      ADD_FAILURE() << problem << "\n" << text;
  }
  std::cout << accepted << " accepted, " << refused << " refused\n";
  EXPECT_GT(refused, 0u);
  EXPECT_GT(accepted, 0u);
}

TEST_F(TorchReader, DeepTypesAreRefused) {
  auto nest = [](const char *open, const char *inner, int depth) {
    std::string text = "func.func private @f(";
    for (int i = 0; i < depth; ++i)
      text += open;
    return text + inner + std::string(static_cast<size_t>(depth), '>') + ")";
  };
  EXPECT_TRUE(parse(nest("!torch.list<", "!torch.int", 0))) << message;
  EXPECT_FALSE(parse("func.func private @f(!torch." + nest("list<", "int", 1000).substr(21)));
  EXPECT_NE(message.find("torch types are nested more than 64 deep"), std::string::npos) << message;
  EXPECT_TRUE(parse("func.func private @f(!torch." + nest("list<", "int", 60).substr(21)))
      << message;
  EXPECT_FALSE(parse(nest("!torch.vtensor<[],", "f16", 1000)));
  EXPECT_NE(message.find("torch types are nested more than 64 deep"), std::string::npos) << message;
}

TEST_F(TorchReader, Helpers) {
  OwningOpRef<ModuleOp> module = parse(R"(
    func.func @f(%x: !torch.vtensor<[2,?],f16>, %n: !torch.int) {
      %int-3 = torch.constant.int -3
      %float = torch.constant.float 2.500000e-01
      %inf = torch.constant.float 0xFFF0000000000000
      %true = torch.constant.bool true
      %none = torch.constant.none
      %str = torch.constant.str "floor"
      %cpu = torch.constant.device "cpu"
      %list = torch.prim.ListConstruct %int-3, %int-3 : (!torch.int, !torch.int) -> !torch.list<int>
      %open = torch.prim.ListConstruct %int-3, %n : (!torch.int, !torch.int) -> !torch.list<int>
      %empty = torch.prim.ListConstruct  : () -> !torch.list<int>
      %lit = torch.vtensor.literal(dense<[1, 2]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
      %v, %i = torch.aten.max.dim %x, %int-3, %true : !torch.vtensor<[2,?],f16>, !torch.int, !torch.bool -> !torch.vtensor<[2],f16>, !torch.vtensor<[2],si64>
      torch.operator "test.results"(%int-3, %float, %inf, %true, %none, %str, %cpu, %list, %open, %empty, %lit, %v) : (!torch.int, !torch.float, !torch.float, !torch.bool, !torch.none, !torch.str, !torch.Device, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.vtensor<[2],si64>, !torch.vtensor<[2],f16>) -> ()
      return
    })");
  ASSERT_TRUE(module) << message;
  Operation *user = nullptr, *maxDim = nullptr;
  module->walk([&](Operation *op) {
    if (isOp(op, names::customOperator))
      user = op;
    if (isOp(op, "torch.aten.max.dim"))
      maxDim = op;
  });
  ASSERT_TRUE(user && maxDim);
  auto operand = [&](unsigned i) { return user->getOperand(i); };
  EXPECT_EQ(getConstantInt(operand(0)), -3);
  EXPECT_EQ(getConstantInt(operand(1)), std::nullopt);
  EXPECT_EQ(getConstantFloat(operand(1)), 0.25);
  EXPECT_EQ(getConstantFloat(operand(2)), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(getConstantBool(operand(3)), true);
  EXPECT_EQ(getConstantNumber(operand(3)), 1.0);
  EXPECT_TRUE(isNone(operand(4)));
  EXPECT_FALSE(isNone(operand(0)));
  EXPECT_EQ(getConstantString(operand(5)), llvm::StringRef("floor"));
  EXPECT_EQ(getConstantDevice(operand(6)), llvm::StringRef("cpu"));
  EXPECT_EQ(getIntList(operand(7)), (llvm::SmallVector<int64_t>{-3, -3}));
  EXPECT_EQ(getIntList(operand(8)), std::nullopt);
  EXPECT_EQ(getIntList(operand(9)), llvm::SmallVector<int64_t>{});
  EXPECT_EQ(getIntList(operand(0)), std::nullopt);
  ASSERT_TRUE(getTensorLiteral(operand(10)));
  EXPECT_EQ(getTensorLiteral(operand(10)).getNumElements(), 2);
  EXPECT_FALSE(getTensorLiteral(operand(11)));
  Type x = maxDim->getOperand(0).getType();
  EXPECT_EQ(*getTensorShape(x), (llvm::ArrayRef<int64_t>{2, ShapedType::kDynamic}));
  EXPECT_TRUE(getTensorElementType(x).isF16());
  EXPECT_EQ(getTensorShape(operand(0).getType()), std::nullopt);
  EXPECT_FALSE(isResultUnused(maxDim, 0));
  EXPECT_TRUE(isResultUnused(maxDim, 1));
  EXPECT_TRUE(areResultsUnusedFrom(maxDim, 1));
  EXPECT_FALSE(areResultsUnusedFrom(maxDim, 0));
  EXPECT_EQ(getShortName(user), "test.results");
  EXPECT_EQ(getShortName(maxDim), "aten.max.dim");
}

// Malformed operations in the generic form stay generic, and the helpers say no.
TEST_F(TorchReader, MalformedConstants) {
  OwningOpRef<ModuleOp> module = parse(R"(
    %0 = "torch.constant.int"() : () -> !torch.int
    %1 = "torch.constant.float"() {value = "x"} : () -> !torch.float
    %2 = "torch.prim.ListConstruct"(%0, %1) : (!torch.int, !torch.float) -> !torch.list<int>
    "torch.bind_symbolic_shape"(%0) {shape_expressions = affine_map<()[s0] -> (s0)>} : (!torch.int) -> ()
    "torch.initialize.global_slots"(%0) {slotSymNames = []} : (!torch.int) -> ()
  )");
  ASSERT_TRUE(module) << message;
  module->walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      EXPECT_EQ(getConstantInt(result), std::nullopt);
      EXPECT_EQ(getConstantNumber(result), std::nullopt);
      EXPECT_EQ(getIntList(result), std::nullopt);
    }
  });
  std::string printed = print(*module);
  EXPECT_NE(printed.find("\"torch.constant.int\"()"), std::string::npos) << printed;
  EXPECT_EQ(roundTrip(printed), "");
}

// Forms that the exported texts do not show.
TEST_F(TorchReader, RareForms) {
  std::string text = R"(
    torch.global_slot "private" @slot : !torch.int
    torch.global_slot.module_initializer {
      %0 = torch.constant.int 1
      torch.initialize.global_slots [
        @slot(%0 : !torch.int)
      ]
    }
    func.func @f(%t: !torch.tensor<*,f32>, %b: !torch.bool, %m: !torch.nn.Module<"a::B">,
                 %d: !torch.dict<str, optional<vtensor<[1],unk>>>, %u: !torch.union<int, none>,
                 %q: !torch.vtensor<[2],!torch.qint8>, %e: !torch.tuple<>) -> !torch.any {
      %0 = torch.global_slot.get @slot : !torch.int
      torch.global_slot.set @slot = %0 : !torch.int
      %1 = torch.copy.to_vtensor %t : !torch.vtensor<*,f32>
      %2 = torch.copy.to_tensor %1 : !torch.tensor<*,f32>
      %3 = torch.tensor_static_info_cast %1 : !torch.vtensor<*,f32> to !torch.vtensor
      %4 = torch.derefine %0 : !torch.int to !torch.any
      torch.runtime.assert %b, "must hold"
      %5 = torch.constant.number 1 : i64
      %6 = torch.prim.If %b -> (!torch.int) {
        torch.prim.If.yield %0 : !torch.int
      } else {
        %7 = torch.aten.add.int %0, %0 : !torch.int, !torch.int -> !torch.int
        torch.prim.If.yield %7 : !torch.int
      }
      torch.prim.If %b -> () {
        torch.prim.If.yield
      } else {
        torch.prim.If.yield
      }
      %8 = torch.operator "onnx.If"(%1) {torch.onnx.k = 3 : si64} : (!torch.vtensor<*,f32>) -> !torch.int {
        torch.operator_terminator %0 : !torch.int
      }, {
        torch.operator_terminator %0 : !torch.int
      }
      %9:2 = torch.prim.TupleUnpack %e : !torch.tuple<> -> !torch.int, !torch.int loc("a.py":3:4)
      return %4 : !torch.any
    })";
  EXPECT_EQ(roundTrip(text), "");
  OwningOpRef<ModuleOp> module = parse(text);
  ASSERT_TRUE(module);
  EXPECT_EQ(print(*module).find("\"torch."), std::string::npos) << print(*module);
  module->walk([](Operation *op) {
    if (isOp(op, "torch.prim.TupleUnpack")) {
      auto loc = dyn_cast<FileLineColLoc>(op->getLoc());
      ASSERT_TRUE(loc);
      EXPECT_EQ(loc.getLine(), 3u);
    }
  });
}

} // namespace
