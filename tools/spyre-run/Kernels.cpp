//===- Kernels.cpp - KTIR kernels in spyre-run ------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The description of the arguments comes from --bind, from -i and -o, from the JSON file
// beside the kernel that has its name, or from attributes of the arguments.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "Arrays.h"

#include "spyre/Device/Device.h"
#include "spyre/Dialect/KTIR/IR/ReadModule.h"
#include "spyre/KTIRExecutor/Interpreter.h"
#include "spyre/Support/JsonReader.h"
#include "spyre/Tools/Register.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>
#include <filesystem>

using namespace spyre;
using namespace spyre::tools;
using runtime::Error;
using runtime::HostTensor;
using runtime::Result;

bool spyre::tools::looksLikeKernel(const std::string &file) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(file, code))
    return false;
  auto text = runtime::readTextFile(file);
  auto *found = std::get_if<std::string>(&text);
  if (!found)
    return false;
  // What comments say does not count.
  for (size_t begin = 0; begin < found->size();) {
    size_t end = std::min(found->find('\n', begin), found->size());
    std::string_view line(found->data() + begin, end - begin);
    if (line.substr(0, line.find("//")).find("ktdp.") != std::string_view::npos)
      return true;
    begin = end + 1;
  }
  return false;
}

/// What the arguments of \p kernel are.
static Result<ktir::KernelBinding> readBinding(const RunOptions &options,
                                               std::vector<mlir::func::FuncOp> &kernels) {
  namespace fs = std::filesystem;
  std::string file = options.bind;
  std::error_code code;
  if (file.empty() && options.shortArguments.empty()) {
    fs::path beside = fs::path(options.input).replace_extension(".json");
    if (!fs::exists(beside, code)) {
      std::string error;
      if (kernels.size() == 1)
        if (auto binding = ktir::getBindingOfAttributes(kernels.front(), error))
          return std::move(*binding);
      if (!error.empty())
        return Error{error};
      return Error{options.input +
                   ": nothing says what the kernel's arguments are; describe them "
                   "with -i and -o, with --bind, by attributes, or in " +
                   beside.filename().string() + " beside it"};
    }
    file = beside.string();
  }
  if (!file.empty()) {
    auto text = runtime::readTextFile(file);
    if (auto *error = std::get_if<Error>(&text))
      return *error;
    auto binding = ktir::readKernelBinding(std::get<std::string>(text));
    if (auto *message = std::get_if<std::string>(&binding))
      return Error{file + ": " + *message};
    return std::move(std::get<ktir::KernelBinding>(binding));
  }
  ktir::KernelBinding binding;
  unsigned numInputs = 0, numOutputs = 0;
  for (const auto &[isOutput, text] : options.shortArguments) {
    auto parsed = parseShortArgument(text, isOutput, isOutput ? numOutputs++ : numInputs++);
    if (auto *error = std::get_if<Error>(&parsed))
      return *error;
    const auto &spec = std::get<artifact::ArgumentSpec>(parsed);
    if (!ktir::getMemoryElement(spec.dtype, ktir::ElementKind::IEEE16))
      return Error{text + ": kernels have no such numbers"};
    ktir::KernelArray array;
    array.name = spec.array;
    array.role = isOutput ? ktir::ArrayRole::Output : ktir::ArrayRole::Input;
    array.type = spec.dtype;
    array.shape = spec.shape;
    binding.arguments.emplace_back(array.name);
    binding.arrays.push_back(std::move(array));
  }
  return binding;
}

Result<KernelOutcome> spyre::tools::runKernelFile(const RunOptions &options,
                                                  const npz::Archive &given) {
  auto device = Device::resolve(options.device);
  if (auto *message = std::get_if<std::string>(&device))
    return Error{*message};
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ktdp::readModule(options.input, sources, context);
  if (!module)
    return Error{options.input + ": it was not read"};
  std::vector<mlir::func::FuncOp> kernels = ktir::getKernels(*module);
  if (kernels.empty())
    return Error{options.input + ": it has no function with operations of ktdp"};
  auto bound = readBinding(options, kernels);
  if (auto *error = std::get_if<Error>(&bound))
    return *error;
  const auto &binding = std::get<ktir::KernelBinding>(bound);

  ktir::ArrayBytes inputs;
  for (const ktir::KernelArray &array : binding.arrays) {
    if (!array.isInput())
      continue;
    HostTensor tensor;
    if (options.inputs.empty()) {
      tensor = makeRandom(array.type, array.shape, options.seed * 1000 + inputs.size());
    } else {
      const npz::Array *found = npz::lookup(given, array.name);
      if (!found)
        return Error{options.inputs + ": input " + array.name + " is missing"};
      auto converted = toHostTensor(*found, array.type);
      if (auto *error = std::get_if<Error>(&converted))
        return Error{options.inputs + ": " + array.name + ": " + error->message};
      tensor = std::move(std::get<HostTensor>(converted));
      if (tensor.shape != array.shape)
        return Error{options.inputs + ": " + array.name + " has the shape " +
                     ktir::toString(tensor.shape) + ", the kernel takes " +
                     ktir::toString(array.shape)};
    }
    inputs[array.name].assign(tensor.data.begin(), tensor.data.end());
  }
  ktir::RunOptions run;
  run.isChecked = options.check;
  run.isReversed = options.reversed;
  run.threads = options.threads;
  run.lxInBytes = std::get<Device>(device).getLXInBytes();
  run.roundsEach = options.round != "store";
  run.readsZeroOutOfBounds = options.outOfBounds == "zero";
  if (!options.f16.empty())
    run.f16 = options.f16 == "dl16" ? ktir::RunOptions::F16::DL16 : ktir::RunOptions::F16::IEEE;
  KernelOutcome outcome;
  ktir::ArrayBytes results;
  auto begin = std::chrono::steady_clock::now();
  std::string error = ktir::runBound(*module, binding, inputs, run, results, &outcome.stats);
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!error.empty())
    return Error{error};
  for (const ktir::KernelArray &array : binding.arrays)
    if (array.isOutput()) {
      outcome.outputs[array.name] =
          HostTensor{array.type, array.shape, std::move(results[array.name])};
    }
  return outcome;
}

std::string spyre::tools::toJson(const KernelOutcome &outcome) {
  json::Document stats;
  stats["instructions"] = outcome.stats.instructions;
  stats["hbm_read_bytes_counted"] = outcome.stats.readInBytes;
  stats["hbm_write_bytes_counted"] = outcome.stats.writtenInBytes;
  stats["hbm_read_sticks"] = outcome.stats.readInSticks;
  stats["hbm_write_sticks"] = outcome.stats.writtenInSticks;
  stats["exchanged_bytes"] = outcome.stats.exchangedInBytes;
  stats["lx_bytes_peak"] = outcome.stats.peakLXInBytes;
  stats["run_s"] = outcome.seconds;
  return stats.dump(2) + "\n";
}
