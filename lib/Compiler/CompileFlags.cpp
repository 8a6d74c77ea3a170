//===- CompileFlags.cpp - Command-line flags of a compilation -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/CompileFlags.h"

#include "spyre/Device/Rates.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

spyre::compiler::CompileFlags::CompileFlags(cl::OptionCategory &category)
    : optLevel("O", cl::Prefix, cl::desc("Optimisation level 0 to 3 (default 2)"), cl::init(2),
               cl::cat(category)),
      cores("cores", cl::desc("Cores to use (default: one at -O0, else all)"), cl::init(0),
            cl::cat(category)),
      target("target", cl::desc("superdsc (default) or ktir"), cl::init("superdsc"),
             cl::cat(category)),
      form("superdsc-form", cl::desc("Form of descriptors: 2026-08 (default) or 2026-06"),
           cl::init("2026-08"), cl::cat(category)),
      device("device", cl::desc("Device variant (default spyre)"), cl::init("spyre"),
             cl::cat(category)),
      rates("rates",
            cl::desc("Measured rates in the place of the device's; spyre-solve rates prints such "
                     "a file"),
            cl::value_desc("file"), cl::cat(category)),
      weights("weights",
              cl::desc("Arguments that are weights, e.g. in1,in3-in9: laid out on the device as "
                       "their readers want them"),
              cl::value_desc("list"), cl::cat(category)),
      host("host",
           cl::desc("Operations that may run on the host: none, table (default: those of the "
                    "runtime's own host functions), any (PyTorch runs them)"),
           cl::init("table"), cl::cat(category)),
      costModel(
          "cost-model",
          cl::desc("Model of modelled_us: published (default, the only one so far): the rates "
                   "of published measurements"),
          cl::init("published"), cl::cat(category)),
      planKind("plan-kind",
               cl::desc("best (default): the plan that takes least in the cost model; untiled, "
                        "tiled, banded or carried: one of that kind, to compare them"),
               cl::init("best"), cl::cat(category)),
      precision("precision",
                cl::desc("default: f32 as accurate as f32, 16-bit types in the device's 16-bit "
                         "format; strict: those, too, as accurate as PyTorch's; fast: products of "
                         "f32 with 16-bit factors and results"),
                cl::init("default"), cl::cat(category)),
      planSeed(
          "plan-seed",
          cl::desc("With a plan of kind tiled, banded or carried, for tests: tiles as this number "
                   "draws them among the legal ones, whatever they take; 0 (default): the best"),
          cl::init(0), cl::cat(category)),
      plan("plan", cl::desc("Plan the program as this file says, where it says anything"),
           cl::value_desc("file"), cl::cat(category)),
      savePlan("save-plan", cl::desc("Write the plan as such a file"), cl::value_desc("file"),
               cl::cat(category)),
      saveAddresses("save-addresses", cl::desc("With --save-plan: also where in LX results lie"),
                    cl::cat(category)),
      planSeconds(
          "plan-seconds",
          cl::desc("Seconds for each kind of plan to look at more tiles than usual; what "
                   "they find depends on the machine where they do not suffice (default 0)"),
          cl::init(0), cl::cat(category)),
      dumpStages("dump-stages", cl::desc("Write the program after each stage into this folder"),
                 cl::value_desc("dir"), cl::cat(category)),
      report("report", cl::desc("Write an HTML page about the compiled program"),
             cl::value_desc("file"), cl::cat(category)),
      exactArguments("exact-arguments",
                     cl::desc("f16 arguments are f32 on the device where the bit decides that its "
                              "16-bit format lacks (default true)"),
                     cl::init(true), cl::cat(category)),
      exactResults("exact-results",
                   cl::desc("Operations elsewhere may decide by the results' f16 numbers: those "
                            "of arguments stay exact where they were chosen, too"),
                   cl::cat(category)),
      movesOnHost("moves-on-host", cl::desc("A program that only moves data runs on the host"),
                  cl::cat(category)),
      provenance("superdsc-provenance",
                 cl::desc("Descriptors name the operation and place they came from (default true; "
                          "form 2026-08 only)"),
                 cl::init(true), cl::cat(category)),
      reportSeconds("report-seconds",
                    cl::desc("Say in the report how long stages took; it then differs each time"),
                    cl::cat(category)),
      pretty("pretty", cl::desc("Indent JSON"), cl::cat(category)) {}

/// "in1,in3-in9" as positions; false if \p text is something else.
static bool parseWeights(StringRef text, std::vector<unsigned> &positions) {
  SmallVector<StringRef> terms;
  text.split(terms, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  constexpr unsigned kMost = 1u << 16;
  for (StringRef term : terms) {
    auto [first, last] = term.split('-');
    unsigned from, to;
    if (!first.consume_front("in") || first.getAsInteger(10, from))
      return false;
    to = from;
    if (term.contains('-') && (!last.consume_front("in") || last.getAsInteger(10, to)))
      return false;
    if (to < from || to >= kMost)
      return false;
    for (unsigned i = from; i <= to; ++i)
      positions.push_back(i);
  }
  return true;
}

std::variant<spyre::compiler::CompileOptions, std::string>
spyre::compiler::makeOptions(const CompileFlagValues &flags) {
  CompileOptions options;
  if (flags.optLevel < 0 || flags.optLevel > 3)
    return "-O" + std::to_string(flags.optLevel) + ": optimisation levels are 0 to 3";
  if (flags.target != "superdsc" && flags.target != "ktir")
    return "--target=" + flags.target + ": known targets are superdsc and ktir";
  if (flags.form != "2026-06" && flags.form != "2026-08")
    return "--superdsc-form=" + flags.form + ": known forms are 2026-06 and 2026-08";
  std::optional<Device> found = Device::lookup(flags.device);
  if (!found) {
    std::string message = "--device=" + flags.device + ": known variants are";
    for (std::string_view name : Device::getVariantNames())
      message += " " + std::string(name);
    return message;
  }
  if (!flags.ratesFile.empty()) {
    auto read = readRatesFile(flags.ratesFile, *found);
    if (auto *message = std::get_if<std::string>(&read))
      return *message;
    options.rates = std::get<RateValues>(std::move(read));
  } else {
    auto replaced = replaceRates(*found, flags.rates);
    if (auto *mistakes = std::get_if<RateMistakes>(&replaced))
      return mistakes->toString("--rates");
    options.rates = flags.rates;
  }
  if (flags.cores < 0 || flags.cores > found->getNumCores())
    return "--cores=" + std::to_string(flags.cores) + ": the device has " +
           std::to_string(found->getNumCores()) + " cores";
  if (flags.host != "none" && flags.host != "table" && flags.host != "any")
    return "--host=" + flags.host + ": known choices are none, table and any";
  if (flags.costModel != "published")
    return "--cost-model=" + flags.costModel + ": the only model so far is published";
  std::optional<PlanKind> planKind = parseName<PlanKind>(flags.planKind);
  if (!planKind)
    return "--plan-kind=" + flags.planKind + ": known kinds are " + listNames(PlanKind::Best);
  if (flags.precision == "strict")
    options.precision = Precision::Strict;
  else if (flags.precision == "fast")
    options.precision = Precision::Fast;
  else if (flags.precision != "default")
    return "--precision=" + flags.precision + ": known choices are default, strict and fast";
  if (!parseWeights(flags.weights, options.weights))
    return "--weights=" + flags.weights +
           ": a list of arguments or ranges is wanted, e.g. in1,in3-in9";
  if (flags.planSeed < 0)
    return "--plan-seed=" + std::to_string(flags.planSeed) + ": a number from 0 on is wanted";
  options.planKind = *planKind;
  options.planSeed = flags.planSeed;
  options.plan = flags.plan;
  options.savePlan = flags.savePlan;
  options.saveAddresses = flags.saveAddresses;
  if (flags.saveAddresses && flags.savePlan.empty())
    return "--save-addresses: is of --save-plan, which is missing";
  constexpr double kMostSeconds = 1e6;
  if (!(flags.planSeconds >= 0 && flags.planSeconds <= kMostSeconds))
    return "--plan-seconds=" + std::to_string(flags.planSeconds) +
           ": a number of seconds from 0 on is wanted";
  options.planSeconds = flags.planSeconds;
  options.optLevel = flags.optLevel;
  options.cores = flags.cores;
  options.device = flags.device;
  options.target = flags.target;
  options.superdscForm = flags.form;
  options.superdscProvenance = flags.provenance;
  options.exactArguments = flags.exactArguments;
  options.exactResults = flags.exactResults;
  options.movesOnHost = flags.movesOnHost;
  options.host = flags.host == "none"  ? HostPolicy::None
                 : flags.host == "any" ? HostPolicy::Any
                                       : HostPolicy::Table;
  options.pretty = flags.pretty;
  options.dumpStages = flags.dumpStages;
  options.report = flags.report;
  options.reportSeconds = flags.reportSeconds;
  return options;
}

std::variant<spyre::compiler::CompileOptions, std::string>
spyre::compiler::CompileFlags::getOptions() const {
  // 0 is what no flag means; asked for, it is no number of cores.
  if (cores.getNumOccurrences() && cores < 1)
    return "--cores=" + std::to_string(cores) + ": at least one core is needed";
  CompileFlagValues values{optLevel,   cores,  target,  form, device,
                           dumpStages, report, weights, host, costModel};
  values.planKind = planKind;
  values.precision = precision;
  values.ratesFile = rates;
  values.planSeed = planSeed;
  values.plan = plan;
  values.savePlan = savePlan;
  values.saveAddresses = saveAddresses;
  values.planSeconds = planSeconds;
  values.pretty = pretty;
  values.reportSeconds = reportSeconds;
  values.provenance = provenance;
  values.exactArguments = exactArguments;
  values.exactResults = exactResults;
  values.movesOnHost = movesOnHost;
  auto options = makeOptions(values);
  if (auto *made = std::get_if<CompileOptions>(&options)) {
    // MLIR's own flag; its default is true.
    const auto &flags = cl::getRegisteredOptions();
    auto shown = flags.find("mlir-print-op-on-diagnostic");
    made->showOperations = shown != flags.end() && shown->second->getNumOccurrences() > 0;
    made->configure = [](mlir::PassManager &pm) {
      mlir::applyDefaultTimingPassManagerCLOptions(pm);
      return mlir::applyPassManagerCLOptions(pm);
    };
  }
  return options;
}

void spyre::compiler::releaseFlag(StringRef name) {
  auto &registered = cl::getRegisteredOptions();
  auto it = registered.find(name);
  if (it != registered.end())
    it->second->removeArgument();
}

void spyre::compiler::registerMLIRFlags() {
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
}

std::optional<int> spyre::compiler::parseCommandLine(int argc, char **argv, const char *overview,
                                                     cl::OptionCategory &category) {
  cl::HideUnrelatedOptions(category);
  // With a stream for errors the parser returns instead of leaving with 1.
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &errs()))
    return 2;
  return std::nullopt;
}
