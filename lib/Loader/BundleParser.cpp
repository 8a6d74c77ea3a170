//===- BundleParser.cpp - A bundle directory to MLIR and a plan -----------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether the first parameter is the HBM pool stands nowhere in the IR: the
// emitting compiler tells it by the parameter's name, which MLIR drops. So it is
// read off the text, through the parser's record of definitions; a launch spec
// (or binding) beside the bundle decides by its number of arguments, and has to
// agree with the name.
//
//===----------------------------------------------------------------------===//

#include "spyre/Loader/Loader.h"

#include "spyre/Dialect/SuperDSC/IR/SdscBundleDialect.h"
#include "spyre/SuperDSC/DescriptorJson.h"
#include "spyre/Support/Nesting.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#include <set>

using namespace mlir;

namespace artifact = ::spyre::artifact;

/// \p where is "line:column", or a JSON pointer that goes into the message.
static InFlightDiagnostic emitFileError(MLIRContext &context, StringRef path,
                                        StringRef where = "") {
  auto [line, column] = where.split(':');
  unsigned lineNumber = 0, columnNumber = 0;
  if (line.getAsInteger(10, lineNumber) || column.getAsInteger(10, columnNumber)) {
    InFlightDiagnostic diagnostic = emitError(FileLineColLoc::get(&context, path, 0, 0));
    if (!where.empty())
      diagnostic << where << ": ";
    return diagnostic;
  }
  return emitError(FileLineColLoc::get(&context, path, lineNumber, columnNumber));
}

static std::string joinPath(StringRef dir, StringRef name) {
  llvm::SmallString<128> path(dir);
  llvm::sys::path::append(path, name);
  return std::string(path);
}

/// The text of \p path; emits an error if it cannot be read.
static std::unique_ptr<llvm::MemoryBuffer> readFile(MLIRContext &context, StringRef path) {
  // A directory or device of that name would be read endlessly or not at all.
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path)) {
    emitFileError(context, path) << "is no file";
    return nullptr;
  }
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    emitFileError(context, path) << "cannot be read: " << buffer.getError().message();
    return nullptr;
  }
  return std::move(*buffer);
}

void spyre::registerBundleDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect, func::FuncDialect, scf::SCFDialect,
                  sdscbundle::SdscBundleDialect>();
}

/// The parameters' names as written ("%pool_base_addr"); "" where there is none.
static SmallVector<StringRef> getParameterNames(func::FuncOp function,
                                                const AsmParserState &state) {
  SmallVector<StringRef> names(function.getNumArguments());
  const AsmParserState::BlockDefinition *block =
      names.empty() ? nullptr : state.getBlockDef(&function.getBody().front());
  if (!block || block->arguments.size() != names.size())
    return names;
  for (auto [name, argument] : llvm::zip_equal(names, block->arguments))
    if (SMRange range = argument.loc; range.isValid())
      name = StringRef(range.Start.getPointer(), range.End.getPointer() - range.Start.getPointer());
  return names;
}

/// Keeps the numbers in the arguments' names ("%arg_2_base_addr") where they do not
/// just count: they tell the arguments' places in the kernel's list.
static void keepArgumentNumbers(func::FuncOp function, ArrayRef<StringRef> names) {
  SmallVector<int64_t> numbers;
  for (StringRef name : names)
    if (!name.consume_front("%arg_") || !name.consume_back("_base_addr") ||
        name.getAsInteger(10, numbers.emplace_back()) || numbers.back() < 0)
      return;
  llvm::SmallDenseSet<int64_t> seen(numbers.begin(), numbers.end());
  if (seen.size() != numbers.size() || llvm::equal(numbers, llvm::seq<int64_t>(0, numbers.size())))
    return;
  function->setAttr(sdscbundle::kNumbersAttr,
                    DenseI64ArrayAttr::get(function.getContext(), numbers));
}

static FailureOr<std::optional<artifact::LaunchSpec>> readSpec(StringRef dir, MLIRContext &context,
                                                               std::string &specName) {
  for (const char *name : {"spyreCodeDir/launch_spec.json", "launch_spec.json", "bind.json"}) {
    std::string path = joinPath(dir, name);
    if (!llvm::sys::fs::exists(path))
      continue;
    specName = name;
    std::unique_ptr<llvm::MemoryBuffer> buffer = readFile(context, path);
    if (!buffer)
      return failure();
    auto result = artifact::readLaunchSpec(buffer->getBuffer());
    if (auto *error = std::get_if<artifact::FileError>(&result)) {
      emitFileError(context, path, error->where) << error->message;
      return failure();
    }
    return std::optional<artifact::LaunchSpec>(std::get<artifact::LaunchSpec>(std::move(result)));
  }
  return std::optional<artifact::LaunchSpec>();
}

FailureOr<spyre::ParsedBundle> spyre::parseBundle(StringRef dir, MLIRContext &context,
                                                  bool readsSpec) {
  DialectRegistry registry;
  registerBundleDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();

  if (!llvm::sys::fs::is_directory(dir)) {
    emitFileError(context, dir) << "is no directory";
    return failure();
  }
  std::string path = joinPath(dir, "bundle.mlir");
  std::unique_ptr<llvm::MemoryBuffer> buffer = readFile(context, path);
  if (!buffer)
    return failure();
  StringRef text = buffer->getBuffer();
  if (auto place = findTooDeepNesting(std::string_view(text.data(), text.size()))) {
    emitError(FileLineColLoc::get(&context, path, place->line, place->column))
        << "nested deeper than " << kMaxTextNesting << " levels";
    return failure();
  }
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(std::move(buffer), SMLoc());

  ParsedBundle bundle;
  Block block;
  AsmParserState state;
  if (failed(parseAsmSourceFile(sourceMgr, &block, ParserConfig(&context), &state)))
    return failure();

  // A function may also stand at the top, without a module around it.
  SmallVector<func::FuncOp> functions;
  for (Operation &op : block) {
    if (auto function = dyn_cast<func::FuncOp>(op))
      functions.push_back(function);
    else if (auto module = dyn_cast<ModuleOp>(op))
      llvm::append_range(functions, module.getOps<func::FuncOp>());
  }
  if (functions.size() != 1 || functions.front().isExternal()) {
    emitFileError(context, path) << "a bundle is one function with a body; found "
                                 << functions.size();
    return failure();
  }
  bundle.function = functions.front();
  SmallVector<StringRef> names = getParameterNames(bundle.function, state);
  bool namedPool = (!names.empty() && names.front() == "%pool_base_addr") ||
                   bundle.function->hasAttr(sdscbundle::kHasPoolAttr);

  std::string specName;
  if (readsSpec) {
    FailureOr<std::optional<artifact::LaunchSpec>> spec = readSpec(dir, context, specName);
    if (failed(spec))
      return failure();
    bundle.spec = std::move(*spec);
  }
  bundle.hasPool = namedPool;
  size_t numParameters = sdscbundle::getNumAddresses(bundle.function);
  if (bundle.spec && numParameters > 0) {
    size_t numArguments = bundle.spec->arguments.size();
    if (!namedPool && numParameters == numArguments + 1)
      bundle.hasPool = true;
    if (numParameters != numArguments + (bundle.hasPool ? 1 : 0)) {
      emitError(bundle.function.getLoc())
          << "the bundle has " << numParameters << " parameters"
          << (bundle.hasPool ? ", the pool included," : "") << " but " << specName << " lists "
          << numArguments << " arguments";
      return failure();
    }
  }

  // The pool is marked for the attribute's verifier, which counts arguments without it.
  if (bundle.hasPool)
    bundle.function->setAttr(sdscbundle::kHasPoolAttr, UnitAttr::get(&context));
  SmallVector<StringRef> ofAddresses;
  for (auto [name, type] : llvm::zip_equal(names, bundle.function.getArgumentTypes()))
    if (!sdscbundle::isSizeType(type))
      ofAddresses.push_back(name);
  keepArgumentNumbers(bundle.function, ArrayRef(ofAddresses).drop_front(bundle.hasPool));

  if (auto module = dyn_cast<ModuleOp>(block.front()); module && llvm::hasSingleElement(block)) {
    module->remove();
    bundle.module = module;
  } else {
    bundle.module = ModuleOp::create(FileLineColLoc::get(&context, path, 1, 1));
    bundle.module->getBody()->getOperations().splice(bundle.module->getBody()->begin(),
                                                     block.getOperations());
  }
  return bundle;
}

FailureOr<spyre::sdsc::Descriptor> spyre::readBundleDescriptor(StringRef dir,
                                                               mlir::sdscbundle::SdscExecuteOp op) {
  StringRef name = op.getSdscFilename();
  std::string path = joinPath(dir, name);
  if (!llvm::sys::fs::exists(path))
    return op.emitError() << "names the descriptor \"" << name << "\", which is not in " << dir;
  std::unique_ptr<llvm::MemoryBuffer> buffer = readFile(*op.getContext(), path);
  if (!buffer)
    return failure();
  auto result = sdsc::readDescriptor(buffer->getBuffer(), "");
  if (auto *error = std::get_if<sdsc::ReadError>(&result)) {
    emitFileError(*op.getContext(), path, error->where) << error->message;
    return failure();
  }
  return std::get<sdsc::Descriptor>(std::move(result));
}

FailureOr<artifact::Plan> spyre::loadBundlePlan(StringRef dir, MLIRContext &context,
                                                bool readsSpec) {
  FailureOr<ParsedBundle> bundle = parseBundle(dir, context, readsSpec);
  if (failed(bundle))
    return failure();
  int64_t poolInBytes = bundle->spec ? bundle->spec->poolInBytes : 0;
  FailureOr<artifact::Plan> plan = buildPlan(bundle->function, bundle->hasPool, poolInBytes);
  if (failed(plan))
    return failure();

  // Each descriptor is read once: which symbols it needs, by file.
  llvm::StringMap<std::set<int64_t>> needed;
  llvm::StringSet<> unreadable;
  sdsc::UnknownFields unknown;
  bundle->function.walk([&](sdscbundle::SdscExecuteOp op) {
    StringRef name = op.getSdscFilename();
    if (needed.contains(name) || unreadable.contains(name))
      return;
    FailureOr<sdsc::Descriptor> descriptor = readBundleDescriptor(dir, op);
    if (failed(descriptor)) {
      unreadable.insert(name);
      return;
    }
    unknown.add(*descriptor, name.str());
    std::set<int64_t> &ids = needed[name];
    for (const sdsc::Tensor &tensor : descriptor->tensors)
      for (int64_t address : tensor.startAddress)
        if (address < 0)
          ids.insert(address);
    for (const sdsc::DimSymbols &entry : descriptor->dimSymbols)
      ids.insert(entry.symbols.begin(), entry.symbols.end());
  });
  for (const std::string &message : unknown.getMessages())
    emitWarning(FileLineColLoc::get(&context, dir, 0, 0)) << message;
  bool complete = unreadable.empty();
  bundle->function.walk([&](sdscbundle::SdscExecuteOp op) {
    std::set<int64_t> missing = needed.lookup(op.getSdscFilename());
    for (int64_t id : op.getSymbolIdValues())
      missing.erase(id);
    if (missing.empty())
      return;
    complete = false;
    op.emitError() << "does not bind symbol " << *missing.rbegin() << " that "
                   << op.getSdscFilename() << " uses"
                   << (missing.size() > 1
                           ? " (nor " + std::to_string(missing.size() - 1) + " others)"
                           : std::string());
  });
  if (!complete)
    return failure();
  return plan;
}
