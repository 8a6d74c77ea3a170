//===- ExplainKernel.cpp - Kernels in words -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header. An expression names what its values come from: arguments, the tile's
// number, loop variables. How often tiles run an operation comes from KernelWalk.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/KTIR/Transforms/ExplainKernel.h"

#include "KernelWalk.h"

#include "spyre/Device/Device.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ktdp;

/// Members of a list that are written out.
static constexpr size_t kMaxListed = 8;

static std::string formatBytes(double bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
  unsigned unit = 0;
  for (; bytes >= 1024 && unit < 3; ++unit)
    bytes /= 1024;
  return unit ? llvm::formatv("{0:f1} {1}", bytes, units[unit]).str()
              : llvm::formatv("{0:f0} bytes", bytes).str();
}

/// `tiles 0..3, 6`
static std::string formatTiles(ArrayRef<int64_t> tiles) {
  SmallVector<std::string> parts;
  for (size_t i = 0; i < tiles.size();) {
    size_t last = i;
    while (last + 1 < tiles.size() && tiles[last + 1] == tiles[last] + 1)
      ++last;
    parts.push_back(last == i ? std::to_string(tiles[i])
                              : llvm::formatv("{0}..{1}", tiles[i], tiles[last]).str());
    i = last + 1;
  }
  if (parts.size() > kMaxListed) {
    parts.resize(kMaxListed);
    parts.push_back(llvm::formatv("… ({0} in all)", tiles.size()));
  }
  return tiles.empty() ? "no tile"
                       : (tiles.size() == 1 ? "tile " : "tiles ") + llvm::join(parts, ", ");
}

static std::string formatType(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto shaped = dyn_cast<ShapedType>(type);
  os << (shaped ? shaped.getElementType() : type);
  if (!shaped || !shaped.hasRank() || shaped.getRank() == 0)
    return text;
  os << ' ';
  llvm::interleave(
      shaped.getShape(), os,
      [&](int64_t size) {
        if (ShapedType::isDynamic(size))
          os << '?';
        else
          os << size;
      },
      "x");
  return text;
}

static std::string formatTypes(TypeRange types) {
  SmallVector<std::string> texts;
  for (Type type : types)
    texts.push_back(formatType(type));
  return llvm::join(texts, ", ");
}

namespace {
/// Counts how often each tile runs each operation.
class CountWalk : public KernelWalk {
public:
  CountWalk(const Kernel &kernel, int64_t tile, RunCounts &counts)
      : KernelWalk(kernel, tile), counts(counts) {}

private:
  void visit(Operation &op, std::optional<int64_t> runs) override {
    if (isa<arith::ArithDialect>(op.getDialect()))
      return;
    auto &mine = counts[&op];
    mine.resize(kernel.numTiles, 0);
    mine[tile] = runs;
  }

  RunCounts &counts;
};

class Explanation {
public:
  Explanation(const Kernel &kernel, llvm::raw_ostream &os) : kernel(kernel), os(os) {
    for (int64_t tile = 0; tile < kernel.numTiles; ++tile)
      CountWalk(kernel, tile, counts).run();
  }

  void run() {
    auto module = kernel.function->getParentOfType<ModuleOp>();
    os << "kernel @" << kernel.function.getName() << ": " << kernel.numTiles
       << (kernel.numTiles == 1 ? " compute tile" : " compute tiles");
    if (llvm::count_if(kernel.grid, [](int64_t size) { return size > 1; }) > 1) {
      os << ", a grid of ";
      llvm::interleave(kernel.grid, os, " x ");
    }
    os << "; addresses in " << (kernel.addressesAreBytes ? "bytes" : "elements");
    if (auto f16 = module->getAttrOfType<StringAttr>(kF16Attr))
      os << "; f16 in memory is " << (f16.getValue() == "dl16" ? "DL16" : "IEEE");
    os << "\n";
    for (BlockArgument argument : kernel.function.getArguments())
      explainArgument(argument);
    explain(kernel.function->getRegion(0), 1);
    os << "  in all: reads " << total(readBytes) << " and writes " << total(writtenBytes)
       << " of device memory";
    if (lxBytes.bytes || lxBytes.isUnknown)
      os << ", reads and writes " << total(lxBytes) << " of LX";
    if (passedBytes.bytes || passedBytes.isUnknown)
      os << ", gives " << total(passedBytes) << " to other tiles";
    os << "\n";
  }

private:
  struct Total {
    double bytes = 0;
    bool isUnknown = false;
  };
  static std::string total(const Total &value) {
    return (value.isUnknown ? "at least " : "") + formatBytes(value.bytes);
  }

  llvm::raw_ostream &line(unsigned depth) { return os.indent(2 * depth); }

  void explainArgument(BlockArgument argument) {
    line(1) << "argument " << argument.getArgNumber() << ": ";
    if (argument.getArgNumber() == 0)
      if (auto bytes = kernel.function->getAttrOfType<IntegerAttr>(kPoolBytesAttr)) {
        os << "the address of a pool of " << formatBytes(bytes.getInt()) << "\n";
        return;
      }
    if (auto type = dyn_cast<RuntimeArgType>(argument.getType())) {
      os << "a launch-time number, " << formatType(type.getUnderlyingType());
      if (type.getGranularity())
        os << ", a multiple of " << *type.getGranularity();
      if (type.getUpperbound())
        os << ", at most " << *type.getUpperbound();
    } else {
      bool isAddress = llvm::any_of(argument.getUsers(), [&](Operation *user) {
        return isa<ConstructMemoryViewOp>(user) && user->getOperand(0) == argument;
      });
      os << (isAddress ? "an address" : "a number, " + formatType(argument.getType()));
    }
    os << (argument.use_empty() ? "; not used\n" : "\n");
  }

  //===--- expressions -----------------------------------------------------------===//

  /// The values that an expression is made of; what is unknown is `?`.
  std::string format(Value value, unsigned depth = 0) {
    APInt number;
    if (matchPattern(value, m_ConstantInt(&number)))
      return llvm::toString(number, 10, /*Signed=*/number.getBitWidth() > 1);
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *owner = argument.getOwner()->getParentOp();
      if (owner == kernel.function)
        return llvm::formatv("argument {0}", argument.getArgNumber());
      if (isa<InterTileProduceOp>(owner))
        return "group";
      auto it = loopNames.find(value);
      return it == loopNames.end() ? "?" : it->second;
    }
    Operation *op = value.getDefiningOp();
    if (auto id = dyn_cast<GetComputeTileIdOp>(op))
      return id->getNumResults() == 1
                 ? std::string("tile")
                 : llvm::formatv("tile[{0}]", cast<OpResult>(value).getResultNumber()).str();
    if (depth > 6)
      return "?";
    if (auto extract = dyn_cast<RuntimeArgExtractOp>(op))
      return (extract.getKind() == ExtractKind::Value
                  ? ""
                  : stringifyExtractKind(extract.getKind()).str() + " of ") +
             format(extract.getArgument(), depth + 1);
    if (op->getNumOperands() == 1 && isa<arith::ArithDialect>(op->getDialect()))
      return format(op->getOperand(0), depth + 1);
    StringRef symbol =
        llvm::StringSwitch<StringRef>(op->getName().getStringRef())
            .Case(arith::AddIOp::getOperationName(), " + ")
            .Case(arith::SubIOp::getOperationName(), " - ")
            .Case(arith::MulIOp::getOperationName(), " * ")
            .Cases({arith::DivUIOp::getOperationName(), arith::DivSIOp::getOperationName()}, " / ")
            .Cases({arith::RemUIOp::getOperationName(), arith::RemSIOp::getOperationName()},
                   " mod ")
            .Default("");
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      symbol = getSymbol(compare.getPredicate());
    if (symbol.empty())
      return "?";
    std::string text =
        (format(op->getOperand(0), depth + 1) + symbol + format(op->getOperand(1), depth + 1))
            .str();
    return depth ? "(" + text + ")" : text;
  }

  static StringRef getSymbol(arith::CmpIPredicate predicate) {
    using P = arith::CmpIPredicate;
    switch (predicate) {
    case P::eq:
      return " == ";
    case P::ne:
      return " != ";
    case P::slt:
    case P::ult:
      return " < ";
    case P::sle:
    case P::ule:
      return " <= ";
    case P::sgt:
    case P::ugt:
      return " > ";
    case P::sge:
    case P::uge:
      return " >= ";
    }
    return "";
  }

  /// An affine expression whose dims have these names.
  static std::string format(AffineExpr expr, ArrayRef<std::string> dims, unsigned outer = 0) {
    if (auto number = dyn_cast<AffineConstantExpr>(expr))
      return std::to_string(number.getValue());
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return dim.getPosition() < dims.size() ? dims[dim.getPosition()] : "?";
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return "?";
    bool isSum = binary.getKind() == AffineExprKind::Add;
    StringRef symbol = isSum                                         ? " + "
                       : binary.getKind() == AffineExprKind::Mul     ? " * "
                       : binary.getKind() == AffineExprKind::Mod     ? " mod "
                       : binary.getKind() == AffineExprKind::CeilDiv ? " ceildiv "
                                                                     : " / ";
    std::string text = format(binary.getLHS(), dims, isSum ? 0 : 1);
    auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (isSum && constant && constant.getValue() < 0)
      text += " - " + std::to_string(constant.getValue()).substr(1);
    else
      text += symbol.str() + format(binary.getRHS(), dims, isSum ? 0 : 1);
    return isSum && outer ? "(" + text + ")" : text;
  }

  //===--- memory ------------------------------------------------------------------===//

  std::string formatView(Value base) {
    if (auto parts = base.getDefiningOp<ConstructDistributedMemoryViewOp>()) {
      SmallVector<std::string> texts;
      for (Value part : parts.getParts().take_front(kMaxListed))
        texts.push_back(formatView(part));
      if (parts.getParts().size() > kMaxListed)
        texts.push_back(llvm::formatv("… ({0} in all)", parts.getParts().size()));
      return formatType(base.getType()) + " made of (" + llvm::join(texts, "; ") + ")";
    }
    auto view = base.getDefiningOp<ConstructMemoryViewOp>();
    if (!view)
      return formatType(base.getType());
    std::string text = formatType(view.getType()) + " in ";
    int64_t tile = view.getMemorySpace().getCtId();
    text += view.getMemorySpace().getKind() == MemorySpaceKind::Global ? "device memory"
            : tile >= 0 ? "the LX of tile " + std::to_string(tile)
                        : "its own LX";
    text += " at " + format(view.getOffset());
    int64_t dense = 1;
    for (auto [size, stride] :
         llvm::reverse(llvm::zip_equal(view.getStaticSizes(), view.getStaticStrides()))) {
      if (stride != dense && size != 1) {
        SmallVector<std::string> strides;
        for (int64_t number : view.getStaticStrides())
          strides.push_back(ShapedType::isDynamic(number) ? "?" : std::to_string(number));
        return text + ", strides " + llvm::join(strides, ", ");
      }
      dense = ShapedType::isDynamic(size) ? -1 : dense * size;
    }
    return text;
  }

  std::string formatAccess(Value tile) {
    if (auto access = tile.getDefiningOp<ConstructAccessTileOp>()) {
      SmallVector<std::string> names, subscripts;
      for (Value index : access.getIndices())
        names.push_back(format(index, 1));
      for (AffineExpr expr : access.getBaseMap().getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        subscripts.push_back(dim ? format(access.getIndices()[dim.getPosition()])
                                 : format(expr, names));
      }
      return formatOrder(access.getAccessTileOrder()) + "at [" + llvm::join(subscripts, ", ") +
             "] of " + formatView(access.getBase());
    }
    auto access = tile.getDefiningOp<ConstructIndirectAccessTileOp>();
    if (!access)
      return "at unknown places";
    SmallVector<std::string> names, subscripts, views;
    for (Value captured : access.getCaptured())
      names.push_back(format(captured, 1));
    for (unsigned i = 0; i < access.getNumVariables(); ++i)
      names.push_back(llvm::formatv("v{0}", i));
    for (unsigned i = 0, e = access.getPerDimSubscriptMaps().size(); i < e; ++i) {
      SmallVector<std::string> exprs;
      for (AffineExpr expr : access.getSubscript(i).getResults())
        exprs.push_back(format(expr, names));
      if (!access.isIndirect(i)) {
        subscripts.push_back(exprs.front());
        continue;
      }
      std::string name = llvm::formatv("index {0}", views.size());
      subscripts.push_back(name + "[" + llvm::join(exprs, ", ") + "]");
      views.push_back(name + " is " + formatView(access.getIndexViews()[views.size()]));
    }
    return formatOrder(access.getVariablesSpaceOrder()) + "at [" + llvm::join(subscripts, ", ") +
           "] of " + formatView(access.getBase()) + (views.empty() ? "" : "; ") +
           llvm::join(views, "; ");
  }

  static std::string formatOrder(AffineMap order) {
    if (order.isIdentity())
      return "";
    SmallVector<std::string> dims;
    for (unsigned i = 0; i < order.getNumResults(); ++i)
      dims.push_back(std::to_string(order.getDimPosition(i)));
    return "with dims in the order " + llvm::join(dims, ", ") + " ";
  }

  /// Adds what all tiles move in all their runs of \p op.
  void count(Operation *op, TypeRange types, Total &total) {
    auto it = counts.find(op);
    if (it == counts.end())
      return;
    double bytes = 0;
    for (Type type : types) {
      auto shaped = cast<ShapedType>(type);
      std::optional<int64_t> element = getElementBytes(shaped.getElementType());
      total.isUnknown |= !element || !shaped.hasStaticShape();
      if (element && shaped.hasStaticShape())
        bytes += static_cast<double>(*element) * shaped.getNumElements();
    }
    for (std::optional<int64_t> runs : it->second) {
      total.isUnknown |= !runs;
      total.bytes += bytes * runs.value_or(0);
    }
  }

  Total &getTotal(Value tile, Total &device) {
    Operation *access = tile.getDefiningOp();
    auto view = access && isa<ConstructAccessTileOp, ConstructIndirectAccessTileOp>(access)
                    ? access->getOperand(0).getDefiningOp<ConstructMemoryViewOp>()
                    : ConstructMemoryViewOp();
    return view && view.getMemorySpace().getKind() == MemorySpaceKind::CtLocal ? lxBytes : device;
  }

  //===--- steps -------------------------------------------------------------------===//

  void explain(Region &region, unsigned depth) {
    for (Operation &op : region.getOps())
      explain(op, depth);
  }

  void explain(Operation &op, unsigned depth) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      line(depth) << "reads " << formatType(load.getResult().getType()) << " "
                  << formatAccess(load.getTile()) << "\n";
      count(&op, op.getResultTypes(), getTotal(load.getTile(), readBytes));
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      line(depth) << "writes " << formatType(store.getValue().getType()) << " "
                  << formatAccess(store.getTile()) << "\n";
      count(&op, store.getValue().getType(), getTotal(store.getTile(), writtenBytes));
    } else if (auto produce = dyn_cast<InterTileProduceOp>(op)) {
      line(depth) << "offers to other tiles "
                  << formatTypes(produce.getBody().front().getTerminator()->getOperandTypes())
                  << "\n";
      explain(produce.getBody(), depth + 1);
    } else if (auto delivery = dyn_cast<DeliveryOpInterface>(op)) {
      explainDelivery(delivery, depth);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      std::string name = llvm::formatv("i{0}", loopNames.size());
      loopNames[loop.getInductionVar()] = name;
      line(depth) << "for " << name << " from " << format(loop.getLowerBound()) << " below "
                  << format(loop.getUpperBound()) << " by " << format(loop.getStep()) << ":\n";
      explain(loop.getRegion(), depth + 1);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      explainBranch(branch, depth);
    } else if (isa<linalg::LinalgDialect>(op.getDialect())) {
      explainComputation(op, depth);
    } else if (op.getNumRegions() && !isa<KtdpDialect>(op.getDialect()) &&
               !op.hasTrait<OpTrait::IsTerminator>()) {
      line(depth) << op.getName().getStringRef() << ":\n";
      for (Region &region : op.getRegions())
        explain(region, depth + 1);
    } else if (computesTensors(op)) {
      line(depth) << "computes " << op.getName().getStringRef() << " of "
                  << formatTypes(op.getOperandTypes()) << ", giving "
                  << formatTypes(op.getResultTypes()) << "\n";
    }
  }

  /// Neither constants nor other shapes of the same numbers.
  static bool computesTensors(Operation &op) {
    return op.getNumOperands() && !isa<tensor::TensorDialect>(op.getDialect()) &&
           llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>);
  }

  /// What an operation computes: its name, or those of its body where it has none of its own.
  static void addNames(Operation &op, llvm::SetVector<StringRef> &names) {
    if (isa<linalg::GenericOp>(op)) {
      for (Operation &inner : op.getRegion(0).getOps())
        addNames(inner, names);
    } else if (!op.hasTrait<OpTrait::IsTerminator>() && !op.hasTrait<OpTrait::ConstantLike>() &&
               !isa<tensor::TensorDialect>(op.getDialect())) {
      names.insert(op.getName().getStringRef());
    }
  }

  void explainComputation(Operation &op, unsigned depth) {
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (!structured) {
      line(depth) << "computes " << op.getName().getStringRef() << "\n";
      return;
    }
    llvm::SetVector<StringRef> names;
    addNames(op, names);
    line(depth) << "computes ";
    if (names.empty())
      os << "a copy";
    llvm::interleaveComma(names, os);
    SmallVector<int64_t> ranges = structured.getStaticLoopRanges();
    SmallVector<std::string> sizes;
    for (int64_t range : ranges)
      sizes.push_back(ShapedType::isDynamic(range) ? "?" : std::to_string(range));
    if (!sizes.empty())
      os << " over " << llvm::join(sizes, "x");
    SmallVector<unsigned> reduced;
    structured.getReductionDims(reduced);
    if (!reduced.empty()) {
      os << ", reducing dims ";
      llvm::interleaveComma(reduced, os);
    }
    os << ", giving " << formatTypes(op.getResultTypes()) << "\n";
  }

  /// The tiles that run \p op, or nothing if that is not known.
  std::optional<SmallVector<int64_t>> getRunningTiles(Operation *op) {
    SmallVector<int64_t> tiles;
    auto it = counts.find(op);
    if (it != counts.end())
      for (auto [tile, runs] : llvm::enumerate(it->second)) {
        if (!runs)
          return std::nullopt;
        if (*runs > 0)
          tiles.push_back(tile);
      }
    return tiles;
  }

  void explainBranch(scf::IfOp branch, unsigned depth) {
    auto begin = [&](Region &region, StringRef otherwise) {
      std::optional<SmallVector<int64_t>> tiles = getRunningTiles(&region.front().front());
      if (tiles)
        line(depth) << "on " << formatTiles(*tiles) << ":\n";
      else
        line(depth) << otherwise << ":\n";
      explain(region, depth + 1);
    };
    begin(branch.getThenRegion(), "if " + format(branch.getCondition()));
    if (!branch.getElseRegion().empty() && !llvm::hasSingleElement(branch.getElseRegion().front()))
      begin(branch.getElseRegion(), "else");
  }

  void explainDelivery(DeliveryOpInterface op, unsigned depth) {
    auto dims = [](ArrayRef<int64_t> list) {
      SmallVector<std::string> texts;
      for (int64_t dim : list)
        texts.push_back(std::to_string(dim));
      return (list.size() == 1 ? "dim " : "dims ") + llvm::join(texts, ", ");
    };
    bool folds = op.getFoldRegion(), splits = !op.getSplitDims().empty(),
         joins = !op.getConcatDims().empty();
    std::string what = folds ? "the fold of all" : joins ? "all" : "what its producer offers";
    if (folds) {
      llvm::SetVector<StringRef> names;
      for (Operation &inner : op.getFoldRegion()->getOps())
        addNames(inner, names);
      what += names.empty() ? "" : " by " + llvm::join(names, ", ");
    }
    if (splits)
      what = "its share along " + dims(op.getSplitDims()) + " of " +
             (joins ? std::string("each") : what);
    if (joins)
      what += ", side by side along " + dims(op.getConcatDims());
    line(depth) << "receives " << formatTypes(op->getResultTypes()) << ": " << what << "\n";
    explainGroups(op, depth + 1);
  }

  void explainGroups(DeliveryOpInterface op, unsigned depth) {
    InterTileProduceOp produce = getProducer(op);
    std::optional<SmallVector<int64_t>> groups =
        getGroups(op.getFuture().getType().getGroups().getValue());
    if (!produce || !groups) {
      line(depth) << "from tiles that are not known\n";
      passedBytes.isUnknown = true;
      return;
    }
    for (int64_t group : ArrayRef(*groups).take_front(kMaxListed)) {
      SmallVector<int64_t> consumers =
          getTiles(op.getConsumerTilesPerGroup(), group, kernel.numTiles);
      line(depth) << "group " << group << ": "
                  << formatTiles(
                         getTiles(produce.getProducerTilesPerGroup(), group, kernel.numTiles))
                  << " to " << formatTiles(consumers) << "\n";
      if (std::optional<IntegerSet> dependency = op.getDependency())
        for (int64_t consumer : ArrayRef(consumers).take_front(kMaxListed))
          line(depth + 1) << "tile " << consumer << " from "
                          << formatTiles(getTiles(*dependency, {consumer, group}, kernel.numTiles))
                          << "\n";
    }
    if (groups->size() > kMaxListed)
      line(depth) << "… (" << groups->size() << " groups in all)\n";
    // The terminator runs where the region does: on producers.
    Operation *yield = produce.getBody().front().getTerminator();
    count(yield, yield->getOperandTypes(), passedBytes);
  }

  Kernel kernel;
  llvm::raw_ostream &os;
  RunCounts counts;
  DenseMap<Value, std::string> loopNames;
  Total readBytes, writtenBytes, lxBytes, passedBytes;
};
} // namespace

void mlir::ktdp::explainKernels(ModuleOp module, llvm::raw_ostream &os) {
  // The device plays no part in what a kernel does.
  std::optional<::spyre::Device> device = ::spyre::Device::lookup("spyre");
  module.walk([&](FunctionOpInterface function) {
    std::optional<Kernel> kernel = makeKernel(function, *device);
    if (kernel)
      Explanation(*kernel, os).run();
    else if (isKernel(function))
      os << "kernel @" << function.getName() << " has no grid that can be worked with\n";
  });
}

bool mlir::ktdp::hasKernel(ModuleOp module) {
  return module
      .walk([](FunctionOpInterface function) {
        return isKernel(function) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}
