//===- BundleDirectory.cpp - sdsc modules and bundle directories ----------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Target/SuperDSC/BundleDirectory.h"

#include "spyre/Loader/Loader.h"
#include "spyre/Target/SuperDSC/Bundle.h"
#include "spyre/Target/SuperDSC/DescriptorConversion.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <ostream>

using namespace mlir;
using namespace mlir::sdsc;

namespace artifact = ::spyre::artifact;
namespace sd = ::spyre::sdsc;

/// Whether the first parameter is the pool: said by an attribute, or by a launch
/// spec with one argument less.
static bool hasPool(func::FuncOp function, const std::optional<artifact::LaunchSpec> &spec) {
  return function->hasAttr(sdscbundle::kHasPoolAttr) ||
         (spec && sdscbundle::getNumAddresses(function) == spec->arguments.size() + 1);
}

/// The message names the path; no place in the program is to blame.
static LogicalResult reportWriteError(MLIRContext *context,
                                      const std::optional<std::string> &error) {
  if (error)
    return emitError(UnknownLoc::get(context)) << *error;
  return success();
}

namespace {
/// What the files beside the descriptors say.
struct Launching {
  const artifact::Plan &plan;
  const std::optional<artifact::LaunchSpec> &spec;
  ArrayRef<int64_t> numbers; ///< of the parameters; empty: in order
  bool hasSymbolIds;
  bool poolInBody;
};
} // namespace

/// bundle.mlir, plan.json and launch_spec.json.
static LogicalResult
writeLaunching(const Launching &launching,
               const std::map<std::string, const sd::Descriptor *> &descriptors, Location location,
               ::spyre::AtomicDirectory &directory, const std::string &prefix,
               const sd::WriteOptions &options) {
  auto write = [&](const char *name, const std::function<void(std::ostream &)> &content) {
    return reportWriteError(location.getContext(), directory.write(prefix + name, content));
  };
  const artifact::Plan &plan = launching.plan;
  constexpr int64_t kMostPoolBytes = int64_t(14) << 30; // of one allocation
  if (launching.poolInBody && plan.hasPool &&
      (plan.poolInBytes < 1 || plan.poolInBytes > kMostPoolBytes))
    return emitError(location) << "the body cannot make a pool of " << plan.poolInBytes
                               << " bytes (1 to 14 GiB); pass it as an argument";
  std::string text = printBundle(plan, descriptors, launching.hasSymbolIds, launching.numbers,
                                 launching.poolInBody);
  if (failed(write("bundle.mlir", [&](std::ostream &os) { os << text; })) ||
      failed(write("plan.json",
                   [&](std::ostream &os) { artifact::writePlan(plan, os, options.pretty); })))
    return failure();
  if (!launching.spec)
    return success();
  return write("launch_spec.json", [&](std::ostream &os) {
    artifact::writeLaunchSpec(*launching.spec, os, options.pretty);
  });
}

LogicalResult mlir::sdsc::writeBundleFiles(ModuleOp module, ::spyre::AtomicDirectory &directory,
                                           const std::string &prefix,
                                           const sd::WriteOptions &options) {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  if (functions.size() != 1 || functions.front().isExternal())
    return emitError(module.getLoc())
           << "a bundle is one function with a body; the module has " << functions.size();
  func::FuncOp function = functions.front();
  std::optional<artifact::LaunchSpec> spec = sdscbundle::getLaunchSpec(function);
  bool withPool = hasPool(function, spec);
  unsigned numAddresses = sdscbundle::getNumAddresses(function);
  if (spec && numAddresses > 0 && numAddresses != spec->arguments.size() + (withPool ? 1 : 0))
    return emitError(function.getLoc())
           << "has " << numAddresses << " parameters" << (withPool ? ", the pool included," : "")
           << " but its launch spec lists " << spec->arguments.size() << " arguments";
  int64_t poolInBytes = 0;
  if (auto bytes = function->getAttrOfType<IntegerAttr>(sdscbundle::kPoolBytesAttr))
    poolInBytes = bytes.getInt();
  FailureOr<artifact::Plan> plan = ::spyre::buildPlan(function, withPool, poolInBytes);
  if (failed(plan))
    return failure();

  auto report = [&](const std::optional<std::string> &error) {
    return reportWriteError(module.getContext(), error);
  };

  // Descriptors: those that are executed under the name that the execution gives
  // them, others under their symbol.
  SymbolTable symbols(module);
  std::map<std::string, DescriptorOp> files;
  llvm::StringSet<> written;
  bool complete = true, hasSymbolIds = function.getNumArguments() > 0;
  function.walk([&](sdscbundle::SdscExecuteOp op) {
    hasSymbolIds |= op.getSymbolIds().has_value();
    if (auto descriptor = symbols.lookup<DescriptorOp>(op.getDescriptorSymbol())) {
      files[op.getSdscFilename().str()] = descriptor;
      written.insert(descriptor.getSymName());
      return;
    }
    op.emitError() << "the module has no descriptor @" << op.getDescriptorSymbol();
    complete = false;
  });
  if (!complete)
    return failure();
  for (DescriptorOp descriptor : module.getOps<DescriptorOp>())
    if (!written.contains(descriptor.getSymName())) {
      if (!sdscbundle::isPlainFileName(descriptor.getSymName()))
        return descriptor.emitError() << "has a symbol that cannot be a file name";
      files[descriptor.getSymName().str() + ".json"] = descriptor;
    }

  // The printer needs each descriptor's core-0 symbols; with concrete addresses
  // nothing of them, and then they are converted and written one at a time.
  std::map<std::string, sd::Descriptor> kept;
  for (auto &[name, op] : files) {
    FailureOr<sd::Descriptor> descriptor = toDescriptor(op);
    if (failed(descriptor))
      return failure();
    if (failed(report(directory.write(
            prefix + name, [&](std::ostream &os) { writeDescriptor(*descriptor, os, options); }))))
      return failure();
    if (function.getNumArguments() > 0) {
      // Of the descriptor, only the operands' symbols are looked at.
      sd::Descriptor &slot = kept[name];
      for (const sd::Tensor &tensor : descriptor->tensors)
        if (tensor.symbolicAddress)
          slot.tensors.emplace_back().startAddress = tensor.startAddress;
    }
  }
  std::map<std::string, const sd::Descriptor *> descriptors;
  for (const auto &[name, descriptor] : kept)
    descriptors[name] = &descriptor;
  Launching launching{*plan, spec, {}, hasSymbolIds, options.poolInBody};
  if (auto attribute = function->getAttrOfType<DenseI64ArrayAttr>(sdscbundle::kNumbersAttr))
    launching.numbers = attribute.asArrayRef();
  // What made its pool itself goes on doing so.
  function.walk([&](sdscbundle::DeviceMemAllocateOp) { launching.poolInBody = true; });
  return writeLaunching(launching, descriptors, function.getLoc(), directory, prefix, options);
}

LogicalResult mlir::sdsc::verifyBundle(const Bundle &bundle, const sd::Limits &limits) {
  LogicalResult result = success();
  for (const BundleDescriptor &descriptor : bundle.descriptors)
    for (const sd::Violation &violation : sd::verifyDescriptor(descriptor.content, limits))
      if (!violation.isWarning)
        result = emitError(descriptor.location)
                 << violation.message << " [SDSC-" << violation.rule << "]";
  return result;
}

LogicalResult mlir::sdsc::writeBundleFiles(const Bundle &bundle,
                                           ::spyre::AtomicDirectory &directory,
                                           const std::string &prefix,
                                           const sd::WriteOptions &options) {
  std::map<std::string, const sd::Descriptor *> descriptors;
  for (const BundleDescriptor &descriptor : bundle.descriptors) {
    descriptors[descriptor.file] = &descriptor.content;
    if (failed(reportWriteError(bundle.location.getContext(),
                                directory.write(prefix + descriptor.file, [&](std::ostream &os) {
                                  writeDescriptor(descriptor.content, os, options);
                                }))))
      return failure();
  }
  return writeLaunching(
      {bundle.plan, bundle.spec, bundle.numbers, bundle.isSymbolic, options.poolInBody},
      descriptors, bundle.location, directory, prefix, options);
}

LogicalResult mlir::sdsc::writeBundleDirectory(ModuleOp module, StringRef dir,
                                               const sd::WriteOptions &options) {
  ::spyre::AtomicDirectory directory;
  auto report = [&](const std::optional<std::string> &error) {
    return reportWriteError(module.getContext(), error);
  };
  if (failed(report(directory.open(dir.str(), {"bundle.mlir"}))) ||
      failed(writeBundleFiles(module, directory, "", options)))
    return failure();
  return report(directory.commit());
}

FailureOr<OwningOpRef<ModuleOp>> mlir::sdsc::readBundleDirectory(StringRef dir,
                                                                 MLIRContext &context) {
  FailureOr<::spyre::ParsedBundle> bundle = ::spyre::parseBundle(dir, context);
  if (failed(bundle))
    return failure();
  if (bundle->spec)
    sdscbundle::setLaunchSpec(bundle->function, *bundle->spec);

  auto module = cast<ModuleOp>(bundle->function->getParentOp());
  OpBuilder builder(&context);
  builder.setInsertionPoint(bundle->function);
  llvm::StringSet<> seen;
  LogicalResult result = success();
  sd::UnknownFields unknown;
  module.walk([&](sdscbundle::SdscExecuteOp op) {
    StringRef name = op.getSdscFilename();
    if (!seen.insert(name).second)
      return;
    FailureOr<sd::Descriptor> descriptor = ::spyre::readBundleDescriptor(dir, op);
    if (failed(descriptor)) {
      result = failure();
      return;
    }
    unknown.add(*descriptor, name.str());
    // The place in the user's program, where the file tells it.
    llvm::SmallString<128> path(dir);
    llvm::sys::path::append(path, name);
    Location loc = FileLineColLoc::get(&context, path, 1, 1);
    if (descriptor->provenance && !descriptor->provenance->file.empty())
      loc = FileLineColLoc::get(&context, descriptor->provenance->file,
                                static_cast<unsigned>(descriptor->provenance->startLine),
                                static_cast<unsigned>(descriptor->provenance->startCol));
    buildDescriptorOp(builder, loc, *descriptor).setSymName(op.getDescriptorSymbol());
  });
  if (failed(result))
    return failure();
  for (const std::string &message : unknown.getMessages())
    emitWarning(FileLineColLoc::get(&context, dir, 0, 0)) << message;
  return std::move(bundle->module);
}
