//===- BundleText.cpp - Fuzzer of bundle.mlir -----------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any bytes as bundle.mlir: a plan of launches, or an error. A plan is written and read
// again as plan.json, and printed as a bundle that gives the same plan.
//
//===----------------------------------------------------------------------===//

#include "spyre/Artifact/Plan.h"
#include "spyre/Loader/Loader.h"
#include "spyre/Support/Nesting.h"
#include "spyre/Target/SuperDSC/BundleDirectory.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>

using namespace mlir;
namespace artifact = spyre::artifact;

static MLIRContext &getContext() {
  static std::unique_ptr<MLIRContext> context;
  static unsigned uses = 0;
  if (!context || ++uses % 256 == 0) {
    DialectRegistry registry;
    spyre::registerBundleDialects(registry);
    context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    context->getDiagEngine().registerHandler([](Diagnostic &) { return success(); });
  }
  return *context;
}

/// The plan of the one function in \p text; nothing if there is none.
static std::optional<artifact::Plan> makePlan(const std::string &text, bool hasPool) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &getContext());
  if (!module)
    return std::nullopt;
  for (auto function : module->getOps<func::FuncOp>()) {
    if (function.isExternal())
      return std::nullopt;
    FailureOr<artifact::Plan> plan = spyre::buildPlan(function, hasPool, /*poolInBytes=*/0);
    return succeeded(plan) ? std::optional(*plan) : std::nullopt;
  }
  return std::nullopt;
}

static std::string toJson(const artifact::Plan &plan) {
  std::ostringstream os;
  artifact::writePlan(plan, os, /*pretty=*/false);
  return os.str();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  if (spyre::findTooDeepNesting(text))
    return 0;
  for (bool hasPool : {false, true}) {
    std::optional<artifact::Plan> plan = makePlan(text, hasPool);
    if (!plan)
      continue;
    std::string json = toJson(*plan);
    auto read = artifact::readPlan(json);
    const auto *same = std::get_if<artifact::Plan>(&read);
    if (!same || toJson(*same) != json) {
      std::cerr << "the plan does not survive its file:\n" << json << "\n";
      std::abort();
    }
    std::optional<artifact::Plan> again =
        makePlan(sdsc::printBundle(*plan, {}, /*writeSymbolIds=*/true), hasPool);
    if (!again || toJson(*again) != json) {
      std::cerr << "the plan does not survive its bundle.mlir:\n" << json << "\n";
      std::abort();
    }
  }
  return 0;
}
