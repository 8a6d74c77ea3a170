//===- Kernel.cpp - Fuzzer of the rules and explanations of kernels -------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any bytes as a module with kernels: what parses and verifies is checked by
// ktir-check-legality, explained and canonicalised, in bounded time. What was
// canonicalised still verifies.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/KTIR/Transforms/ExplainKernel.h"
#include "spyre/Dialect/KTIR/Transforms/Passes.h"
#include "spyre/Support/GroupSets.h"
#include "spyre/Support/Nesting.h"
#include "spyre/Tools/Register.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <cstdint>
#include <cstdlib>
#include <memory>

using namespace mlir;

/// A context for some inputs: what attributes and types a context has seen stays in it.
static MLIRContext &getContext() {
  static std::unique_ptr<MLIRContext> context;
  static unsigned uses = 0;
  if (!context || ++uses % 64 == 0) {
    DialectRegistry registry;
    spyre::registerAllDialects(registry);
    context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    context->getDiagEngine().registerHandler([](Diagnostic &) { return success(); });
  }
  return *context;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  // The tools refuse these before they parse.
  if (spyre::findTooDeepNesting(text) || spyre::findBrokenDims(text))
    return 0;
  if (std::optional<std::string> named = spyre::nameGroupSets(text))
    text = std::move(*named);
  MLIRContext &context = getContext();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module || !ktdp::hasKernel(*module))
    return 0;
  PassManager rules(&context);
  rules.addPass(ktdp::createKtirCheckLegality());
  (void)rules.run(*module);
  std::string words;
  llvm::raw_string_ostream os(words);
  ktdp::explainKernels(*module, os);
  PassManager canonicalize(&context);
  canonicalize.enableVerifier(false);
  canonicalize.addPass(createCanonicalizerPass());
  if (succeeded(canonicalize.run(*module)) && failed(verify(*module))) {
    llvm::errs() << "what was canonicalised is not valid:\n" << text << "\n";
    std::abort();
  }
  return 0;
}
