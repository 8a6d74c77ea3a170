//===- ProgramGraph.cpp - A program as calls of bundles -------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/ProgramGraph.h"

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <set>

using namespace mlir;
namespace runtime = ::spyre::runtime;

namespace spyre::compiler {

int64_t ProgramGraph::getNumLaunches(size_t bundle) const {
  return llvm::count_if(calls, [&](const BundleCall &call) { return call.bundle == bundle; });
}

/// The array and buffer of a bundle's constant.
static std::string getConstantName(const ProgramGraph &graph, size_t bundle,
                                   const std::string &array) {
  return graph.bundles.size() == 1 ? array : std::to_string(bundle) + "." + array;
}

std::string getConstantFile(const ProgramGraph &graph, size_t bundle, const std::string &array) {
  return "constants/" + getConstantName(graph, bundle, array) + ".npy";
}

static bool isSequenceOfCalls(func::FuncOp program) {
  return !program.isExternal() && llvm::hasSingleElement(program.getBody()) &&
         llvm::all_of(program.getBody().front().without_terminator(), llvm::IsaPred<func::CallOp>);
}

static std::vector<std::string> makeNames(StringRef stem, size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i)
    names.push_back((stem + Twine(i)).str());
  return names;
}

ProgramGraph splitProgram(OwningOpRef<ModuleOp> module) {
  ProgramGraph graph;
  func::FuncOp program;
  size_t numFunctions = 0;
  for (auto func : module->getOps<func::FuncOp>()) {
    ++numFunctions;
    if (func.isPublic())
      program = func;
  }
  if (!program || numFunctions == 1 || !isSequenceOfCalls(program)) {
    if (program) {
      graph.name = program.getName().str();
      graph.results = makeNames("out", program.getNumResults());
      graph.calls.push_back({0, makeNames("in", program.getNumArguments()), graph.results});
    }
    graph.bundles.push_back(std::move(module));
    return graph;
  }

  graph.name = program.getName().str();
  llvm::DenseMap<Value, std::string> names;
  for (BlockArgument argument : program.getArguments())
    names[argument] = ("in" + Twine(argument.getArgNumber())).str();
  Block &body = program.getBody().front();
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
    names.try_emplace(value, ("out" + Twine(i)).str());
  // A weight has one layout: only where it is passed once does its reader decide.
  auto isWeight = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.hasOneUse() &&
           program.getArgAttr(argument.getArgNumber(), mlir::spyre::kWeightAttr);
  };
  llvm::StringMap<size_t> bundles;
  size_t numTemporaries = 0;
  for (auto call : body.getOps<func::CallOp>()) {
    auto [entry, isNew] = bundles.try_emplace(call.getCallee(), graph.bundles.size());
    if (isNew) {
      auto bundle = ModuleOp::create(module->getLoc());
      bundle->setAttrs((*module)->getAttrDictionary());
      auto callee = cast<func::FuncOp>(bundle.getBody()->getOperations().insert(
          bundle.getBody()->end(), module->lookupSymbol<func::FuncOp>(call.getCallee())->clone()));
      callee.setPublic();
      graph.bundles.push_back(bundle);
    }
    auto callee = *graph.bundles[entry->second]->getOps<func::FuncOp>().begin();
    BundleCall launch{entry->second, {}, {}};
    for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
      if (isNew && isWeight(operand))
        callee.setArgAttr(i, mlir::spyre::kWeightAttr, UnitAttr::get(callee.getContext()));
      else if (!isWeight(operand))
        callee.removeArgAttr(i, mlir::spyre::kWeightAttr);
      launch.inputs.push_back(names.lookup(operand));
      if (operand.getDefiningOp())
        callee.setArgAttr(i, mlir::spyre::kTailAttr,
                          StringAttr::get(callee.getContext(),
                                          stringifyTailState(mlir::spyre::TailState::Unknown)));
    }
    for (Value result : call.getResults()) {
      std::string &name = names[result];
      if (name.empty())
        name = ("tmp" + Twine(numTemporaries++)).str();
      launch.outputs.push_back(name);
    }
    graph.calls.push_back(std::move(launch));
  }
  for (Value value : body.getTerminator()->getOperands())
    graph.results.push_back(names.lookup(value));
  return graph;
}

namespace {
/// Adds steps, and what they need, to a program.
class ProgramMaker {
public:
  ProgramMaker(const ProgramGraph &graph, const std::vector<runtime::LaunchSpec> &specs,
               runtime::Program &program)
      : graph(graph), specs(specs), program(program) {}

  void run();

private:
  /// The buffer that argument \p argument of call \p call is.
  std::string getBuffer(const BundleCall &call, const runtime::ArgumentSpec &argument) const;
  void addBuffer(const std::string &name, const runtime::ArgumentSpec &argument);
  void addCall(size_t index);

  const ProgramGraph &graph;
  const std::vector<runtime::LaunchSpec> &specs;
  runtime::Program &program;
  std::map<std::string, runtime::ArgumentSpec> buffers;
  std::map<std::string, size_t> lastUse; ///< by buffer
};
} // namespace

/// "in12" -> 12 if \p name is \p stem and a number.
static std::optional<size_t> getNumber(StringRef name, StringRef stem) {
  size_t number;
  if (!name.consume_front(stem) || name.getAsInteger(10, number))
    return std::nullopt;
  return number;
}

std::string ProgramMaker::getBuffer(const BundleCall &call,
                                    const runtime::ArgumentSpec &argument) const {
  if (auto i = getNumber(argument.array, "in"); i && *i < call.inputs.size())
    return call.inputs[*i];
  if (auto i = getNumber(argument.array, "out"); i && *i < call.outputs.size())
    return call.outputs[*i];
  return getConstantName(graph, call.bundle, argument.array);
}

void ProgramMaker::addBuffer(const std::string &name, const runtime::ArgumentSpec &argument) {
  if (!buffers.try_emplace(name, argument).second)
    return;
  int64_t bytes = ::spyre::kStickInBytes;
  for (size_t i = 0; i + 1 < argument.deviceSize.size(); ++i)
    bytes *= argument.deviceSize[i];
  program.buffers.push_back({name, bytes});
  if (argument.role == runtime::Role::Output)
    return;
  // First seen as an input: the host has it.
  runtime::HostArray array{name, argument.dtype, argument.shape};
  if (getNumber(argument.array, "const"))
    program.constants.push_back({array, "constants/" + name + ".npy"});
  else
    program.arguments.push_back(array);
  program.steps.push_back({runtime::CopyIn{name, name}});
}

void ProgramMaker::addCall(size_t index) {
  const BundleCall &call = graph.calls[index];
  runtime::LaunchBundle launch;
  launch.bundle = "bundles/" + std::to_string(call.bundle);
  std::set<std::string> dying;
  for (const runtime::ArgumentSpec &argument : specs[call.bundle].arguments) {
    if (argument.role == runtime::Role::Constant) {
      launch.buffers.emplace_back();
      continue;
    }
    std::string name = getBuffer(call, argument);
    addBuffer(name, argument);
    launch.buffers.push_back(name);
    if (lastUse.at(name) == index)
      dying.insert(name);
  }
  program.steps.push_back({std::move(launch)});
  for (const std::string &name : dying)
    program.steps.push_back({runtime::Free{name}});
}

void ProgramMaker::run() {
  for (size_t i = 0; i < graph.calls.size(); ++i)
    for (const runtime::ArgumentSpec &argument : specs[graph.calls[i].bundle].arguments)
      if (argument.role != runtime::Role::Constant)
        lastUse[getBuffer(graph.calls[i], argument)] = i;
  for (const std::string &result : graph.results)
    lastUse[result] = graph.calls.size();
  for (size_t i = 0; i < graph.calls.size(); ++i)
    addCall(i);
  std::set<std::string> done;
  for (auto [i, result] : llvm::enumerate(graph.results)) {
    const runtime::ArgumentSpec &spec = buffers.at(result);
    std::string array = "out" + std::to_string(i);
    program.results.push_back({array, spec.dtype, spec.shape});
    program.steps.push_back({runtime::CopyOut{result, array}});
  }
  for (const std::string &result : graph.results)
    if (done.insert(result).second)
      program.steps.push_back({runtime::Free{result}});
  // Arguments in the order of their numbers, whenever they are first used.
  llvm::stable_sort(program.arguments,
                    [](const runtime::HostArray &a, const runtime::HostArray &b) {
                      return getNumber(a.name, "in") < getNumber(b.name, "in");
                    });
}

runtime::Program makeProgram(const ProgramGraph &graph,
                             const std::vector<runtime::LaunchSpec> &specs,
                             const std::string &device) {
  runtime::Program program;
  program.name = graph.name;
  program.device = device;
  ProgramMaker(graph, specs, program).run();
  return program;
}

} // namespace spyre::compiler
