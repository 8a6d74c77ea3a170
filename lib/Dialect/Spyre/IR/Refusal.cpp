//===- Refusal.cpp - Why an operation is not the device's -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values travel in the metadata of diagnostics, which nobody prints: operation, rule,
// reason.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/Refusal.h"

#include "spyre/Dialect/Spyre/IR/Provenance.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::spyre;

StringRef mlir::spyre::getRefusalRuleName(RefusalRule rule) {
  switch (rule) {
  case RefusalRule::Lowering:
    return "lowering";
  case RefusalRule::Precision:
    return "precision";
  case RefusalRule::Range:
    return "range";
  case RefusalRule::Planning:
    return "planning";
  }
  return "";
}

void mlir::spyre::noteRefusal(InFlightDiagnostic &error, Location location, StringRef operation,
                              RefusalRule rule, const Twine &reason, const Twine &signature) {
  Diagnostic &note = error.attachNote(location);
  std::string between = signature.str();
  note << operation << (between.empty() ? "" : " ") << between << ": " << reason.str();
  MLIRContext *context = location.getContext();
  Attribute values[] = {StringAttr::get(context, operation),
                        IntegerAttr::get(IntegerType::get(context, 64), static_cast<int64_t>(rule)),
                        StringAttr::get(context, reason)};
  for (Attribute value : values)
    note.getMetadata().push_back(DiagnosticArgument(value));
}

void mlir::spyre::noteRefusal(InFlightDiagnostic &error, Operation *op, RefusalRule rule,
                              const Twine &reason, const Twine &signature) {
  noteRefusal(error, op->getLoc(), op->getName().getStringRef(), rule, reason, signature);
}

/// The refusal that \p note carries; nothing if it carries none.
static std::optional<Refusal> getRefusal(Diagnostic &note) {
  ArrayRef<DiagnosticArgument> values = note.getMetadata();
  if (values.size() != 3)
    return std::nullopt;
  auto get = [&](unsigned i) { return values[i].getAsAttribute(); };
  return Refusal{cast<StringAttr>(get(0)).str(),
                 static_cast<RefusalRule>(cast<IntegerAttr>(get(1)).getInt()),
                 cast<StringAttr>(get(2)).str(), note.getLocation()};
}

std::vector<Refusal> mlir::spyre::getRefusals(const Diagnostic &diagnostic) {
  std::vector<Refusal> refusals;
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return refusals;
  // The list of notes and the metadata have no constant access.
  for (Diagnostic &note : const_cast<Diagnostic &>(diagnostic).getNotes())
    if (std::optional<Refusal> refusal = getRefusal(note))
      refusals.push_back(std::move(*refusal));
  if (refusals.empty()) {
    Origin origin = getOrigin(diagnostic.getLocation());
    refusals.push_back({origin.operation ? origin.operation.str() : std::string(),
                        RefusalRule::Planning, diagnostic.str(), diagnostic.getLocation()});
  }
  return refusals;
}
