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

#include "spyre/Dialect/Spyre/IR/Provenance.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Torch/IR/TorchOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <set>

using namespace mlir;
namespace artifact = ::spyre::artifact;

namespace spyre::compiler {

int64_t ProgramGraph::getNumLaunches(size_t bundle) const {
  return llvm::count_if(calls, [&](const auto &call) {
    const auto *launch = std::get_if<BundleCall>(&call);
    return launch && launch->bundle == bundle;
  });
}

/// The array and buffer of a bundle's constant.
static std::string getConstantName(const ProgramGraph &graph, size_t bundle,
                                   const std::string &array) {
  return graph.bundles.size() == 1 ? array : std::to_string(bundle) + "." + array;
}

std::string getConstantFile(const ProgramGraph &graph, size_t bundle, const std::string &array) {
  return "constants/" + getConstantName(graph, bundle, array) + ".npy";
}

/// A literal or number that stands between the calls for the host to read.
static bool isConstant(Operation *op) {
  return op->getNumOperands() == 0 && op->getNumRegions() == 0 &&
         op->getName().getDialectNamespace() == "torch";
}

/// Calls and what they read; constants alone only if \p isSplit says that nothing else
/// is left of the program.
static bool isSequenceOfCalls(func::FuncOp program, bool isSplit) {
  if (program.isExternal() || !llvm::hasSingleElement(program.getBody()))
    return false;
  bool hasCalls = isSplit;
  for (Operation &op : program.getBody().front().without_terminator()) {
    hasCalls |= isa<func::CallOp, mlir::spyre::HostCallOp>(op);
    if (!isa<func::CallOp, mlir::spyre::HostCallOp>(op) && !isConstant(&op))
      return false;
  }
  return hasCalls;
}

static std::vector<std::string> makeNames(StringRef stem, size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i)
    names.push_back((stem + Twine(i)).str());
  return names;
}

/// The array that a value of \p type is on the host; nothing if it is none.
static std::optional<artifact::HostArray> toHostArray(const std::string &name, Type type) {
  if (isa<torch_reader::IntType>(type))
    return artifact::HostArray{name, HostType::Int64, {}};
  if (isa<torch_reader::FloatType>(type))
    return artifact::HostArray{name, HostType::Float64, {}};
  if (isa<torch_reader::BoolType>(type))
    return artifact::HostArray{name, HostType::Bool, {}};
  std::optional<ArrayRef<int64_t>> shape = torch_reader::getTensorShape(type);
  Type element = torch_reader::getTensorElementType(type);
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    shape = tensor.getShape();
    element = tensor.getElementType();
  }
  if (!shape || !element || llvm::any_of(*shape, ShapedType::isDynamic))
    return std::nullopt;
  // No host has room for more.
  constexpr int64_t kMostElements = int64_t(1) << 40;
  for (int64_t elements = 1; int64_t size : *shape) {
    if (size > 0 && elements > kMostElements / size)
      return std::nullopt;
    elements *= size;
  }
  std::optional<HostType> dtype;
  if (element.isUnsignedInteger(8))
    dtype = HostType::UInt8;
  else if (auto integer = dyn_cast<IntegerType>(element); integer && integer.isUnsigned())
    return std::nullopt;
  else
    dtype = mlir::spyre::getHostType(
        integer ? IntegerType::get(type.getContext(), integer.getWidth()) : element);
  if (!dtype)
    return std::nullopt;
  return artifact::HostArray{name, *dtype, {shape->begin(), shape->end()}};
}

/// "read": by an operation of the host, which may decide by the result's numbers.
static Attribute getResultMark(Builder &b, bool isRead) {
  return isRead ? Attribute(b.getStringAttr("read")) : b.getUnitAttr();
}

namespace {
/// Reads the sequence of calls that a program is.
class ProgramReader {
public:
  ProgramReader(ModuleOp module, func::FuncOp program, HostNumbers numbers)
      : module(module), program(program), numbers(numbers) {}

  FailureOr<ProgramGraph> read();

private:
  void nameValues();
  void addBundleCall(func::CallOp call);
  LogicalResult addHostCall(mlir::spyre::HostCallOp call);
  LogicalResult describeSignature();
  artifact::HostArgument toArgument(Attribute argument, ValueRange inputs);
  /// The name of \p value, which is new if \p value has none.
  std::string &getName(Value value);
  /// A weight has one layout: only where it is passed once does its reader decide.
  bool isWeight(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.hasOneUse() &&
           program.getArgAttr(argument.getArgNumber(), mlir::spyre::kWeightAttr);
  }

  /// Marks arguments and results of \p callee that the host alone passes and takes, in this
  /// call and the others.
  void markHostValues(func::CallOp call, func::FuncOp callee, bool isFirst);

  ModuleOp module;
  func::FuncOp program;
  HostNumbers numbers;
  ProgramGraph graph;
  llvm::DenseMap<Value, std::string> names;
  llvm::StringMap<size_t> bundles;
  size_t numTemporaries = 0;
};
} // namespace

/// The elements of a literal, or of a number as a tensor without dims.
static ElementsAttr getConstant(Value value) {
  Builder b(value.getContext());
  auto make = [&](Type type, auto number) {
    return DenseElementsAttr::get(RankedTensorType::get({}, type), number);
  };
  if (std::optional<int64_t> integer = torch_reader::getConstantInt(value))
    return make(b.getI64Type(), *integer);
  if (std::optional<bool> truth = torch_reader::getConstantBool(value))
    return make(b.getI1Type(), *truth);
  if (std::optional<double> number = torch_reader::getConstantFloat(value))
    return make(b.getF64Type(), *number);
  return torch_reader::getTensorLiteral(value);
}

std::string &ProgramReader::getName(Value value) {
  std::string &name = names[value];
  if (!name.empty())
    return name;
  name = ("tmp" + Twine(numTemporaries++)).str();
  // A constant is named where it is first read.
  if (ElementsAttr elements = getConstant(value)) {
    --numTemporaries;
    name = ("host" + Twine(graph.constants.size())).str();
    if (std::optional<artifact::HostArray> array = toHostArray(name, value.getType()))
      graph.constants.push_back({*array, elements});
  }
  return name;
}

void ProgramReader::nameValues() {
  for (BlockArgument argument : program.getArguments())
    names[argument] = ("in" + Twine(argument.getArgNumber())).str();
  for (auto [i, value] : llvm::enumerate(program.getBody().front().getTerminator()->getOperands()))
    if (value.getDefiningOp() && !isConstant(value.getDefiningOp()))
      names.try_emplace(value, ("out" + Twine(i)).str());
}

void ProgramReader::markHostValues(func::CallOp call, func::FuncOp callee, bool isFirst) {
  Builder b(callee.getContext());
  for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
    if (operand.getDefiningOp<func::CallOp>())
      callee.removeArgAttr(i, mlir::spyre::kOnHostAttr);
    else if (isFirst)
      callee.setArgAttr(i, mlir::spyre::kOnHostAttr, b.getUnitAttr());
  }
  for (auto [i, result] : llvm::enumerate(call.getResults())) {
    Attribute before = callee.getResultAttr(i, mlir::spyre::kOnHostAttr);
    bool isRead = numbers == HostNumbers::ExactResults ||
                  llvm::any_of(result.getUsers(), llvm::IsaPred<mlir::spyre::HostCallOp>) ||
                  isa_and_nonnull<StringAttr>(before);
    if (llvm::any_of(result.getUsers(), llvm::IsaPred<func::CallOp>))
      callee.removeResultAttr(i, b.getStringAttr(mlir::spyre::kOnHostAttr));
    else if (isFirst || before)
      callee.setResultAttr(i, mlir::spyre::kOnHostAttr, getResultMark(b, isRead));
  }
}

void ProgramReader::addBundleCall(func::CallOp call) {
  auto [entry, isNew] = bundles.try_emplace(call.getCallee(), graph.bundles.size());
  if (isNew) {
    auto bundle = ModuleOp::create(module->getLoc());
    bundle->setAttrs(module->getAttrDictionary());
    auto callee = cast<func::FuncOp>(bundle.getBody()->getOperations().insert(
        bundle.getBody()->end(), module.lookupSymbol<func::FuncOp>(call.getCallee())->clone()));
    callee.setPublic();
    graph.bundles.push_back(bundle);
  }
  auto callee = *graph.bundles[entry->second]->getOps<func::FuncOp>().begin();
  if (numbers != HostNumbers::Rounded)
    markHostValues(call, callee, isNew);
  BundleCall launch{entry->second, {}, {}};
  for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
    if (isNew && isWeight(operand))
      callee.setArgAttr(i, mlir::spyre::kWeightAttr, UnitAttr::get(callee.getContext()));
    else if (!isWeight(operand))
      callee.removeArgAttr(i, mlir::spyre::kWeightAttr);
    launch.inputs.push_back(getName(operand));
    // What the host has is copied in, with zeros around it.
    if (operand.getDefiningOp<func::CallOp>())
      callee.setArgAttr(
          i, mlir::spyre::kTailAttr,
          StringAttr::get(callee.getContext(), ::spyre::getName(::spyre::TailState::Unknown)));
  }
  for (Value result : call.getResults())
    launch.outputs.push_back(getName(result));
  graph.calls.push_back(std::move(launch));
}

artifact::HostArgument ProgramReader::toArgument(Attribute argument, ValueRange inputs) {
  if (auto truth = dyn_cast<BoolAttr>(argument))
    return {truth.getValue()};
  if (auto text = dyn_cast<StringAttr>(argument))
    return {text.str()};
  if (auto number = dyn_cast<FloatAttr>(argument))
    return {number.getValueAsDouble()};
  if (auto list = dyn_cast<ArrayAttr>(argument)) {
    std::vector<artifact::HostArgument> elements;
    for (Attribute element : list)
      elements.push_back(toArgument(element, inputs));
    return {std::move(elements)};
  }
  if (auto complex = dyn_cast<DenseElementsAttr>(argument)) {
    artifact::HostArray array{
        "host" + std::to_string(graph.constants.size()), HostType::Complex128, {}};
    graph.constants.push_back({array, complex});
    return {artifact::HostArgument::Array{array.name, /*isNumber=*/true}};
  }
  auto number = dyn_cast<IntegerAttr>(argument);
  if (!number)
    return {}; // unit
  if (!number.getType().isIndex())
    return {number.getInt()};
  Value input = inputs[number.getInt()];
  bool isTensor = torch_reader::isTensor(input.getType()) || isa<TensorType>(input.getType());
  return {artifact::HostArgument::Array{getName(input), !isTensor}};
}

LogicalResult ProgramReader::addHostCall(mlir::spyre::HostCallOp call) {
  artifact::HostCall step;
  step.function = call.getFunction().str();
  step.reason = call.getReason().str();
  if (FileLineColLoc place = mlir::spyre::getOrigin(call.getLoc()).position)
    step.location = (place.getFilename().getValue() + ":" + Twine(place.getLine()) + ":" +
                     Twine(place.getColumn()))
                        .str();
  for (Value input : call.getInputs())
    if (!toHostArray("", input.getType()) ||
        (input.getDefiningOp() && isConstant(input.getDefiningOp()) && !getConstant(input)))
      return emitError(call.getLoc()) << "'" << step.function << "' is not supported on the host: "
                                      << "an operand of type " << input.getType() << " is no array";
  for (Attribute argument : call.getArguments())
    step.arguments.push_back(toArgument(argument, call.getInputs()));
  for (auto [result, number, item] :
       llvm::zip(call.getResults(), call.getNumbers(), call.getItems())) {
    std::optional<artifact::HostArray> array = toHostArray(getName(result), result.getType());
    if (!array)
      return emitError(call.getLoc())
             << "'" << step.function << "' is not supported on the host: " << result.getType()
             << " is no array";
    step.outputs.push_back({*array, number, item});
  }
  graph.calls.push_back(std::move(step));
  return success();
}

/// Arguments and results by their types; results that nothing computes are copies.
LogicalResult ProgramReader::describeSignature() {
  graph.arguments.emplace();
  for (BlockArgument argument : program.getArguments()) {
    std::optional<artifact::HostArray> array = toHostArray(names[argument], argument.getType());
    if (!array)
      return emitError(program.getLoc())
             << "argument #" << argument.getArgNumber() << ": " << argument.getType()
             << " is not supported: it cannot be passed to a program";
    graph.arguments->push_back(*array);
  }
  graph.resultArrays.emplace();
  llvm::StringSet<> shown;
  for (auto [i, value] :
       llvm::enumerate(program.getBody().front().getTerminator()->getOperands())) {
    std::string name = ("out" + Twine(i)).str();
    std::optional<artifact::HostArray> array = toHostArray(name, value.getType());
    if (!array)
      return emitError(program.getLoc()) << "result #" << i << ": " << value.getType()
                                         << " is not supported: a program cannot give it";
    graph.resultArrays->push_back(*array);
    std::string source = getName(value);
    if (source != name) {
      artifact::HostCall copy;
      copy.function = "aten.alias";
      copy.arguments.push_back({artifact::HostArgument::Array{source, false}});
      copy.outputs.push_back({*array, 0, -1});
      graph.calls.push_back(std::move(copy));
    }
    graph.results.push_back(name);
  }
  return success();
}

FailureOr<ProgramGraph> ProgramReader::read() {
  graph.name = program.getName().str();
  nameValues();
  Block &body = program.getBody().front();
  bool hasHost = false;
  for (Operation &op : body.without_terminator()) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      addBundleCall(call);
    } else if (auto call = dyn_cast<mlir::spyre::HostCallOp>(op)) {
      hasHost = true;
      if (failed(addHostCall(call)))
        return failure();
    } else {
      hasHost |= !op.use_empty();
    }
  }
  hasHost |= llvm::any_of(body.getTerminator()->getOperands(), llvm::IsaPred<BlockArgument>);
  hasHost |= llvm::any_of(program.getArguments(), [](BlockArgument a) { return a.use_empty(); });
  if (hasHost) {
    if (failed(describeSignature()))
      return failure();
  } else {
    for (Value value : body.getTerminator()->getOperands())
      graph.results.push_back(names.lookup(value));
  }
  return std::move(graph);
}

/// The launch of a program of one bundle. Planned by hand (L3), its results are arguments.
static BundleCall makeOnlyCall(func::FuncOp program) {
  BundleCall call;
  call.inputs = makeNames("in", program.getNumArguments());
  call.outputs = makeNames("out", program.getNumResults());
  if (!llvm::any_of(program.getArgumentTypes(), llvm::IsaPred<mlir::spyre::BufferType>))
    return call;
  size_t inputs = 0, outputs = 0;
  for (unsigned i = 0; i < program.getNumArguments(); ++i) {
    auto role = program.getArgAttrOfType<StringAttr>(i, mlir::spyre::kRoleAttr);
    inputs += role && role.getValue() == "input";
    outputs += role && role.getValue() == "output";
  }
  call.inputs = makeNames("in", inputs);
  call.outputs = makeNames("out", outputs);
  return call;
}

FailureOr<ProgramGraph> splitProgram(OwningOpRef<ModuleOp> module, bool isSplit,
                                     HostNumbers numbers) {
  func::FuncOp program;
  for (auto func : module->getOps<func::FuncOp>())
    if (func.isPublic())
      program = func;
  if (program && isSequenceOfCalls(program, isSplit))
    return ProgramReader(*module, program, numbers).read();
  ProgramGraph graph;
  if (program) {
    Builder b(program.getContext());
    bool isExact = numbers != HostNumbers::Rounded;
    for (unsigned i = 0; isExact && i < program.getNumArguments(); ++i)
      program.setArgAttr(i, mlir::spyre::kOnHostAttr, b.getUnitAttr());
    for (unsigned i = 0; isExact && i < program.getNumResults(); ++i)
      program.setResultAttr(i, mlir::spyre::kOnHostAttr,
                            getResultMark(b, numbers == HostNumbers::ExactResults));
    graph.name = program.getName().str();
    graph.calls.push_back(makeOnlyCall(program));
    graph.results = std::get<BundleCall>(graph.calls.back()).outputs;
  }
  graph.bundles.push_back(std::move(module));
  return graph;
}

namespace {
/// Adds steps, and what they need, to a program.
class ProgramMaker {
public:
  ProgramMaker(const ProgramGraph &graph, const std::vector<artifact::LaunchSpec> &specs,
               artifact::Program &program)
      : graph(graph), specs(specs), program(program) {}

  void run();

private:
  /// The value that argument \p argument of call \p call is.
  std::string getValue(const BundleCall &call, const artifact::ArgumentSpec &argument) const;
  /// The buffer that it lives in. A value that the host has may be in several formats; the
  /// first is the one of the value's name.
  std::string getBuffer(const BundleCall &call, const artifact::ArgumentSpec &argument);
  void noteUses();
  void addBuffer(const std::string &name, const std::string &value,
                 const artifact::ArgumentSpec &argument);
  void addLaunch(const BundleCall &call);
  void addHostCall(const artifact::HostCall &call);
  void copyOut(const std::string &name);
  void freeUnused(size_t step);

  const ProgramGraph &graph;
  const std::vector<artifact::LaunchSpec> &specs;
  artifact::Program &program;
  std::map<std::string, artifact::ArgumentSpec> buffers;
  std::map<std::string, size_t> lastUse;     ///< by buffer, on the device or as it is copied out
  std::map<std::string, DataFormat> formats; ///< of the buffer that has the value's name
  std::set<std::string> onHost;              ///< values that the host has
  std::set<std::string> listed;              ///< arguments that the program has
};
} // namespace

/// "in12" -> 12 if \p name is \p stem and a number.
static std::optional<size_t> getNumber(StringRef name, StringRef stem) {
  size_t number;
  if (!name.consume_front(stem) || name.getAsInteger(10, number))
    return std::nullopt;
  return number;
}

std::string ProgramMaker::getValue(const BundleCall &call,
                                   const artifact::ArgumentSpec &argument) const {
  if (auto i = getNumber(argument.array, "in"); i && *i < call.inputs.size())
    return call.inputs[*i];
  if (auto i = getNumber(argument.array, "out"); i && *i < call.outputs.size())
    return call.outputs[*i];
  return getConstantName(graph, call.bundle, argument.array);
}

std::string ProgramMaker::getBuffer(const BundleCall &call,
                                    const artifact::ArgumentSpec &argument) {
  std::string value = getValue(call, argument);
  auto [format, isNew] = formats.try_emplace(value, argument.deviceFormat);
  if (isNew || format->second == argument.deviceFormat)
    return value;
  return value + "." + std::string(getFormatName(argument.deviceFormat));
}

void ProgramMaker::noteUses() {
  for (auto [step, call] : llvm::enumerate(graph.calls)) {
    if (const auto *host = std::get_if<artifact::HostCall>(&call)) {
      artifact::forEachArray(host->arguments, [&](const artifact::HostArgument::Array &array) {
        lastUse[array.name] = step;
      });
      continue;
    }
    const auto &launch = std::get<BundleCall>(call);
    for (const artifact::ArgumentSpec &argument : specs[launch.bundle].arguments)
      if (argument.role != artifact::Role::Constant)
        lastUse[getBuffer(launch, argument)] = step;
  }
  for (const std::string &result : graph.results)
    lastUse[result] = graph.calls.size();
}

void ProgramMaker::addBuffer(const std::string &name, const std::string &value,
                             const artifact::ArgumentSpec &argument) {
  if (!buffers.try_emplace(name, argument).second)
    return;
  int64_t bytes = ::spyre::kStickInBytes;
  for (size_t i = 0; i + 1 < argument.deviceSize.size(); ++i)
    bytes *= argument.deviceSize[i];
  program.buffers.push_back({name, bytes});
  if (argument.role == artifact::Role::Output)
    return;
  // First seen as an input: the host has it.
  if (getNumber(argument.array, "const"))
    program.constants.push_back(
        {{name, argument.dtype, argument.shape}, "constants/" + name + ".npy"});
  else if (!graph.arguments && !onHost.count(value) && listed.insert(value).second)
    program.arguments.push_back({value, argument.dtype, argument.shape});
  program.steps.push_back({artifact::CopyIn{value, name}});
}

void ProgramMaker::freeUnused(size_t step) {
  for (const auto &[name, spec] : buffers)
    if (lastUse.at(name) == step)
      program.steps.push_back({artifact::Free{name}});
}

void ProgramMaker::addLaunch(const BundleCall &call) {
  artifact::LaunchBundle launch;
  launch.bundle = "bundles/" + std::to_string(call.bundle);
  for (const artifact::ArgumentSpec &argument : specs[call.bundle].arguments) {
    if (argument.role == artifact::Role::Constant) {
      launch.buffers.emplace_back();
      continue;
    }
    std::string name = getBuffer(call, argument);
    addBuffer(name, getValue(call, argument), argument);
    launch.buffers.push_back(name);
  }
  program.steps.push_back({std::move(launch)});
}

void ProgramMaker::copyOut(const std::string &name) {
  if (buffers.count(name) && onHost.insert(name).second)
    program.steps.push_back({artifact::CopyOut{name, name}});
}

void ProgramMaker::addHostCall(const artifact::HostCall &call) {
  artifact::forEachArray(call.arguments,
                         [&](const artifact::HostArgument::Array &array) { copyOut(array.name); });
  for (const artifact::HostOutput &output : call.outputs)
    onHost.insert(output.array.name);
  program.steps.push_back({call});
}

void ProgramMaker::run() {
  noteUses();
  if (graph.arguments) {
    program.arguments = *graph.arguments;
    for (const artifact::HostArray &argument : program.arguments)
      onHost.insert(argument.name);
  }
  for (const HostConstant &constant : graph.constants) {
    program.constants.push_back({constant.array, "constants/" + constant.array.name + ".npy"});
    onHost.insert(constant.array.name);
  }
  for (auto [step, call] : llvm::enumerate(graph.calls)) {
    if (const auto *host = std::get_if<artifact::HostCall>(&call))
      addHostCall(*host);
    else
      addLaunch(std::get<BundleCall>(call));
    freeUnused(step);
  }
  std::set<std::string> done;
  for (auto [i, result] : llvm::enumerate(graph.results)) {
    std::string array = "out" + std::to_string(i);
    if (graph.resultArrays) {
      program.results.push_back((*graph.resultArrays)[i]);
      copyOut(result);
      continue;
    }
    const artifact::ArgumentSpec &spec = buffers.at(result);
    program.results.push_back({array, spec.dtype, spec.shape});
    program.steps.push_back({artifact::CopyOut{result, array}});
  }
  for (const std::string &result : graph.results)
    if (buffers.count(result) && done.insert(result).second)
      program.steps.push_back({artifact::Free{result}});
  // Arguments in the order of their numbers, whenever they are first used.
  llvm::sort(program.arguments, [](const artifact::HostArray &a, const artifact::HostArray &b) {
    return getNumber(a.name, "in") < getNumber(b.name, "in");
  });
}

artifact::Program makeProgram(const ProgramGraph &graph,
                              const std::vector<artifact::LaunchSpec> &specs,
                              const std::string &device) {
  artifact::Program program;
  program.name = graph.name;
  program.device = device;
  ProgramMaker(graph, specs, program).run();
  return program;
}

} // namespace spyre::compiler
