//===- Interpreter.h - Runs KTIR kernels ------------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is translated once into a program of the machine (Machine/), which runs it on an
// image of device memory. What cannot run is refused before anything runs, with its location.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_KTIREXECUTOR_INTERPRETER_H
#define SPYRE_KTIREXECUTOR_INTERPRETER_H

#include "spyre/KTIRExecutor/Machine/Binding.h"
#include "spyre/KTIRExecutor/Machine/Machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <variant>

namespace spyre::ktir {

struct RunOptions : MachineOptions {
  /// What the bits of an f16 mean; absent: what the module's `spyre.f16` says, IEEE's without it.
  enum class F16 : uint8_t { DL16, IEEE };
  std::optional<F16> f16;
};

/// A kernel's argument: an address (in the unit of the module) or other integer, or a float.
using RunArgument = std::variant<int64_t, double>;

/// Runs all compute tiles of \p kernel on \p memory. `options.lxInBytes` of 0 takes the LX of
/// the default device. Results lie in \p memory. An empty string: it worked; else what is
/// wrong, as "file:line:column: operation: message". \p lx: what the LX of some tiles holds.
std::string run(mlir::func::FuncOp kernel, Memory &memory,
                const std::vector<RunArgument> &arguments, const RunOptions &options = {},
                MachineStats *stats = nullptr, std::map<int64_t, Memory> *lx = nullptr);

/// What \p module says of its addresses and its f16; \p error where it is neither.
struct KernelUnits {
  bool addressesInBytes = false;
  ElementKind f16 = ElementKind::IEEE16;
};
KernelUnits getUnits(mlir::ModuleOp module, const RunOptions &options, std::string &error);

/// What the arguments of \p kernel are, by their attributes: `ktdp.input`, `ktdp.output` or
/// `ktdp.input_output` with a tensor type, or `ktdp.value` with a number. Nothing if an argument
/// has none of them; \p error if one is wrong.
inline constexpr llvm::StringLiteral kInputAttr = "ktdp.input", kOutputAttr = "ktdp.output",
                                     kInputOutputAttr = "ktdp.input_output",
                                     kValueAttr = "ktdp.value";
std::optional<KernelBinding> getBindingOfAttributes(mlir::func::FuncOp kernel, std::string &error);

/// Runs the kernel of \p module that \p binding names (or the only one) on arrays: places
/// them, runs, and fetches the results.
std::string runBound(mlir::ModuleOp module, const KernelBinding &binding, const ArrayBytes &inputs,
                     const RunOptions &options, ArrayBytes &outputs, MachineStats *stats = nullptr);

/// The kernels of \p module: functions with an operation of KTIR in them.
std::vector<mlir::func::FuncOp> getKernels(mlir::ModuleOp module);

/// Translates \p kernel without running it; \p error says what cannot run.
std::shared_ptr<const Program> readKernel(mlir::func::FuncOp kernel, const RunOptions &options,
                                          std::string &error);

} // namespace spyre::ktir

#endif // SPYRE_KTIREXECUTOR_INTERPRETER_H
