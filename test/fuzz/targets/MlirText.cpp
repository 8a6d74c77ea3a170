//===- MlirText.cpp - Fuzzer of the text of every dialect -----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any bytes as the text of a module: it parses and verifies, or there is an error.
// What parses prints, and what was printed parses again and prints the same.
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/Nesting.h"
#include "spyre/Tools/Register.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <cstdlib>
#include <memory>

using namespace mlir;

static std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  spyre::registerAllDialects(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->getDiagEngine().registerHandler([](Diagnostic &) { return success(); });
  return context;
}

/// A context for some inputs: what attributes and types a context has seen stays in it.
static MLIRContext &getContext() {
  static std::unique_ptr<MLIRContext> context;
  static unsigned uses = 0;
  if (!context || ++uses % 64 == 0)
    context = makeContext();
  return *context;
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  // The tools refuse these before they parse.
  if (spyre::findTooDeepNesting(text) || spyre::findBrokenDims(text))
    return 0;
  MLIRContext &context = getContext();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return 0;
  std::string printed = print(*module);
  // Resources of a name that a context has already get another one.
  std::unique_ptr<MLIRContext> own;
  if (printed.find("_resource") != std::string::npos)
    own = makeContext();
  OwningOpRef<ModuleOp> again = parseSourceString<ModuleOp>(printed, own ? own.get() : &context);
  if (!again || print(*again) != printed) {
    llvm::errs() << "what was printed does not parse to the same:\n" << printed << "\n";
    std::abort();
  }
  return 0;
}
