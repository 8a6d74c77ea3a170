//===- Compiler.cpp - Native module of the compiler -------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `spyre_mlir._compiler`: a program's text to a program directory. Text is all that
// passes between torch-mlir's MLIR and this one; each call has a context of its own, so
// that calls in several threads do not meet. Diagnostics are returned, never printed.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/CompileFlags.h"
#include "spyre/Tools/Register.h"

#include "spyre/Dialect/Spyre/IR/Refusal.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/TypeSwitch.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace nb = nanobind;
using namespace nb::literals;
using namespace spyre::compiler;

namespace {

struct Place {
  std::string file;
  unsigned line = 0, column = 0;
};

struct RefusedOperation {
  std::string operation, rule, reason;
  std::vector<Place> places;
};

struct Message {
  const char *severity = "error";
  std::string text;
  std::vector<Place> places; ///< the innermost call first
  std::vector<Message> notes;
  std::vector<RefusedOperation> refusals; ///< of an error
};

/// All places in source files that \p location is made of.
void collectPlaces(mlir::Location location, std::vector<Place> &places) {
  llvm::TypeSwitch<mlir::LocationAttr>(location)
      .Case([&](mlir::FileLineColLoc loc) {
        places.push_back({loc.getFilename().str(), loc.getLine(), loc.getColumn()});
      })
      .Case([&](mlir::FileLineColRange loc) {
        places.push_back({loc.getFilename().str(), loc.getStartLine(), loc.getStartColumn()});
      })
      .Case([&](mlir::NameLoc loc) { collectPlaces(loc.getChildLoc(), places); })
      .Case([&](mlir::CallSiteLoc loc) {
        collectPlaces(loc.getCallee(), places);
        collectPlaces(loc.getCaller(), places);
      })
      .Case([&](mlir::FusedLoc loc) {
        for (mlir::Location part : loc.getLocations())
          collectPlaces(part, places);
      });
}

Message toMessage(const mlir::Diagnostic &diag) {
  Message message;
  switch (diag.getSeverity()) {
  case mlir::DiagnosticSeverity::Note:
    message.severity = "note";
    break;
  case mlir::DiagnosticSeverity::Warning:
    message.severity = "warning";
    break;
  case mlir::DiagnosticSeverity::Remark:
    message.severity = "remark";
    break;
  case mlir::DiagnosticSeverity::Error:
    break;
  }
  message.text = diag.str();
  collectPlaces(diag.getLocation(), message.places);
  for (const mlir::Diagnostic &note : const_cast<mlir::Diagnostic &>(diag).getNotes())
    message.notes.push_back(toMessage(note));
  for (const mlir::spyre::Refusal &refusal : mlir::spyre::getRefusals(diag)) {
    message.refusals.push_back({refusal.operation,
                                mlir::spyre::getRefusalRuleName(refusal.rule).str(),
                                refusal.reason,
                                {}});
    collectPlaces(refusal.location, message.refusals.back().places);
  }
  return message;
}

nb::list toPython(const std::vector<Place> &places) {
  nb::list result;
  for (const Place &place : places)
    result.append(nb::make_tuple(place.file, place.line, place.column));
  return result;
}

nb::dict toPython(const Message &message) {
  nb::list notes, refusals;
  for (const RefusedOperation &refusal : message.refusals)
    refusals.append(
        nb::make_tuple(refusal.operation, refusal.rule, refusal.reason, toPython(refusal.places)));
  for (const Message &note : message.notes)
    notes.append(toPython(note));
  nb::dict result;
  result["severity"] = message.severity;
  result["message"] = message.text;
  result["places"] = toPython(message.places);
  result["notes"] = notes;
  result["refusals"] = refusals;
  return result;
}

/// (succeeded, diagnostics, statistics as JSON).
nb::tuple compile(nb::str text, const std::string &name, const std::string &directory, int optLevel,
                  int64_t cores, const std::string &device, const std::string &target,
                  const std::string &form, const std::vector<unsigned> &weights,
                  const std::vector<std::vector<int64_t>> &inputShapes, bool pretty,
                  const std::string &report, const std::string &dumpStages, const std::string &host,
                  bool exactArguments, bool exactResults, bool movesOnHost,
                  const std::string &precision, const std::string &planKind,
                  const spyre::RateValues &rates, const std::string &plan,
                  const std::string &savePlan, double planSeconds) {
  CompileFlagValues flags;
  flags.exactArguments = exactArguments;
  flags.exactResults = exactResults;
  flags.movesOnHost = movesOnHost;
  flags.precision = precision;
  flags.planKind = planKind;
  flags.rates = rates;
  flags.savePlan = savePlan;
  flags.planSeconds = planSeconds;
  flags.optLevel = optLevel;
  flags.cores = cores;
  flags.device = device;
  flags.target = target;
  flags.form = form;
  flags.pretty = pretty;
  flags.report = report;
  flags.dumpStages = dumpStages;
  flags.host = host;
  auto made = makeOptions(flags);
  if (auto *wrong = std::get_if<std::string>(&made)) {
    PyErr_SetString(PyExc_ValueError, wrong->c_str());
    throw nb::python_error();
  }
  CompileOptions options = std::get<CompileOptions>(std::move(made));
  options.weights = weights;
  options.planText = plan;
  options.inputShapes = inputShapes;
  Py_ssize_t size = 0;
  const char *bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!bytes)
    throw nb::python_error();
  std::vector<Message> messages;
  options.onDiagnostic = [&](mlir::Diagnostic &diag) { messages.push_back(toMessage(diag)); };
  CompileStats stats;
  bool succeeded = false;
  {
    nb::gil_scoped_release release;
    {
      mlir::DialectRegistry registry;
      spyre::registerAllDialects(registry);
      mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
      succeeded = mlir::succeeded(compileText(llvm::StringRef(bytes, size_t(size)), name, directory,
                                              options, stats, context));
    }
    // A process that serves a model compiles now and then: what planning took is for others.
#ifdef __GLIBC__
    malloc_trim(0);
#endif
  }
  if (!stats.usageError.empty()) {
    PyErr_SetString(PyExc_ValueError, stats.usageError.c_str());
    throw nb::python_error();
  }
  nb::list diagnostics;
  for (const Message &message : messages)
    diagnostics.append(toPython(message));
  return nb::make_tuple(succeeded, diagnostics, toJson(stats));
}

} // namespace

NB_MODULE(_compiler, m) {
  m.doc() = "Texts of the torch dialect, or of any level of the stack, to program directories.";
  m.def("compile", &compile, "text"_a, "name"_a, "directory"_a, nb::kw_only(), "opt_level"_a = 2,
        "cores"_a = 0, "device"_a = "spyre", "target"_a = "superdsc", "form"_a = "2026-08",
        "weights"_a = std::vector<unsigned>(),
        "input_shapes"_a = std::vector<std::vector<int64_t>>(), "pretty"_a = false, "report"_a = "",
        "dump_stages"_a = "", "host"_a = "table", "exact_arguments"_a = true,
        "exact_results"_a = false, "moves_on_host"_a = false, "precision"_a = "default",
        "plan_kind"_a = "best", "rates"_a = spyre::RateValues(), "plan"_a = "", "save_plan"_a = "",
        "plan_seconds"_a = 0.0);
}
