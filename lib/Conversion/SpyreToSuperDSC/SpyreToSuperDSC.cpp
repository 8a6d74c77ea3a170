//===- SpyreToSuperDSC.cpp - L3 to SuperDSC -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks the planned function in order and emits a descriptor per device operation and a
// plan of the launches (emitBundle); the pass turns both into sdsc and sdscbundle operations.
//
//===----------------------------------------------------------------------===//

#include "spyre/Conversion/SpyreToSuperDSC/SpyreToSuperDSC.h"

#include "BundleBuilder.h"
#include "EmitInput.h"
#include "spyre/Dialect/Spyre/IR/ModuleDevice.h"
#include "spyre/Dialect/Spyre/IR/Provenance.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"
#include "spyre/Dialect/Spyre/Transforms/L3/LaunchSpec.h"
#include "spyre/Dialect/SuperDSC/IR/SdscBundleDialect.h"
#include "spyre/Dialect/SuperDSC/IR/SdscDialect.h"
#include "spyre/Target/SuperDSC/DescriptorConversion.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/Path.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_CONVERTSPYRETOSUPERDSC
#include "spyre/Conversion/SpyreToSuperDSC/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
namespace artifact = ::spyre::artifact;
namespace sdscdata = ::spyre::sdsc;

namespace {
class FunctionEmitter {
public:
  FunctionEmitter(func::FuncOp func, EmissionOptions options)
      : func(func), options(options), bundle{{}, {}, {}, {}, true, func.getLoc()},
        plan(bundle.plan) {}

  FailureOr<sdsc::Bundle> run();

private:
  LogicalResult findSpaces();
  LogicalResult emitBlock(Block &block, std::vector<artifact::Step> &steps);
  LogicalResult emitOp(DeviceOpInterface op, std::vector<artifact::Step> &steps);
  /// Binds the start addresses of \p emitted to symbols and returns the launch.
  void bindSymbols(sdscdata::EmittedOp &emitted, ArrayRef<BufferBase> bases,
                   artifact::Launch &launch);
  /// Its place in the kernel's list of arguments.
  int64_t getArgumentNumber(unsigned index) {
    auto number = func.getArgAttrOfType<IntegerAttr>(index, kNumberAttr);
    return number ? number.getInt() : index;
  }
  /// Address of argument \p index where addresses are concrete.
  FailureOr<int64_t> getArgumentAddress(unsigned index, Operation *user);

  func::FuncOp func;
  EmissionOptions options;
  sdsc::Bundle bundle;
  artifact::Plan &plan; ///< the bundle's
  std::optional<::spyre::Device> device;
  SmallVector<LoopState> loops;
  int64_t nextDescriptor = 0;
  int64_t nextSymbol = -1;
};

} // namespace

/// Pool size and device, once for the function.
LogicalResult FunctionEmitter::findSpaces() {
  FailureOr<::spyre::Device> found = getDevice(func);
  if (failed(found))
    return failure();
  device = *found;
  const MemoryUse use = getMemoryUse(func);
  plan.hasPool = use.hasPool;
  plan.poolInBytes = use.poolInBytes;
  plan.numArguments = func.getNumArguments();
  plan.name = func.getName().str();
  return success();
}

FailureOr<int64_t> FunctionEmitter::getArgumentAddress(unsigned index, Operation *user) {
  if (auto address = func.getArgAttrOfType<IntegerAttr>(index, kAddressAttr))
    return address.getInt();
  // Argument k lies at segment k; the pool takes segment 0 and moves them up.
  int64_t segment = getArgumentNumber(index) + plan.hasPool;
  if (segment >= device->getNumArgumentSegments())
    return user->emitOpError() << "argument #" << index << " has no address: the device has "
                               << device->getNumArgumentSegments()
                               << " segments for arguments; use symbolic addresses";
  return segment * device->getSegmentInBytes();
}

void FunctionEmitter::bindSymbols(sdscdata::EmittedOp &emitted, ArrayRef<BufferBase> bases,
                                  artifact::Launch &launch) {
  // An address gets a new id unless this operation has already bound it.
  std::map<std::tuple<int64_t, int64_t, std::vector<int64_t>>, int64_t> seen;
  for (auto [i, tensor] : llvm::enumerate(emitted.descriptor.tensors)) {
    const BufferBase &base = bases[i];
    if (base.kind == BufferBase::LX)
      continue;
    artifact::AddressExpr address;
    if (base.kind == BufferBase::Argument)
      address.base = base.argument;
    else if (base.kind == BufferBase::Pool)
      address.base = artifact::AddressExpr::kPool;
    else
      address.base = artifact::AddressExpr::kAbsolute;
    // The addresses of an unrolled iteration are its own.
    if (!options.unroll)
      address.strideInBytes = emitted.loopStrideInBytes[i];
    while (!address.strideInBytes.empty() && address.strideInBytes.back() == 0)
      address.strideInBytes.pop_back();
    for (int64_t &start : tensor.startAddress) {
      address.offsetInBytes = start;
      auto [it, isNew] = seen.try_emplace(
          std::make_tuple(address.base, address.offsetInBytes, address.strideInBytes), nextSymbol);
      if (isNew) {
        launch.symbols.emplace_back(nextSymbol, address);
        --nextSymbol;
      }
      start = it->second;
    }
    tensor.symbolicAddress = true;
  }
}

/// Where \p op came from, as its location says. Without the folder: a bundle does not
/// depend on where the source lies.
static std::optional<sdscdata::Provenance> getProvenance(Operation *op, int64_t index) {
  sdscdata::Provenance provenance;
  provenance.id = std::to_string(index);
  Origin origin = getOrigin(op->getLoc());
  if (!origin.position)
    return std::nullopt;
  if (origin.operation)
    provenance.irChain.push_back(origin.operation.str());
  provenance.irChain.push_back(op->getName().getStringRef().str());
  provenance.file = llvm::sys::path::filename(origin.position.getFilename().getValue()).str();
  provenance.startLine = origin.position.getLine();
  provenance.startCol = origin.position.getColumn();
  return provenance;
}

LogicalResult FunctionEmitter::emitOp(DeviceOpInterface op, std::vector<artifact::Step> &steps) {
  SmallVector<BufferBase> bases;
  FailureOr<sdscdata::EmitOp> input = buildEmitOp(op, loops, bases);
  if (failed(input))
    return failure();
  if (!options.symbolic)
    for (auto [base, operand] : llvm::zip_equal(bases, input->operands))
      if (base.kind == BufferBase::Argument) {
        FailureOr<int64_t> address = getArgumentAddress(base.argument, op);
        if (failed(address))
          return failure();
        operand.addressInBytes = *address;
      }
  auto result = sdscdata::emitDescriptor(*input, nextDescriptor);
  if (auto *error = std::get_if<sdscdata::EmitError>(&result)) {
    InFlightDiagnostic diag = op->emitOpError();
    if (error->operand >= 0)
      diag << "operand #" << error->operand << ": ";
    return diag << error->message;
  }
  auto &emitted = std::get<sdscdata::EmittedOp>(result);
  emitted.descriptor.provenance = getProvenance(op, nextDescriptor);
  artifact::Launch launch;
  launch.descriptor = "sdsc_" + std::to_string(nextDescriptor) + ".json";
  if (options.symbolic)
    bindSymbols(emitted, bases, launch);
  ++nextDescriptor;
  bundle.descriptors.push_back({launch.descriptor, std::move(emitted.descriptor), op->getLoc()});
  steps.push_back({std::move(launch)});
  return success();
}

LogicalResult FunctionEmitter::emitBlock(Block &block, std::vector<artifact::Step> &steps) {
  for (Operation &op : block) {
    if (auto device = dyn_cast<DeviceOpInterface>(op)) {
      if (failed(emitOp(device, steps)))
        return failure();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                             upper = getConstantIntValue(loop.getUpperBound()),
                             step = getConstantIntValue(loop.getStep());
      if (!lower || !upper || !step || *lower != 0 || *step != 1 || loop.getNumResults())
        return loop.emitOpError() << "a bundle's loop runs from 0 to a constant in steps of 1 and "
                                     "carries no values";
      loops.push_back({loop.getInductionVar(), *upper, std::nullopt});
      // A concrete address in a descriptor cannot move: without symbols the loop
      // is unrolled.
      if (options.unroll || !options.symbolic) {
        for (int64_t i = 0; i < *upper; ++i) {
          loops.back().value = i;
          if (failed(emitBlock(*loop.getBody(), steps)))
            return failure();
        }
      } else {
        artifact::Loop body;
        body.count = *upper;
        if (failed(emitBlock(*loop.getBody(), body.body)))
          return failure();
        steps.push_back({std::move(body)});
      }
      loops.pop_back();
    } else if (!isa<AllocOp, ReinterpretOp, arith::ConstantOp, func::ReturnOp, scf::YieldOp>(op)) {
      return op.emitOpError() << "has no place in a bundle";
    }
  }
  return success();
}

FailureOr<sdsc::Bundle> FunctionEmitter::run() {
  if (!llvm::hasSingleElement(func.getBody()))
    return emitError(func.getLoc()) << "a bundle is one block with loops";
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
    if (!isa<BufferType>(type))
      return emitError(func.getLoc()) << "argument #" << i << " is no buffer; bufferize first";
  if (failed(findSpaces()) || failed(emitBlock(func.getBody().front(), plan.steps)))
    return failure();
  bundle.isSymbolic = options.symbolic;
  if (std::optional<artifact::LaunchSpec> spec = makeLaunchSpec(func)) {
    spec->poolInBytes = plan.poolInBytes;
    spec->symbolicArguments = options.symbolic;
    bundle.spec = std::move(*spec);
  }
  if (options.symbolic) {
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      bundle.numbers.push_back(getArgumentNumber(i));
    if (llvm::equal(bundle.numbers, llvm::seq<int64_t>(0, bundle.numbers.size())))
      bundle.numbers.clear();
  }
  return std::move(bundle);
}

FailureOr<sdsc::Bundle> mlir::spyre::emitBundle(func::FuncOp func, EmissionOptions options) {
  return FunctionEmitter(func, options).run();
}

/// Puts \p bundle, in MLIR, in the place of \p func.
static void replace(func::FuncOp func, const sdsc::Bundle &bundle) {
  OpBuilder builder(func);
  for (const sdsc::BundleDescriptor &descriptor : bundle.descriptors)
    sdsc::buildDescriptorOp(builder, descriptor.location, descriptor.content);
  func::FuncOp launches =
      buildBundleFunction(builder, func.getLoc(), bundle.plan, bundle.isSymbolic);
  if (bundle.spec)
    sdscbundle::setLaunchSpec(launches, *bundle.spec);
  if (bundle.plan.hasPool && bundle.isSymbolic)
    launches->setAttr(sdscbundle::kHasPoolAttr, builder.getUnitAttr());
  if (!bundle.numbers.empty())
    launches->setAttr(sdscbundle::kNumbersAttr, builder.getDenseI64ArrayAttr(bundle.numbers));
  func.erase();
}

namespace {
struct ConvertSpyreToSuperDSCPass
    : mlir::spyre::impl::ConvertSpyreToSuperDSCBase<ConvertSpyreToSuperDSCPass> {
  using ConvertSpyreToSuperDSCBase::ConvertSpyreToSuperDSCBase;
  void runOnOperation() override {
    SmallVector<func::FuncOp> planned;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (func->hasAttr("spyre.bundle") ||
          llvm::any_of(func.getArgumentTypes(), llvm::IsaPred<BufferType>) ||
          func.walk([](DeviceOpInterface) { return WalkResult::interrupt(); }).wasInterrupted())
        planned.push_back(func);
    if (planned.size() > 1) {
      InFlightDiagnostic diag = emitError(planned[1].getLoc())
                                << "a bundle is one function; this is the second in the module";
      diag.attachNote(planned[0].getLoc()) << "the first is here";
      return signalPassFailure();
    }
    for (func::FuncOp func : planned) {
      FailureOr<sdsc::Bundle> bundle = emitBundle(func, {symbolicArgs, unrollLoops});
      if (failed(bundle))
        return signalPassFailure();
      replace(func, *bundle);
    }
  }
};
} // namespace
