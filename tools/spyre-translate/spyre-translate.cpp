//===- spyre-translate.cpp - Between MLIR and bundle directories ----------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exit codes: 0 done, 1 the input is wrong or the output cannot be written,
// 2 wrong usage.
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"
#include "spyre/Dialect/KTIR/IR/ReadModule.h"
#include "spyre/Dialect/KTIR/IR/SpyreopDialect.h"
#include "spyre/Dialect/KTIR/Transforms/ExplainKernel.h"
#include "spyre/Dialect/SuperDSC/IR/SdscDialect.h"
#include "spyre/Dialect/SuperDSC/Transforms/Passes.h"
#include "spyre/Loader/Loader.h"
#include "spyre/SuperDSC/DescriptorJson.h"
#include "spyre/SuperDSC/DeviceLimits.h"
#include "spyre/Support/AtomicDirectory.h"
#include "spyre/Support/Version.h"
#include "spyre/Target/SuperDSC/BundleDirectory.h"
#include "spyre/Target/SuperDSC/DescriptorConversion.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <iostream>
#include <sstream>

using namespace mlir;

namespace artifact = ::spyre::artifact;
namespace sd = ::spyre::sdsc;

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

const char *const kHelp =
    R"(usage: spyre-translate --sdsc-to-bundle IN.mlir -o DIR [--superdsc-form=2026-06|2026-08]
                       [--superdsc-provenance[=false]] [--superdsc-pool=argument|body] [--pretty]
                       [--verify] [--device=NAME]
       spyre-translate --bundle-to-sdsc DIR [-o OUT.mlir] [--verify] [--device=NAME]
       spyre-translate --explain DIR|FILE.json|IN.mlir

  --sdsc-to-bundle   write a module with sdsc and sdscbundle operations as a bundle
                     directory: bundle.mlir, sdsc_<i>.json, launch_spec.json, plan.json
  --bundle-to-sdsc   read a bundle directory into such a module
  --explain          say in words what a bundle, a descriptor, a plan, a module or a kernel
                     (KTIR) does
  -o PATH            where to; standard output for --bundle-to-sdsc without it
  --superdsc-form=F  descriptors in the form of June (2026-06) or August 2026 (2026-08, default)
  --superdsc-provenance
                     write debug_handle_: the operation and place that a descriptor came from
                     (the default; newer form only); =false leaves it out
  --superdsc-pool=P  whether an argument passes the pool (the default), or the body of
                     bundle.mlir makes it (device_mem_allocate)
  --pretty           indent the JSON
  --verify           check the rules of docs/formats/superdsc.md first, as sdsc-verify does
  --device=NAME      the device variant whose limits --verify checks (default spyre);
                     none: only what holds for every device

example: spyre-translate --bundle-to-sdsc softmax/ | spyre-opt --sdsc-verify
)";

enum class Action { None, SdscToBundle, BundleToSdsc, Explain };

struct Options {
  Action action = Action::None;
  std::string input, output;
  sd::WriteOptions write;
  bool verify = false;
  std::optional<::spyre::Device> device = ::spyre::Device::lookup("spyre"); ///< nothing: any
};

sd::Limits getLimits(const Options &options) {
  return options.device ? sd::getLimits(*options.device) : sd::Limits();
}

/// Reports \p message as wrong usage.
int usage(const std::string &message) {
  std::cerr << "spyre-translate: " << message << "\nTry 'spyre-translate --help'.\n";
  return kWrongUsage;
}

/// Fills \p options; an exit code if the program ends here.
std::optional<int> parseArguments(int argc, char **argv, Options &options) {
  std::vector<std::string> positional;
  auto setAction = [&](Action action) {
    bool first = options.action == Action::None;
    options.action = action;
    return first;
  };
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    bool ok = true;
    if (argument == "--help" || argument == "-h") {
      std::cout << kHelp;
      return 0;
    }
    if (argument == "--sdsc-to-bundle")
      ok = setAction(Action::SdscToBundle);
    else if (argument == "--bundle-to-sdsc")
      ok = setAction(Action::BundleToSdsc);
    else if (argument == "--explain")
      ok = setAction(Action::Explain);
    else if (argument == "--pretty")
      options.write.pretty = true;
    else if (argument == "--verify")
      options.verify = true;
    else if (argument.rfind("--device=", 0) == 0) {
      std::string name = argument.substr(9);
      options.device = ::spyre::Device::lookup(name);
      if (!options.device && name != "none")
        return usage("unknown device variant '" + name + "'");
    } else if (argument == "--superdsc-provenance" || argument == "--superdsc-provenance=true")
      options.write.provenance = true;
    else if (argument == "--superdsc-provenance=false")
      options.write.provenance = false;
    else if (argument == "--superdsc-pool=argument")
      options.write.poolInBody = false;
    else if (argument == "--superdsc-pool=body")
      options.write.poolInBody = true;
    else if (argument == "--superdsc-form=2026-06")
      options.write.form = sd::Form::June2026;
    else if (argument == "--superdsc-form=2026-08")
      options.write.form = sd::Form::August2026;
    else if (argument == "-o" && i + 1 < argc)
      options.output = argv[++i];
    else if (argument.size() > 1 && argument[0] == '-')
      return usage("unknown option, or its value is wrong or missing: " + argument);
    else
      positional.push_back(argument);
    if (!ok)
      return usage("more than one action");
  }
  if (options.action == Action::None)
    return usage("no action given");
  if (positional.size() != 1)
    return usage("expected one input, found " + std::to_string(positional.size()));
  options.input = positional[0];
  if (options.action == Action::SdscToBundle && options.output.empty())
    return usage("--sdsc-to-bundle needs -o DIR");
  return std::nullopt;
}

int bundleToSdsc(const Options &options, MLIRContext &context) {
  FailureOr<OwningOpRef<ModuleOp>> module = sdsc::readBundleDirectory(options.input, context);
  if (failed(module) || failed(verify(module->get())) ||
      (options.verify && failed(sdsc::verifyModule(module->get(), getLimits(options)))))
    return kFailed;
  std::string text;
  llvm::raw_string_ostream os(text);
  (*module)->print(os);
  os << "\n";
  if (options.output.empty()) {
    std::cout << text;
    return 0;
  }
  if (std::optional<std::string> error =
          ::spyre::writeFileAtomically(options.output, [&](std::ostream &file) { file << text; })) {
    emitError(UnknownLoc::get(&context)) << *error;
    return kFailed;
  }
  return 0;
}

/// Descriptors of a module, by the file names of its executions.
LogicalResult collectDescriptors(ModuleOp module, std::map<std::string, sd::Descriptor> &result) {
  for (sdsc::DescriptorOp op : module.getOps<sdsc::DescriptorOp>()) {
    FailureOr<sd::Descriptor> descriptor = sdsc::toDescriptor(op);
    if (failed(descriptor))
      return failure();
    result[op.getSymName().str() + ".json"] = std::move(*descriptor);
  }
  return success();
}

int explainModule(ModuleOp module) {
  std::map<std::string, sd::Descriptor> descriptors;
  if (failed(collectDescriptors(module, descriptors)))
    return kFailed;
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    std::optional<artifact::LaunchSpec> spec = sdscbundle::getLaunchSpec(function);
    bool hasPool = function->hasAttr(sdscbundle::kHasPoolAttr) ||
                   (spec && sdscbundle::getNumAddresses(function) == spec->arguments.size() + 1);
    FailureOr<artifact::Plan> plan =
        ::spyre::buildPlan(function, hasPool, spec ? spec->poolInBytes : 0);
    if (failed(plan))
      return kFailed;
    ::spyre::explain::explainPlan(*plan, spec, descriptors, std::cout);
  }
  return 0;
}

int explainJson(const std::string &path, MLIRContext &context) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  auto report = [&](const std::string &message) {
    emitError(FileLineColLoc::get(&context, path, 0, 0)) << message;
    return kFailed;
  };
  if (!buffer)
    return report("cannot be read: " + buffer.getError().message());
  std::string_view text((*buffer)->getBufferStart(), (*buffer)->getBufferSize());
  auto plan = artifact::readPlan(text);
  if (auto *found = std::get_if<artifact::Plan>(&plan)) {
    ::spyre::explain::explainPlan(*found, std::nullopt, {}, std::cout);
    return 0;
  }
  auto descriptor = sd::readDescriptor(text, "");
  if (auto *found = std::get_if<sd::Descriptor>(&descriptor)) {
    ::spyre::explain::explainDescriptor(*found, nullptr, std::cout, "");
    return 0;
  }
  // A plan says "steps"; everything else is reported as a descriptor.
  auto &planError = std::get<artifact::FileError>(plan);
  auto &error = std::get<sd::ReadError>(descriptor);
  return text.find("\"steps\"") != std::string_view::npos
             ? report(planError.where + ": " + planError.message)
             : report(error.where + ": " + error.message);
}

int explain(const Options &options, MLIRContext &context, llvm::SourceMgr &sourceMgr) {
  if (llvm::sys::fs::is_directory(options.input)) {
    FailureOr<OwningOpRef<ModuleOp>> module = sdsc::readBundleDirectory(options.input, context);
    return failed(module) ? kFailed : explainModule(**module);
  }
  if (llvm::sys::path::extension(options.input) == ".json")
    return explainJson(options.input, context);
  OwningOpRef<ModuleOp> module = ktdp::readModule(options.input, sourceMgr, context);
  if (!module)
    return kFailed;
  if (!ktdp::hasKernel(*module))
    return explainModule(*module);
  std::string text;
  llvm::raw_string_ostream os(text);
  ktdp::explainKernels(*module, os);
  std::cout << text;
  return 0;
}

} // namespace

static int run(const Options &options) {
  DialectRegistry registry;
  ::spyre::registerBundleDialects(registry);
  registry.insert<sdsc::SdscDialect>();
  // A kernel is written in more dialects than a bundle.
  if (options.action == Action::Explain)
    registry
        .insert<ktdp::KtdpDialect, linalg::LinalgDialect, math::MathDialect, memref::MemRefDialect,
                scf::SCFDialect, spyreop::SpyreopDialect, tensor::TensorDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  llvm::SourceMgr sourceMgr;
  SourceMgrDiagnosticHandler handler(sourceMgr, &context, llvm::errs());

  switch (options.action) {
  case Action::SdscToBundle: {
    OwningOpRef<ModuleOp> module = ktdp::readModule(options.input, sourceMgr, context);
    if (!module || (options.verify && failed(sdsc::verifyModule(*module, getLimits(options)))) ||
        failed(sdsc::writeBundleDirectory(*module, options.output, options.write)))
      return kFailed;
    return 0;
  }
  case Action::BundleToSdsc:
    return bundleToSdsc(options, context);
  case Action::Explain:
    return explain(options, context, sourceMgr);
  case Action::None:
    break;
  }
  return kWrongUsage;
}

int main(int argc, char **argv) {
  if (spyre::printVersionIfAsked(argc, argv))
    return 0;
  ::spyre::cleanUpOnInterrupt();
  Options options;
  if (std::optional<int> exitCode = parseArguments(argc, argv, options))
    return *exitCode;
  int code = run(options);
  // A full disk or a closed pipe shows when the last of it is written.
  if (!std::cout.flush()) {
    std::cerr << "spyre-translate: error: cannot write to standard output\n";
    return kFailed;
  }
  return code;
}
