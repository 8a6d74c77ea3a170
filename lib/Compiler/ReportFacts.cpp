//===- ReportFacts.cpp - What a compilation's report shows ------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Paths are cut to file names: a report does not depend on where a file lies.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/ReportFacts.h"

#include "spyre/Device/Device.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace mlir;

namespace spyre::compiler {

std::vector<std::pair<std::string, int64_t>> countOperations(ArrayRef<ModuleOp> modules) {
  std::map<std::string, int64_t> counts;
  for (ModuleOp module : modules)
    module.walk([&](Operation *op) {
      if (!isa<ModuleOp, FunctionOpInterface>(op) && !op->hasTrait<OpTrait::IsTerminator>())
        ++counts[op->getName().getStringRef().str()];
    });
  return {counts.begin(), counts.end()};
}

report::Program makeReport(const std::string &inputFile, const CompileOptions &options,
                           const RateValues &rates, const CompileStats &stats,
                           std::vector<report::Stage> stages) {
  report::Program program;
  program.source = llvm::sys::path::filename(inputFile).str();
  program.name = stats.functions.empty() ? program.source : stats.functions.front().name;
  program.device = options.device;
  program.options = "-O" + std::to_string(options.optLevel);
  if (options.cores)
    program.options += " --cores " + std::to_string(options.cores);
  if (!rates.empty())
    program.options += ", rates " + toString(rates);
  if (std::optional<Device> device = Device::lookup(options.device)) {
    program.usableScratchpadInBytes = device->getUsableLXInBytes();
    auto replaced = replaceRates(*device, rates);
    if (const auto *fitting = std::get_if<Device>(&replaced))
      device = *fitting;
    program.ceilings = {device->getRates().memoryInBytesPerNs,
                        device->getRates().sustainedMacsPerNs * double(device->getNumCores())};
  }
  program.stages = std::move(stages);
  program.functions = stats.functions;
  program.poolInBytes = stats.poolInBytes;
  program.boundInNs = stats.boundInNs;
  return program;
}

} // namespace spyre::compiler
