//===- FaultCatalogueTest.cpp - Checked mode finds every fault --*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small faults, each injected into one of a few sound bundles, and what the
// emulator must say of it: the kind of report, the operation, the operand, the core
// and the address; or, for what the format's rules forbid, an error that names
// operation and operand. The sound bundles run without a word.
//
//===----------------------------------------------------------------------===//

#include "FaultBases.h"

#include "gtest/gtest.h"

using namespace spyre;
using namespace spyre::runtime;
using namespace spyre::runtime::test;

namespace {

constexpr int kPool = -1, kLX = -2, kAnywhere = -3;
constexpr int kAnyCore = -2, kHost = -1;

struct Fault {
  const char *name;
  FaultProgram (*base)();
  std::function<void(FaultProgram &)> inject;
  std::string kind; ///< of the report; "error": it is refused
  std::string op;   ///< as reports call it
  std::string tensor;
  int core = kAnyCore;
  int space = kAnywhere;    ///< an argument, the pool or LX
  int64_t offset = 0;       ///< of the address in it
  std::string message = {}; ///< part of it
};

struct Outcome {
  std::string error;
  std::vector<Report> reports;
  std::vector<int64_t> arguments;
  int64_t pool = 0;
};

Outcome run(const FaultProgram &program, unsigned threads = 2) {
  EmulatorOptions options;
  options.checked = true;
  options.reportLost = true;
  options.numThreads = threads;
  Runtime runtime(*Device::lookup(program.device), options);
  Outcome outcome;
  const std::vector<ArgumentSpec> &specs = program.bundle.spec.arguments;
  auto runAll = [&]() -> std::optional<Error> {
    for (const ArgumentSpec &spec : specs)
      outcome.arguments.push_back(std::get<int64_t>(
          runtime.allocate(std::get<int64_t>(getDeviceSizeInBytes(spec)), spec.array)));
    for (size_t k = 0; k < specs.size(); ++k)
      if (program.isCopiedIn[k])
        if (auto error = runtime.copyIn(specs[k], program.arrays[k], outcome.arguments[k]))
          return error;
    if (program.bundle.plan.hasPool) {
      // Where the launch will put it.
      outcome.pool =
          std::get<int64_t>(runtime.allocate(program.bundle.plan.poolInBytes, "the pool"));
      runtime.free(outcome.pool);
    }
    if (auto error = runtime.launch(program.bundle, outcome.arguments))
      return error;
    HostTensor host;
    for (size_t k = 0; k < specs.size(); ++k)
      if (specs[k].role == Role::Output)
        if (auto error = runtime.copyOut(specs[k], outcome.arguments[k], host))
          return error;
    return std::nullopt;
  };
  if (auto error = runAll())
    outcome.error = error->message;
  outcome.reports = runtime.getEmulator().getReports();
  return outcome;
}

std::string describe(const Outcome &outcome) {
  std::string text = outcome.error.empty() ? "" : "error: " + outcome.error + "\n";
  for (const Report &report : outcome.reports)
    text += report.toString() + "\n";
  return text.empty() ? "nothing" : text;
}

/// The symbol of one core moves by some bytes.
auto shift(int op, int tensor, int core, int64_t bytes) {
  return [=](FaultProgram &p) { p.symbol(op, tensor, core).offsetInBytes += bytes; };
}
/// All symbols of an operand move by some bytes.
auto shiftAll(int op, int tensor, int64_t bytes) {
  return [=](FaultProgram &p) {
    for (int core = 0; core < p.at(op).numCores; ++core)
      p.symbol(op, tensor, core).offsetInBytes += bytes;
  };
}
/// An operand gets the memory of another one.
auto rebind(int op, int tensor, int base, int64_t offset) {
  return [=](FaultProgram &p) {
    int64_t first = p.symbol(op, tensor, 0).offsetInBytes;
    for (int core = 0; core < p.at(op).numCores; ++core) {
      AddressExpr &address = p.symbol(op, tensor, core);
      address.base = base;
      address.offsetInBytes += offset - first;
    }
  };
}
auto moveLX(int op, int tensor, int64_t address) {
  return [=](FaultProgram &p) {
    for (int64_t &start : p.at(op).tensors[tensor].startAddress)
      start = address;
  };
}

std::vector<Fault> getCatalogue() {
  const std::string add = "sdsc_0.json (add)";
  // A stick column of [32, 128] has 32 * 128 bytes, a core's rows 8 * 128.
  return {
      // Addresses.
      {"address of one core", makePointwise, shift(0, 1, 2, 128), "wrong-slice", add, "Tensor1", 2,
       1, 2 * 1024 + 128},
      {"two cores' inputs exchanged", makePointwise,
       [](FaultProgram &p) { std::swap(p.symbol(0, 0, 1), p.symbol(0, 0, 3)); }, "wrong-slice", add,
       "Tensor0", 1, 0, 3 * 1024},
      {"slices exchanged between cores", makePointwise,
       [](FaultProgram &p) { std::swap(p.at(0).coreToSlice[0], p.at(0).coreToSlice[3]); },
       "wrong-slice", add, "Tensor0", 3, 0, 3 * 1024},
      {"address after the end", makePointwise, shiftAll(0, 0, 1024), "out-of-bounds", add,
       "Tensor0", 3, 0, 8192},
      {"address before the begin", makePointwise, shiftAll(0, 1, -128), "out-of-bounds", add,
       "Tensor1", 0, 1, -128},
      {"address of nothing", makePointwise, rebind(0, 1, AddressExpr::kAbsolute, int64_t(1) << 34),
       "out-of-bounds", add, "Tensor1", 0, kAnywhere, 0, "outside every allocation"},
      {"unaligned symbol", makePointwise, shiftAll(0, 2, 64), "unaligned", add, "Tensor2", 0, 2,
       64},
      {"unaligned LX address", makeLXChain, moveLX(1, 2, 2112), "error", "sdsc_1.json (mul)",
       "Tensor2", kAnyCore, kAnywhere, 0, "2112"},
      {"end of LX", makeLXChain,
       [](FaultProgram &p) { moveLX(0, 1, Device::lookup("spyre")->getLXInBytes() - 1024)(p); },
       "lx-overflow", "sdsc_0.json (exp)", "Tensor1", 0, kLX,
       Device::lookup("spyre")->getLXInBytes() - 1024},
      {"span of a core", makePointwise,
       [](FaultProgram &p) {
         p.at(0).tensors[0].backGap = {{p.at(0).tensors[0].dimOrder[0], {int64_t(1) << 22}}};
       },
       "span-overflow", add, "Tensor0", 0, 0, 0},
      // Slices, gaps and scales.
      {"gap over the end", makePointwise,
       [](FaultProgram &p) {
         p.at(0).tensors[1].backGap = {{p.at(0).tensors[1].dimOrder[0], {64}}};
       },
       "out-of-bounds", add, "Tensor1", 0, 1, 8192},
      {"gap into another result", makeSoftmax,
       [](FaultProgram &p) {
         // The differences lie in the pool before the powers, which are not there yet.
         p.at(2).tensors[0].backGap = {{p.at(2).tensors[0].dimOrder[0], {64}}};
       },
       "never-written", "sdsc_2.json (exp)", "Tensor0", 0, kPool, 4096 + 96 * 128},
      {"gap in LX", makeLXChain,
       [](FaultProgram &p) {
         p.at(2).tensors[1].backGap = {{p.at(2).tensors[1].dimOrder[0], {4, 4, 4, 4}}};
       },
       "wrong-layout", "sdsc_2.json (sub)", "Tensor1", 2, kLX, 2048},
      {"gap for one core of four", makeLXChain,
       [](FaultProgram &p) {
         p.at(2).tensors[1].backGap = {{p.at(2).tensors[1].dimOrder[0], {4}}};
       },
       "error", "sdsc_2.json (sub)", "Tensor1"},
      {"address of one of four heads", makeHeads, shift(0, 0, 1, 4096), "wrong-slice",
       "sdsc_0.json (exp)", "Tensor0", 1, 0, 2 * 4096},
      {"unknown slice", makePointwise, [](FaultProgram &p) { p.at(0).coreToSlice[2][0] = 4; },
       "error", add, ""},
      {"one slice for two cores", makePointwise,
       [](FaultProgram &p) { p.at(0).coreToSlice[2] = p.at(0).coreToSlice[1]; }, "error", add, ""},
      {"slices that do not cover the dim", makePointwise,
       [](FaultProgram &p) { p.at(0).dims[0].coreSize = 4; }, "error", add, ""},
      {"folds of another size", makePointwise,
       [](FaultProgram &p) { p.at(0).tensors[2].coordinates[0].folds[0].factor *= 2; }, "error",
       add, "Tensor2"},
      // Sticks and formats.
      {"stick of another size", makePointwise,
       [](FaultProgram &p) { p.at(0).layouts[0].stickSizes[0] = 32; }, "error", add, "Tensor0"},
      {"stick dim of one operand", makeRestickify,
       [](FaultProgram &p) {
         // The rows of the sum's operand in its stick.
         sdsc::Descriptor &d = p.at(1);
         d.layouts.push_back(d.layouts[0]);
         d.layouts.back().label = "INPUT";
         d.layouts.back().stickDims = {d.dims[0].name};
         d.tensors[0].label = "INPUT";
       },
       "error", "sdsc_1.json (sum)", "Tensor0"},
      {"format of an operand", makePointwise,
       [](FaultProgram &p) { p.at(0).tensors[1].format = DataFormat::IEEE_FP32; }, "error", add,
       "Tensor1"},
      {"a cast left out", makeCasts, rebind(2, 0, kPool, 0), "wrong-format", "sdsc_2.json (exp)",
       "Tensor0", 0, kPool, 0},
      {"argument of another format", makePointwise,
       [](FaultProgram &p) {
         p.bundle.spec.arguments[1].dtype = HostType::BFloat16;
         p.bundle.spec.arguments[1].deviceFormat = DataFormat::BFLOAT16;
         p.arrays[1].dtype = HostType::BFloat16;
       },
       "wrong-format", add, "Tensor1", 0, 1, 0},
      // Lanes.
      {"no mask of a maximum", makeSoftmax,
       [](FaultProgram &p) {
         p.at(0).masks.clear();
         p.at(0).maskConstant = -1;
       },
       "padding", "sdsc_0.json (max)", "Tensor0", 0, 0, 32 * 128 + 72},
      {"no mask of a sum", makeSoftmax,
       [](FaultProgram &p) {
         p.at(3).masks.clear();
         p.at(3).maskConstant = -1;
       },
       "padding", "sdsc_3.json (sum)", "Tensor0", 0, kPool, 4096 + 8192 + 32 * 128 + 72},
      {"mask that begins late", makeSoftmax,
       [](FaultProgram &p) { p.at(3).masks[0] = {p.at(3).masks[0].dim, 110, 18}; }, "padding",
       "sdsc_3.json (sum)", "Tensor0", 1, kPool, 4096 + 8192 + 32 * 128 + 72 + 1024},
      {"mask outside its dim", makeSoftmax, [](FaultProgram &p) { p.at(3).masks[0].count = 64; },
       "error", "sdsc_3.json (sum)", ""},
      {"no mask of undefined lanes", makeRestickify,
       [](FaultProgram &p) {
         p.at(1).masks.clear();
         p.at(1).maskConstant = -1;
       },
       "undefined", "sdsc_1.json (sum)", "Tensor0", 0, kPool, 100},
      {"undefined tail of a contraction", makeRestickify, rebind(2, 0, kPool, 0), "undefined",
       "sdsc_2.json (batchmatmul)", "Tensor0", 0, kPool, 100},
      {"tail of a contraction that is not zero", makePaddedMatmul,
       [](FaultProgram &p) {
         // The second operand has rows there.
         p.bundle.spec.arguments[1].shape = {128, 64};
         HostTensor longer = HostTensor::create(HostType::Float16, {128, 64});
         for (size_t i = 0; i < longer.data.size(); i += 2)
           longer.data[i + 1] = 0x3c; // 1
         p.arrays[1] = longer;
       },
       "padding", "sdsc_1.json (batchmatmul)", "Tensor0", 2, kPool, 2 * 1024 + 32 * 128 + 72},
      {"one of two statistics", makeLayerNorm,
       [](FaultProgram &p) {
         p.at(0).opFunc = "sum";
         p.at(0).constants.clear();
       },
       "undefined", "sdsc_1.json (layernormscale)", "Tensor0", 0, kPool, 2},
      {"copy-out of one lane a stick as many", makeRestickify,
       [](FaultProgram &p) {
         ArgumentSpec &sums = p.bundle.spec.arguments[3];
         sums.shape = {70, 64};
         sums.deviceSize = {1, 70, 64};
         sums.strideMap = {64, 64, 1};
       },
       "undefined", "copy-out of arg3", "arg3", kHost, 3, 2},
      {"result that ends early", makeSoftmax,
       [](FaultProgram &p) {
         // Only the first of the two stick columns of the powers.
         sdsc::Descriptor &d = p.at(2);
         d.dims[1].size = d.dims[1].coreSize = 64;
         for (sdsc::Tensor &tensor : d.tensors)
           for (sdsc::DimCoordinate &coordinate : tensor.coordinates)
             if (coordinate.dim == d.dims[1].name)
               coordinate.folds[3].factor = 1;
       },
       "never-written", "sdsc_3.json (sum)", "Tensor0", 0, kPool, 4096 + 8192 + 32 * 128},
      {"argument without a copy", makePointwise, [](FaultProgram &p) { p.isCopiedIn[1] = false; },
       "never-written", add, "Tensor1", 0, 1, 0},
      // Who wrote what.
      {"two writers", makePointwise, shift(0, 2, 3, -128), "conflict", add, "Tensor2", 3, 2,
       3 * 1024 - 128},
      {"two writers of a split contraction", makeMatmul, shift(0, 2, 1, 128), "wrong-slice",
       "sdsc_0.json (batchmatmul)", "Tensor2", 1, 2, 128},
      {"result into an input", makePointwise, rebind(0, 2, 1, 0), "read-only", add, "Tensor2", 0, 1,
       0},
      {"overlapping LX lifetimes", makeLXChain, moveLX(1, 2, 1024), "overlap", "sdsc_2.json (sub)",
       "Tensor0", 0, kLX, 1024},
      {"LX lifetime that ends before the read", makeLXChain,
       [](FaultProgram &p) {
         moveLX(1, 0, 8192)(p);
         moveLX(1, 1, 8192)(p);
         moveLX(1, 2, 0)(p);
         // What is squared comes from elsewhere.
         p.at(1).tensors[0] = p.at(3).tensors[1];
         p.at(1).tensors[0].label = p.at(1).tensors[1].label;
         p.at(1).tensors[0].name = "Tensor0";
         p.at(1).tensors[1] = p.at(1).tensors[0];
         p.at(1).tensors[1].name = "Tensor1";
         p.launch(1).symbols = p.launch(3).symbols;
         std::erase_if(p.launch(1).symbols, [](const auto &s) { return s.second.base != 1; });
       },
       "lost", "sdsc_1.json (mul)", "Tensor2", 0, kLX, 0},
      {"other core's LX", makeLXChain,
       [](FaultProgram &p) { p.at(0).tensors[1].startAddress[3] = 8192; }, "other-cores-lx",
       "sdsc_1.json (mul)", "Tensor0", 3, kLX, 0},
      {"other core's slice in LX", makeLXChain,
       [](FaultProgram &p) { std::swap(p.at(3).coreToSlice[1], p.at(3).coreToSlice[2]); },
       "wrong-slice", "sdsc_3.json (mul)", "Tensor0", 1, kLX, 4096},
      {"other division in LX", makeShuffle, [](FaultProgram &p) { moveLX(2, 0, 0)(p); },
       "wrong-slice", "sdsc_2.json (neg)", "Tensor0", 1, kLX, 0},
      {"relayout from other slices", makeShuffle,
       [](FaultProgram &p) {
         auto &slices = p.at(1).tensors[0].coreToSlice;
         std::swap(slices[0], slices[1]);
       },
       "wrong-slice", "sdsc_1.json (shuffle)", "Tensor0", 1, kLX, 0},
      {"relayout of a slice that nobody has", makeShuffle,
       [](FaultProgram &p) { p.at(1).tensors[0].coreToSlice[3][0].second = 2; }, "error",
       "sdsc_1.json (shuffle)", "Tensor0", kAnyCore, kAnywhere, 0, "3 of its 4 pieces"},
      {"read from the launch before", makeLXChain,
       [](FaultProgram &p) { p.bundle.plan.steps.erase(p.bundle.plan.steps.begin()); },
       "never-written", "sdsc_1.json (mul)", "Tensor0", 0, kLX, 0},
      {"operations in another order", makeSoftmax,
       [](FaultProgram &p) { std::swap(p.bundle.plan.steps[2], p.bundle.plan.steps[3]); },
       "never-written", "sdsc_3.json (sum)", "Tensor0", 0, kPool, 4096 + 8192},
      // Operands, symbols, indices.
      {"missing operand", makePointwise,
       [](FaultProgram &p) {
         p.at(0).tensors.erase(p.at(0).tensors.begin() + 1);
         p.at(0).inputs = {0};
         p.at(0).outputs = {1};
         std::erase_if(p.launch(0).symbols, [](const auto &s) { return s.second.base == 1; });
       },
       "error", add, "Tensor0", kAnyCore, kAnywhere, 0, "add takes 2"},
      {"operand that is no input", makePointwise, [](FaultProgram &p) { p.at(0).inputs = {0}; },
       "error", add, "Tensor1"},
      {"missing constant", makeLayerNorm, [](FaultProgram &p) { p.at(1).constants.clear(); },
       "error", "sdsc_1.json (layernormscale)", "", kAnyCore, kAnywhere, 0, "eps"},
      {"unbound symbol", makePointwise, [](FaultProgram &p) { p.launch(0).symbols.pop_back(); },
       "error", add, "Tensor2", kAnyCore, kAnywhere, 0, "nothing is bound to symbol"},
      {"symbol bound twice", makePointwise,
       [](FaultProgram &p) { p.launch(0).symbols.push_back(p.launch(0).symbols[5]); }, "error", add,
       "Tensor1", kAnyCore, kAnywhere, 0, "bound twice"},
      {"stale symbol", makePointwise,
       [](FaultProgram &p) { p.launch(0).symbols.emplace_back(-99, p.symbol(0, 0, 1)); },
       "stale-symbol", add, "symbol -99", kHost, 0, 1024},
      {"symbol of the iteration before", makeLoop,
       [](FaultProgram &p) { p.symbol(0, 0, 2).strideInBytes = {0}; }, "wrong-slice",
       "sdsc_0.json (exp), iteration 1", "Tensor0", 2, 0, 2 * 1024},
      {"loop that does not move its result", makeLoop,
       [](FaultProgram &p) {
         for (int core = 0; core < 4; ++core)
           p.symbol(0, 1, core).strideInBytes = {0};
       },
       "never-written", "copy-out of arg1", "arg1", kHost, 1, 32 * 128},
      {"one iteration too many", makeLoop,
       [](FaultProgram &p) { std::get<Loop>(p.bundle.plan.steps[0].content).count = 5; },
       "out-of-bounds", "sdsc_0.json (exp), iteration 4", "Tensor0", 0, 0, 32768},
      {"one iteration too many, as a size says", makeLoop,
       [](FaultProgram &p) {
         TripCount count;
         count.terms = {{0, 1}};
         std::get<Loop>(p.bundle.plan.steps[0].content).count = count;
         p.bundle.plan.sizes.push_back({"n", 0, 1, 5, 1});
         p.bundle.sizes = {5};
       },
       "out-of-bounds", "sdsc_0.json (exp), iteration 4", "Tensor0", 0, 0, 32768},
      {"row number after the end", makeGather,
       [](FaultProgram &p) { reinterpret_cast<int32_t *>(p.arrays[0].data.data())[9] = 50; },
       "out-of-bounds", "sdsc_0.json (identity)", "Tensor1", 0, 1, 50 * 128},
      {"negative row number", makeGather,
       [](FaultProgram &p) { reinterpret_cast<int32_t *>(p.arrays[0].data.data())[9] = -1; },
       "out-of-bounds", "sdsc_0.json (identity)", "Tensor1", 0, 1, -128},
      {"index without its table", makeGather,
       [](FaultProgram &p) { p.at(0).tensors[0].relatedAllocation = "allocate-Tensor7_hbm"; },
       "error", "sdsc_0.json (identity)", "Tensor0"},
      {"numbers from a table of numbers", makeGather, rebind(0, 0, 1, 0), "wrong-format",
       "sdsc_0.json (identity)", "Tensor0", 0, 1, 0},
      {"operation of no known meaning", makePointwise,
       [](FaultProgram &p) { p.at(0).opFunc = "conv2d"; }, "error", "sdsc_0.json (conv2d)", ""},
  };
}

/// What \p outcome lacks of what \p fault must say; empty: nothing.
std::string check(const Fault &fault, const Outcome &outcome) {
  if (fault.kind == "error") {
    for (const std::string &part : {fault.op, fault.tensor, fault.message})
      if (outcome.error.find(part) == std::string::npos)
        return "an error that says '" + part + "'";
    return outcome.error.empty() ? "an error" : "";
  }
  if (!outcome.error.empty())
    return "no error";
  int64_t address = fault.offset;
  if (fault.space == kPool)
    address += outcome.pool;
  else if (fault.space >= 0)
    address += outcome.arguments[fault.space];
  for (const Report &report : outcome.reports)
    if (getReportKindName(report.kind) == fault.kind && report.op == fault.op &&
        report.tensor == fault.tensor && (fault.core == kAnyCore || report.core == fault.core) &&
        (fault.space == kAnywhere || report.address == address) &&
        report.message.find(fault.message) != std::string::npos &&
        report.message.find(fault.tensor) != std::string::npos)
      return "";
  return fault.kind + " of " + fault.op + ", " + fault.tensor + ", core " +
         std::to_string(fault.core) + ", address " + std::to_string(address);
}

TEST(FaultCatalogue, SoundBundlesRunWithoutAWord) {
  for (auto base :
       {makePointwise, makeSoftmax, makeMatmul, makePaddedMatmul, makeLXChain, makeShuffle,
        makeGather, makeLoop, makeRestickify, makeCasts, makeLayerNorm, makeHeads})
    EXPECT_EQ(describe(run(base())), "nothing");
}

TEST(FaultCatalogue, EveryFaultIsFoundAndNamed) {
  size_t numFaults = 0;
  for (const Fault &fault : getCatalogue()) {
    FaultProgram program = fault.base();
    fault.inject(program);
    Outcome outcome = run(program);
    std::string lacks = check(fault, outcome);
    EXPECT_EQ(lacks, "") << fault.name << " gave " << describe(outcome);
    ++numFaults;
  }
  EXPECT_GE(numFaults, 50u);
}

/// What is reported, and in which order, does not depend on the threads.
TEST(FaultCatalogue, ReportsDoNotDependOnThreads) {
  for (const Fault &fault : getCatalogue()) {
    FaultProgram program = fault.base();
    fault.inject(program);
    std::string one = describe(run(program, 1));
    EXPECT_EQ(describe(run(program, 7)), one) << fault.name;
  }
}

} // namespace
