//===- Compile.cpp - From a file to a program directory -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses, runs the pipeline stage by stage and writes the program directory.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/Compile.h"

#include "spyre/Artifact/Program.h"
#include "spyre/Compiler/ConstantData.h"
#include "spyre/Compiler/HostChoice.h"
#include "spyre/Compiler/Pipelines.h"
#include "spyre/Compiler/PlanChoice.h"
#include "spyre/Compiler/PlanFacts.h"
#include "spyre/Compiler/PlanSchedules.h"
#include "spyre/Compiler/ProgramGraph.h"
#include "spyre/Compiler/ReportFacts.h"
#include "spyre/Conversion/SpyreToSuperDSC/SpyreToSuperDSC.h"
#include "spyre/Conversion/TorchToSpyre/TorchToSpyre.h"
#include "spyre/Device/Device.h"
#include "spyre/Dialect/Spyre/IR/ModuleDevice.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Spyre/Transforms/L2/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L3/LaunchSpec.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Schedules.h"
#include "spyre/Dialect/Torch/IR/TorchOps.h"
#include "spyre/SuperDSC/DeviceLimits.h"
#include "spyre/Support/AtomicDirectory.h"
#include "spyre/Support/Nesting.h"
#include "spyre/Target/SuperDSC/BundleDirectory.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>
#include <map>

using namespace mlir;
namespace artifact = ::spyre::artifact;

namespace {
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

class Compilation {
public:
  Compilation(const std::string &inputFile, const ::spyre::compiler::CompileOptions &options,
              ::spyre::compiler::CompileStats &stats, MLIRContext &context)
      : inputFile(inputFile), options(options), stats(stats), context(context),
        sources(std::make_shared<llvm::SourceMgr>()) {
    if (options.onDiagnostic)
      collected.emplace(&context, [&](Diagnostic &diag) { options.onDiagnostic(diag); });
    else
      diagnostics.emplace(*sources, &context);
  }

  /// Compiles \p input, or what inputFile holds if there is none.
  LogicalResult run(std::unique_ptr<llvm::MemoryBuffer> input, const std::string &outputDirectory);

private:
  LogicalResult parse(std::unique_ptr<llvm::MemoryBuffer> file);
  /// \p finish: what is done to each part, by its number, before it is written as it is then;
  /// where the stage has failed for it, it may still save it, or fail where it has not.
  LogicalResult runStage(StringRef name, function_ref<void(OpPassManager &)> build,
                         function_ref<LogicalResult(size_t part, bool hasPassed)> finish = {});
  LogicalResult dump(StringRef name);
  /// \p part as text; large constants elided if \p elide.
  static std::string print(ModuleOp part, bool elide);
  /// The module, or all bundles.
  SmallVector<ModuleOp> getParts();
  /// From functions of torch, or a later level, to descriptors; fills the graph.
  LogicalResult lower(int level, bool fromTorch, bool isSplit);
  /// From planned functions to bundles as they are written.
  LogicalResult emit();
  /// The same with the host for what the device cannot do.
  LogicalResult lowerWithHost();
  /// Whether a device operation of any part does more than to move or convert.
  bool computes();
  LogicalResult write(const std::string &outputDirectory);
  LogicalResult writeReport();
  /// Notes what the module consists of after a stage, if there is to be a report.
  void countStage(StringRef name, double seconds);
  /// Writes the kernel of bundle \p bundle beside its launch spec.
  LogicalResult writeKernel(::spyre::AtomicDirectory &directory, size_t bundle);
  LogicalResult writeConstants(::spyre::AtomicDirectory &directory);
  /// Notes what the planned bundles move, take and are called with.
  void collectFacts();
  LogicalResult fail(const Twine &message) {
    return emitError(UnknownLoc::get(&context)) << message;
  }

  const std::string &inputFile;
  const ::spyre::compiler::CompileOptions &options;
  ::spyre::compiler::CompileStats &stats;
  MLIRContext &context;
  std::shared_ptr<llvm::SourceMgr> sources;
  /// Shows the source line at each diagnostic, in every stage.
  std::optional<SourceMgrDiagnosticHandler> diagnostics;
  /// Passes them on instead.
  std::optional<ScopedDiagnosticHandler> collected;
  /// The program while it is one module; then it is in the graph.
  OwningOpRef<ModuleOp> module;
  ::spyre::RateValues rates; ///< of the options and of the module
  ::spyre::compiler::ProgramGraph graph;
  std::vector<mlir::sdsc::Bundle> bundles; ///< of the graph, as they are written
  bool mayBeIdle = false;                  ///< a program that only moves is not to be lowered
  bool isIdle = false;                     ///< that is what the last one is
  unsigned stageIndex = 0;
  /// Modules that the last stage failed for.
  SmallVector<ModuleOp> failedParts;
  /// What the callers of the planned bundles pass.
  std::vector<artifact::LaunchSpec> launchSpecs;
  ::spyre::planning::Schedules asked; ///< by --plan
  std::vector<std::string> functionNames;
  bool isPlanRefused = false;          ///< nothing that the host could help with
  ::spyre::planning::Schedules chosen; ///< for --save-plan
  /// Elements of the constants that are arguments, by bundle and array name.
  std::map<std::pair<size_t, std::string>, ElementsAttr> constants;
  std::vector<::spyre::report::Stage> reportStages;
};
} // namespace

LogicalResult Compilation::parse(std::unique_ptr<llvm::MemoryBuffer> file) {
  Clock::time_point start = Clock::now();
  std::string message;
  if (!file)
    file = openInputFile(inputFile, &message);
  if (!file)
    return fail(message);
  StringRef text = file->getBuffer();
  sources->AddNewSourceBuffer(std::move(file), SMLoc());
  if (auto place = ::spyre::findTooDeepNesting(std::string_view(text.data(), text.size())))
    return emitError(FileLineColLoc::get(&context, inputFile, place->line, place->column))
           << "nested deeper than " << ::spyre::kMaxTextNesting << " levels";
  module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return failure();
  stats.stages.emplace_back("parse", secondsSince(start));
  countStage("parse", stats.stages.back().second);

  SmallVector<func::FuncOp> publicFunctions;
  for (auto func : module->getOps<func::FuncOp>())
    if (func.isPublic() && !func.isExternal())
      publicFunctions.push_back(func);
  if (publicFunctions.size() != 1) {
    InFlightDiagnostic diag = module->emitError()
                              << "a program is a module with one public function; this one has "
                              << publicFunctions.size();
    for (func::FuncOp func : publicFunctions)
      diag.attachNote(func.getLoc()) << "@" << func.getName();
    return diag;
  }
  if (!(*module)->hasAttr(mlir::spyre::kDeviceAttr))
    (*module)->setAttr(mlir::spyre::kDeviceAttr, StringAttr::get(&context, options.device));
  mlir::spyre::addRates(*module, options.rates);
  rates = mlir::spyre::getRates(*module);
  // The module may name a device that the rates do not fit to.
  return success(rates.empty() || succeeded(mlir::spyre::getDevice(*module)));
}

/// The level that the arguments of \p module's functions are of: 3 with buffers, 2
/// with laid-out tensors, else 1 or torch.
static int getLevel(ModuleOp module) {
  int level = 1;
  for (auto func : module.getOps<func::FuncOp>())
    for (Type type : func.getArgumentTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (isa<mlir::spyre::BufferType>(type))
        level = 3;
      else if (tensor && isa_and_nonnull<mlir::spyre::LayoutAttr>(tensor.getEncoding()))
        level = std::max(level, 2);
    }
  return level;
}

/// Marks the arguments at \p positions of the program as weights. \p problem: what is
/// wrong with them, in the words of the option.
static LogicalResult markWeights(ModuleOp module, ArrayRef<unsigned> positions,
                                 std::string &problem) {
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func.isPublic())
      continue;
    for (unsigned position : positions) {
      unsigned count = func.getNumArguments();
      if (position >= count) {
        problem = "--weights: there is no in" + std::to_string(position) + "; the program has " +
                  (count == 0   ? "no arguments"
                   : count == 1 ? "one argument, in0"
                                : std::to_string(count) + " arguments, in0 to in" +
                                      std::to_string(count - 1));
        return failure();
      }
      func.setArgAttr(position, mlir::spyre::kWeightAttr, UnitAttr::get(func.getContext()));
    }
  }
  return success();
}

/// True if \p module has operations or arguments of torch.
static bool isFromTorch(ModuleOp module) {
  auto isOfTorch = [](Dialect &dialect) { return dialect.getNamespace() == "torch"; };
  for (auto func : module.getOps<func::FuncOp>())
    if (llvm::any_of(func.getArgumentTypes(),
                     [&](Type type) { return isOfTorch(type.getDialect()); }))
      return true;
  return module
      .walk([](Operation *op) {
        bool isTorch = op->getName().getDialectNamespace() == "torch";
        return isTorch ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True if an argument of \p module's program has a size that is not known.
static bool hasOpenSizes(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    if (func.isPublic() && llvm::any_of(func.getArgumentTypes(), [](Type type) {
          std::optional<ArrayRef<int64_t>> sizes = torch_reader::getTensorShape(type);
          return sizes && llvm::is_contained(*sizes, ShapedType::kDynamic);
        }))
      return true;
  return false;
}

SmallVector<ModuleOp> Compilation::getParts() {
  SmallVector<ModuleOp> parts;
  if (module)
    parts.push_back(*module);
  for (OwningOpRef<ModuleOp> &bundle : graph.bundles)
    parts.push_back(*bundle);
  return parts;
}

std::string Compilation::print(ModuleOp part, bool elide) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  if (elide) {
    flags.elideLargeElementsAttrs(16);
    flags.elideLargeResourceString(64);
  }
  part->print(os, flags);
  text += '\n';
  return text;
}

LogicalResult Compilation::dump(StringRef name) {
  if (options.dumpStages.empty())
    return success();
  if (std::error_code error = llvm::sys::fs::create_directories(options.dumpStages))
    return fail("cannot make folder '" + options.dumpStages + "': " + error.message());
  std::string path =
      options.dumpStages + "/" + std::to_string(stageIndex++) + "-" + name.str() + ".mlir";
  // Bundles one after another, as -split-input-file reads them.
  std::string text;
  for (ModuleOp part : getParts())
    text += (text.empty() ? "" : "// -----\n\n") + print(part, /*elide=*/true);
  if (auto message = ::spyre::writeFileAtomically(
          path, [&](std::ostream &out) { out.write(text.data(), text.size()); }))
    return fail(*message);
  return success();
}

LogicalResult Compilation::runStage(StringRef name, function_ref<void(OpPassManager &)> build,
                                    function_ref<LogicalResult(size_t, bool)> finish) {
  Clock::time_point start = Clock::now();
  PassManager pm(&context);
  if (options.configure && failed(options.configure(pm)))
    return failure();
  build(pm);
  // All bundles, whatever happens to one: all errors in one run.
  bool ok = true;
  failedParts.clear();
  for (auto [i, part] : llvm::enumerate(getParts())) {
    // Nothing is said of a part that is saved.
    std::vector<Diagnostic> held;
    std::optional<ScopedDiagnosticHandler> holder;
    if (finish)
      holder.emplace(&context, [&](Diagnostic &diagnostic) {
        held.push_back(std::move(diagnostic));
        return success();
      });
    bool hasPassed = succeeded(pm.run(part));
    holder.reset();
    const bool isDone = finish ? succeeded(finish(i, hasPassed)) : hasPassed;
    if (hasPassed || !isDone)
      for (Diagnostic &diagnostic : held)
        context.getDiagEngine().emit(std::move(diagnostic));
    if (!isDone) {
      ok = false;
      failedParts.push_back(part);
    }
  }
  if (!ok)
    return failure();
  stats.stages.emplace_back(name.str(), secondsSince(start));
  countStage(name, stats.stages.back().second);
  return dump(name);
}

void Compilation::countStage(StringRef name, double seconds) {
  if (!options.report.empty())
    reportStages.push_back({name.str(), seconds, ::spyre::compiler::countOperations(getParts())});
}

LogicalResult Compilation::writeReport() {
  if (options.report.empty())
    return success();
  ::spyre::report::Program program =
      ::spyre::compiler::makeReport(inputFile, options, rates, stats, std::move(reportStages));
  if (auto message = ::spyre::writeFileAtomically(options.report, [&](std::ostream &os) {
        ::spyre::report::writeHtml(program, os, {.seconds = options.reportSeconds});
      }))
    return fail(*message);
  return success();
}

LogicalResult Compilation::writeKernel(::spyre::AtomicDirectory &directory, size_t bundle) {
  std::string folder = "bundles/" + std::to_string(bundle) + "/";
  std::string text = print(*graph.bundles[bundle], /*elide=*/false);
  if (auto message = directory.write(folder + "kernel.ktir.mlir",
                                     [&](std::ostream &os) { os.write(text.data(), text.size()); }))
    return fail(*message);
  if (auto message = directory.write(folder + "launch_spec.json", [&](std::ostream &os) {
        artifact::writeLaunchSpec(launchSpecs[bundle], os, options.pretty);
      }))
    return fail(*message);
  return success();
}

LogicalResult Compilation::writeConstants(::spyre::AtomicDirectory &directory) {
  auto writeConstant = [&](ElementsAttr elements, const std::string &file) -> LogicalResult {
    std::optional<::spyre::npz::Array> array = ::spyre::compiler::toArray(elements);
    if (!array)
      return fail("the elements of a constant of type " + Twine(toString(elements.getType())) +
                  " are not in the input; export the module with its constants");
    std::string bytes = ::spyre::npz::serializeNpy(*array);
    if (auto message =
            directory.write(file, [&](std::ostream &os) { os.write(bytes.data(), bytes.size()); }))
      return fail(*message);
    return success();
  };
  for (const auto &[key, elements] : constants)
    if (failed(writeConstant(elements,
                             ::spyre::compiler::getConstantFile(graph, key.first, key.second))))
      return failure();
  for (const ::spyre::compiler::HostConstant &constant : graph.constants)
    if (failed(writeConstant(constant.elements, "constants/" + constant.array.name + ".npy")))
      return failure();
  return success();
}

LogicalResult Compilation::write(const std::string &outputDirectory) {
  Clock::time_point start = Clock::now();
  if (launchSpecs.size() != graph.bundles.size())
    return emitError(bundles.empty() ? UnknownLoc::get(&context) : bundles.front().location)
           << "the program's arguments have no roles (spyre.role), so that it cannot be launched";
  artifact::Program program = ::spyre::compiler::makeProgram(graph, launchSpecs, options.device);
  program.target = options.target;
  program.rates = rates;
  stats.hostCalls = artifact::countHostCalls(program);
  for (const artifact::ProgramStep &step : program.steps)
    if (const auto *call = std::get_if<artifact::HostCall>(&step.content);
        call && stats.hostCalls.count(call->function))
      stats.hostFacts.push_back({call->function, call->reason, call->location});
  ::spyre::AtomicDirectory directory;
  if (auto message = directory.open(outputDirectory, {"program.json"}))
    return fail(*message);
  if (options.target == "ktir") {
    for (size_t i = 0; i < graph.bundles.size(); ++i)
      if (failed(writeKernel(directory, i)))
        return failure();
  } else {
    ::spyre::sdsc::WriteOptions writeOptions;
    writeOptions.form = options.superdscForm == "2026-06" ? ::spyre::sdsc::Form::June2026
                                                          : ::spyre::sdsc::Form::August2026;
    writeOptions.pretty = options.pretty;
    writeOptions.provenance = options.superdscProvenance;
    for (auto [i, bundle] : llvm::enumerate(bundles))
      if (failed(mlir::sdsc::writeBundleFiles(bundle, directory,
                                              "bundles/" + std::to_string(i) + "/", writeOptions)))
        return failure();
  }
  if (failed(writeConstants(directory)))
    return failure();
  if (auto message = directory.write("program.json", [&](std::ostream &os) {
        artifact::writeProgram(program, os, options.pretty);
      }))
    return fail(*message);
  if (auto message = directory.commit())
    return fail(*message);
  stats.stages.emplace_back("write", secondsSince(start));
  return success();
}

void Compilation::collectFacts() {
  for (auto [i, bundle] : llvm::enumerate(graph.bundles))
    for (auto func : bundle->getOps<func::FuncOp>()) {
      int64_t largestPool = std::exchange(stats.poolInBytes, 0);
      ::spyre::compiler::collectPlanFacts(func, graph.getNumLaunches(i), stats);
      if (std::optional<artifact::LaunchSpec> spec =
              func.isExternal() ? std::nullopt : mlir::spyre::makeLaunchSpec(func)) {
        spec->poolInBytes = stats.poolInBytes;
        launchSpecs.push_back(std::move(*spec));
      }
      stats.poolInBytes = std::max(stats.poolInBytes, largestPool);
      for (unsigned arg = 0; arg < func.getNumArguments(); ++arg)
        if (auto data = func.getArgAttrOfType<ElementsAttr>(arg, mlir::spyre::kDataAttr))
          constants[{i, func.getArgAttrOfType<StringAttr>(arg, mlir::spyre::kArrayAttr).str()}] =
              data;
    }
}

LogicalResult Compilation::lower(int level, bool fromTorch, bool isSplit) {
  using ::spyre::compiler::PlanKind;
  stats.plans.clear();
  ::spyre::compiler::LowerOptions lower;
  lower.optLevel = options.optLevel;
  lower.precision = options.precision;
  lower.cores = options.cores;
  lower.tileSeed = options.planSeed;
  lower.planSeconds = options.planSeconds;
  lower.recordPlan = !options.savePlan.empty();
  lower.recordAddresses = lower.recordPlan && options.saveAddresses;
  mlir::spyre::SpyreVerifyProvenanceOptions provenance;
  provenance.operations = fromTorch;
  auto l1 = [&](OpPassManager &pm) { ::spyre::compiler::buildL1Stage(pm, lower); };
  auto l2 = [&](OpPassManager &pm) { ::spyre::compiler::buildL2Stage(pm, lower); };
  auto l3 = [&](OpPassManager &pm) {
    ::spyre::compiler::buildL3Stage(pm, lower, /*hasBuffers=*/level == 3);
    pm.addPass(mlir::spyre::createSpyreVerifyProvenance(provenance));
  };
  using ::spyre::compiler::HostNumbers;
  const bool isExact =
      options.exactArguments || options.precision == ::spyre::compiler::Precision::Strict;
  HostNumbers numbers = level != 1 || !isExact ? HostNumbers::Rounded
                        : options.exactResults ? HostNumbers::ExactResults
                                               : HostNumbers::Exact;
  FailureOr<::spyre::compiler::ProgramGraph> split =
      ::spyre::compiler::splitProgram(std::move(module), isSplit, numbers);
  if (failed(split))
    return failure();
  graph = std::move(*split);
  const bool hasChoice = options.optLevel >= 2 && level < 3;
  ::spyre::compiler::PlanSchedules schedules(asked,
                                             hasChoice ? PlanKind::Tiled : PlanKind::Untiled);
  chosen.clear();
  for (OwningOpRef<ModuleOp> &part : graph.bundles)
    if (failed(schedules.addPart(*part))) {
      isPlanRefused = true;
      return failure();
    }
  functionNames = schedules.getNames();
  if (level < 2 && failed(runStage("l1", l1)))
    return failure();
  // Nothing is said: lowerWithHost sends the operations to the host.
  isIdle = mayBeIdle && !computes();
  if (isIdle)
    return failure();
  std::vector<std::vector<::spyre::compiler::ProgramForm>> forms(graph.bundles.size());
  std::vector<OwningOpRef<ModuleOp>> unassigned; // without layouts
  if (hasChoice && level < 2)
    for (auto [part, bundle] : llvm::enumerate(graph.bundles)) {
      const PlanKind wanted = schedules.getKind(part, options.planKind);
      auto addBanded = [&, &bundle = bundle, part = part](PlanKind kind) {
        auto form = ::spyre::compiler::makeBandedForm(*bundle, kind, wanted == kind);
        if (form)
          forms[part].push_back(std::move(*form));
        return form.has_value();
      };
      const bool isBanded = addBanded(PlanKind::Banded);
      if (auto form = ::spyre::compiler::makeCarriedForm(*bundle))
        forms[part].push_back(std::move(*form));
      // Columns that stay are read once; parts of them are for those that no scratchpad holds.
      if (!isBanded || wanted == PlanKind::BandedCarried)
        addBanded(PlanKind::BandedCarried);
      unassigned.push_back(bundle->clone());
    }
  if (level < 3 && failed(runStage("l2", l2)))
    return failure();
  if (hasChoice)
    for (auto [part, bundle] : llvm::enumerate(graph.bundles)) {
      forms[part].insert(forms[part].begin(), {OwningOpRef<ModuleOp>(bundle->clone())});
      if (auto form = ::spyre::compiler::makeCarriedProductsForm(*bundle))
        forms[part].push_back(std::move(*form));
    }
  for (auto [part, program] : llvm::enumerate(unassigned))
    for (::spyre::compiler::ProgramForm &form :
         ::spyre::compiler::makeSearchedForms(*program, *graph.bundles[part]))
      forms[part].push_back(std::move(form));
  // What plans without tiles take says which others are worth making.
  for (auto &mine : forms)
    std::stable_partition(mine.begin(), mine.end(),
                          [](const auto &form) { return form.kind == PlanKind::Untiled; });
  for (auto [part, bundle] : llvm::enumerate(graph.bundles)) {
    const PlanKind kind = schedules.getKind(part, PlanKind::Untiled);
    if (schedules.isPinned(part) && !hasChoice && kind != PlanKind::Untiled)
      return fail("a plan of kind " + Twine(::spyre::getName(kind)) +
                  " needs -O2 or -O3, and a program without buffers");
    if (kind == PlanKind::Untiled && schedules.hasNests(part))
      return fail("the schedule has nests, and plans of kind untiled have none");
    schedules.apply(part, *bundle, PlanKind::Untiled, /*searchesLayouts=*/false);
    for (::spyre::compiler::ProgramForm &form : forms[part])
      schedules.apply(part, *form.program, form.kind, form.searchesLayouts);
  }
  auto choose = [&](size_t part, bool hasPassed) {
    PlanKind kind = PlanKind::Untiled;
    bool hasSearched = false;
    if (hasChoice) {
      ::spyre::compiler::PlanChoice choice(lower, schedules.getKind(part, options.planKind),
                                           schedules.isPinned(part),
                                           schedules.searchesLayouts(part));
      choice.setUntiled(graph.bundles[part], hasPassed);
      for (::spyre::compiler::ProgramForm &form : forms[part])
        choice.consider(std::move(form));
      hasPassed = choice.hasPlan();
      if (hasPassed && schedules.isPinned(part) && !choice.isWantedPlan()) {
        emitError(::spyre::compiler::getPlanLoc(context, options.plan))
            << "the schedule is for a plan of kind "
            << ::spyre::getName(schedules.getKind(part, PlanKind::Untiled))
            << (schedules.searchesLayouts(part) ? " in searched layouts" : "")
            << ", which the program has not";
        hasPassed = false;
      }
      kind = choice.getTimes().kind;
      hasSearched = choice.searchesLayouts();
      if (hasPassed)
        stats.plans.push_back(choice.getTimes());
    }
    isPlanRefused |= !hasPassed && schedules.isPinned(part);
    if (hasPassed)
      mlir::spyre::takeChosenSchedules(*graph.bundles[part], ::spyre::getName(kind), hasSearched,
                                       chosen);
    return success(hasPassed);
  };
  if (failed(runStage("planned", l3, choose)))
    return failure();
  collectFacts();
  if (options.target == "ktir")
    return runStage("ktir", ::spyre::compiler::buildKTIRPipeline);
  Clock::time_point start = Clock::now();
  if (failed(emit()))
    return failure();
  if (options.dumpStages.empty() && options.report.empty()) {
    stats.stages.emplace_back("superdsc", secondsSince(start));
    return success();
  }
  // Who wants to see it gets the same in MLIR.
  return runStage("superdsc", [&](OpPassManager &pm) {
    ::spyre::compiler::buildSuperDSCPipeline(pm, lower);
    pm.addPass(mlir::spyre::createSpyreVerifyProvenance(provenance));
  });
}

LogicalResult Compilation::emit() {
  bundles.clear();
  if (graph.bundles.empty())
    return success(); // the host computes all of it
  FailureOr<::spyre::Device> device = mlir::spyre::getDevice(*graph.bundles.front());
  if (failed(device))
    return failure();
  const ::spyre::sdsc::Limits limits = ::spyre::sdsc::getLimits(*device);
  failedParts.clear();
  // All bundles, whatever happens to one: all errors in one run.
  for (ModuleOp part : getParts())
    for (auto func : part.getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      FailureOr<mlir::sdsc::Bundle> bundle = mlir::spyre::emitBundle(func, {});
      if (failed(bundle) || failed(mlir::sdsc::verifyBundle(*bundle, limits)))
        failedParts.push_back(part);
      else
        bundles.push_back(std::move(*bundle));
    }
  return success(failedParts.empty());
}

bool Compilation::computes() {
  return llvm::any_of(getParts(), [](ModuleOp part) {
    return part
        ->walk([](mlir::spyre::DeviceOpInterface op) {
          const ::spyre::OpFuncInfo &info = op.getInfo();
          bool moves = info.category == ::spyre::OpCategory::DataMovement ||
                       info.stickRule == ::spyre::StickRule::Cast;
          return moves ? WalkResult::advance() : WalkResult::interrupt();
        })
        .wasInterrupted();
  });
}

LogicalResult Compilation::lowerWithHost() {
  // What is known is computed first: nobody has to be asked for it.
  if (failed(runStage("constants", [](OpPassManager &pm) {
        pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreFoldTorchConstants());
      })))
    return failure();
  ::spyre::compiler::HostChoice choice(std::move(module), options.host);
  const ::spyre::compiler::CompileStats statsBefore = stats;
  const size_t reportStagesBefore = reportStages.size();
  const unsigned stageBefore = stageIndex;
  mayBeIdle = options.movesOnHost;
  // What the host does is settled before a plan has to be obeyed: parts are named after it.
  ::spyre::planning::Schedules pending = std::exchange(asked, {});
  // Each round sends all operations to the host that it refuses, so that there are few.
  for (int64_t round = 1;; ++round) {
    std::vector<Diagnostic> said;
    bool lowered = false, isSplit = true;
    {
      ScopedDiagnosticHandler listener(&context, [&](Diagnostic &diagnostic) {
        said.push_back(std::move(diagnostic));
        return success();
      });
      module = choice.getProgram();
      if (choice.needsSplit())
        isSplit = succeeded(runStage("host", [](OpPassManager &pm) {
          mlir::spyre::SpyreSplitHostOptions split;
          split.force = true;
          pm.addPass(mlir::spyre::createSpyreSplitHost(split));
        }));
      lowered = isSplit && succeeded(lower(/*level=*/1, /*fromTorch=*/true, choice.needsSplit()));
    }
    std::vector<mlir::spyre::Refusal> refusals;
    for (const Diagnostic &diagnostic : said)
      llvm::append_range(refusals, mlir::spyre::getRefusals(diagnostic));
    if (std::exchange(isIdle, false)) {
      // What the host may not have is moved by the device: nobody asks again.
      choice.markAll("moves data that are on the host");
      mayBeIdle = false;
    } else if (lowered && !pending.empty()) {
      asked = std::exchange(pending, {});
    } else if (lowered || !isSplit || isPlanRefused || !choice.learn(refusals, failedParts)) {
      for (Diagnostic &diagnostic : said)
        context.getDiagEngine().emit(std::move(diagnostic));
      return success(lowered);
    }
    stats = statsBefore;
    stats.numPlacements = round;
    reportStages.resize(reportStagesBefore);
    stageIndex = stageBefore;
    graph = {};
    launchSpecs.clear();
    constants.clear();
  }
}

LogicalResult Compilation::run(std::unique_ptr<llvm::MemoryBuffer> input,
                               const std::string &outputDirectory) {
  Clock::time_point start = Clock::now();
  if (!options.showOperations)
    context.printOpOnDiagnostic(false);
  if (failed(parse(std::move(input))) || failed(dump("input")))
    return failure();
  if (!options.plan.empty() || !options.planText.empty()) {
    auto read = ::spyre::compiler::readPlan(context, options.plan, options.planText);
    if (failed(read))
      return failure();
    asked = std::move(*read);
  }
  int level = getLevel(*module);
  if (failed(markWeights(*module, options.weights, stats.usageError)))
    return failure();
  bool fromTorch = isFromTorch(*module);
  if (fromTorch && failed(runStage("shapes", [&](OpPassManager &pm) {
        mlir::spyre::SpyreSpecializeShapesOptions specialize;
        for (const std::vector<int64_t> &shape : options.inputShapes)
          specialize.shapes.push_back(mlir::spyre::toShapeText(shape));
        pm.addPass(mlir::spyre::createSpyreSpecializeShapes(specialize));
      })))
    return failure();
  stats.needsShapes = options.inputShapes.empty() && hasOpenSizes(*module);
  if (level == 1 && options.optLevel > 0 && failed(runStage("layers", [](OpPassManager &pm) {
        pm.addPass(mlir::spyre::createSpyreOutlineLayers());
      })))
    return failure();
  bool mayUseHost = level == 1 && fromTorch && options.host != ::spyre::compiler::HostPolicy::None;
  if (failed(mayUseHost ? lowerWithHost() : lower(level, fromTorch, /*isSplit=*/false)))
    return failure();
  stats.numBundles = static_cast<int64_t>(graph.bundles.size());
  for (const auto &[name, schedule] : asked)
    if (!llvm::is_contained(functionNames, name))
      return emitError(::spyre::compiler::getPlanLoc(context, options.plan))
             << "the plan has a function '" << name << "'; the program has "
             << llvm::join(functionNames, ", ");
  if (failed(write(outputDirectory)) || failed(writeReport()))
    return failure();
  if (!options.savePlan.empty())
    if (auto message = ::spyre::writeFileAtomically(options.savePlan, [&](std::ostream &os) {
          os << ::spyre::planning::writeSchedules(chosen);
        }))
      return fail(*message);
  stats.compileSeconds = secondsSince(start);
  return success();
}

namespace spyre::compiler {

LogicalResult compileFile(const std::string &inputFile, const std::string &outputDirectory,
                          const CompileOptions &options, CompileStats &stats,
                          MLIRContext &context) {
  return Compilation(inputFile, options, stats, context).run(nullptr, outputDirectory);
}

LogicalResult compileText(llvm::StringRef text, const std::string &name,
                          const std::string &outputDirectory, const CompileOptions &options,
                          CompileStats &stats, MLIRContext &context) {
  // The lexer reads the zero behind the text, so it has to be a copy.
  return Compilation(name, options, stats, context)
      .run(llvm::MemoryBuffer::getMemBufferCopy(text, name), outputDirectory);
}

} // namespace spyre::compiler
