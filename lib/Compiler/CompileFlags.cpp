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

#include "spyre/Device/Device.h"

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
      dumpStages("dump-stages", cl::desc("Write the program after each stage into this folder"),
                 cl::value_desc("dir"), cl::cat(category)),
      report("report", cl::desc("HTML report (not supported yet)"), cl::value_desc("file"),
             cl::cat(category)),
      pretty("pretty", cl::desc("Indent JSON"), cl::cat(category)) {}

std::variant<spyre::compiler::CompileOptions, std::string>
spyre::compiler::CompileFlags::getOptions() const {
  CompileOptions options;
  if (optLevel < 0 || optLevel > 3)
    return "-O" + std::to_string(optLevel) + ": optimisation levels are 0 to 3";
  if (target == "ktir")
    return std::string("--target=ktir is not supported yet; use superdsc");
  if (target != "superdsc")
    return "--target=" + target + ": known targets are superdsc and ktir";
  if (form != "2026-06" && form != "2026-08")
    return "--superdsc-form=" + form + ": known forms are 2026-06 and 2026-08";
  if (!report.empty())
    return std::string("--report is not supported yet");
  std::optional<Device> found = Device::lookup(device.getValue());
  if (!found) {
    std::string message = "--device=" + device + ": known variants are";
    for (std::string_view name : Device::getVariantNames())
      message += " " + std::string(name);
    return message;
  }
  if (cores < 0 || cores > found->getNumCores())
    return "--cores=" + std::to_string(cores) + ": the device has " +
           std::to_string(found->getNumCores()) + " cores";
  options.optLevel = optLevel;
  options.cores = cores;
  options.device = device;
  options.superdscForm = form;
  options.pretty = pretty;
  options.dumpStages = dumpStages;
  options.configure = [](mlir::PassManager &pm) {
    mlir::applyDefaultTimingPassManagerCLOptions(pm);
    return mlir::applyPassManagerCLOptions(pm);
  };
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
