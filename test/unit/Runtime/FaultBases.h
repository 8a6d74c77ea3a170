//===- FaultBases.h - Sound bundles that the catalogue damages --*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bundles of one to five operations in memory, with real descriptors: what the
// emission makes of planned operations. Every operand in device memory has a symbol
// a core, bound by the plan, as whole programs have.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TEST_UNIT_RUNTIME_FAULTBASES_H
#define SPYRE_TEST_UNIT_RUNTIME_FAULTBASES_H

#include "spyre/Layout/TensorLayout.h"
#include "spyre/Runtime/Runtime.h"
#include "spyre/SuperDSC/Emit.h"

#include <cmath>
#include <stdexcept>

namespace spyre::runtime::test {

/// A bundle, and an array for every argument that the device reads.
struct FaultProgram {
  Bundle bundle;
  std::vector<HostTensor> arrays; ///< as the arguments
  std::vector<bool> isCopiedIn;
  const char *device = "spyre";

  sdsc::Descriptor &at(int op) {
    return bundle.descriptors.at("sdsc_" + std::to_string(op) + ".json");
  }
  Launch &launch(size_t op) {
    Step *step = &bundle.plan.steps.at(op);
    while (auto *loop = std::get_if<Loop>(&step->content))
      step = &loop->body.front();
    return std::get<Launch>(step->content);
  }
  /// The address bound to \p tensor of operation \p op on \p core.
  AddressExpr &symbol(int op, int tensor, int core) {
    int64_t id = at(op).tensors.at(tensor).startAddress.at(core);
    for (auto &[bound, address] : launch(op).symbols)
      if (bound == id)
        return address;
    throw std::runtime_error("no such symbol");
  }
};

/// What an operation works on: an argument, a place in the pool or in LX.
struct Ref {
  layout::TensorLayout layout;
  PlacementKind space = PlacementKind::HBM;
  int64_t at = 0;                  ///< argument, or bytes
  std::vector<unsigned> dims = {}; ///< of the operation, one a logical dim
  int loopDim = -1;                ///< the logical dim that a loop walks, a tile an iteration
  int indirectDim = -1;
  bool isIndex = false;
};

class FaultBuilder {
public:
  FaultBuilder() { program.bundle.plan.name = "f"; }

  /// An argument; its values are those of \p value.
  Ref addArgument(Role role, const layout::TensorLayout &layout,
                  const std::function<double(int64_t)> &value = getValue) {
    ArgumentSpec spec;
    spec.role = role;
    size_t k = program.bundle.spec.arguments.size();
    spec.array = "arg" + std::to_string(k);
    spec.shape = layout.shape;
    spec.dtype = layout.format == DataFormat::IEEE_FP32    ? HostType::Float32
                 : layout.format == DataFormat::IEEE_INT32 ? HostType::Int32
                                                           : HostType::Float16;
    spec.deviceSize = layout::getDeviceSizes(layout);
    spec.strideMap = layout::getStrideMap(layout);
    spec.deviceFormat = layout.format;
    HostTensor array = HostTensor::create(spec.dtype, spec.shape);
    for (int64_t i = 0; i < array.getNumElements(); ++i)
      if (spec.dtype == HostType::Float32)
        reinterpret_cast<float *>(array.data.data())[i] = static_cast<float>(value(i));
      else if (spec.dtype == HostType::Int32)
        reinterpret_cast<int32_t *>(array.data.data())[i] = static_cast<int32_t>(value(i));
      else
        reinterpret_cast<uint16_t *>(array.data.data())[i] = getHalf(value(i));
    program.bundle.spec.arguments.push_back(std::move(spec));
    program.arrays.push_back(std::move(array));
    program.isCopiedIn.push_back(role != Role::Output);
    program.bundle.plan.numArguments = int64_t(k + 1);
    return {layout, PlacementKind::HBM, int64_t(k)};
  }
  /// A place in the pool.
  Ref addPool(const layout::TensorLayout &layout) {
    Ref ref{layout, PlacementKind::Pool, program.bundle.plan.poolInBytes};
    program.bundle.plan.hasPool = true;
    program.bundle.plan.poolInBytes += roundUp(layout::getSizeInBytes(layout), kStickInBytes);
    return ref;
  }
  static Ref inLX(const layout::TensorLayout &layout, int64_t address) {
    return {layout, PlacementKind::LX, address};
  }

  /// Emits an operation and launches it; in a loop of \p trips if that is not 0.
  void add(const std::string &opFunc, std::vector<std::pair<int64_t, int64_t>> extentsAndSplits,
           std::vector<Ref> operands, std::vector<std::pair<std::string, double>> constants = {},
           int64_t trips = 0) {
    sdsc::EmitOp op;
    op.opFunc = opFunc;
    op.constants = std::move(constants);
    std::vector<int64_t> extents;
    for (auto [extent, split] : extentsAndSplits) {
      op.dims.push_back({extent, split, false});
      extents.push_back(extent);
    }
    if (trips) {
      op.numLoops = 1;
      extents.push_back(trips);
    }
    op.isReduction = opFunc == "sum" || opFunc == "max" || opFunc == "exx2" ||
                     opFunc == "sumnonstick" || opFunc == "batchmatmul";
    for (const Ref &ref : operands) {
      sdsc::EmitOperand operand;
      operand.layout = ref.layout;
      operand.access.extents = extents;
      for (size_t d = 0; d < ref.layout.shape.size(); ++d) {
        unsigned dim = ref.dims.empty() ? unsigned(d) : ref.dims[d];
        operand.access.results.push_back(layout::makeInput(dim));
        if (int(d) == ref.loopDim)
          operand.access.results.back().digits.push_back(
              {unsigned(op.dims.size()), 1, 0, op.dims[dim].extent});
      }
      if (ref.indirectDim >= 0) {
        operand.access.results[ref.indirectDim] = {};
        operand.indirectDim = ref.indirectDim;
        for (size_t k = 0; k < operands.size(); ++k)
          if (operands[k].isIndex)
            operand.indexOperand = int(k);
      }
      operand.isIndexTensor = ref.isIndex;
      operand.space = ref.space;
      operand.addressInBytes = ref.space == PlacementKind::HBM ? 0 : ref.at;
      op.operands.push_back(std::move(operand));
    }
    int64_t number = int64_t(program.bundle.descriptors.size());
    auto emitted = sdsc::emitDescriptor(op, number);
    if (auto *error = std::get_if<sdsc::EmitError>(&emitted))
      throw std::runtime_error(opFunc + ": " + error->message);
    sdsc::EmittedOp &made = std::get<sdsc::EmittedOp>(emitted);
    Launch launch;
    launch.descriptor = "sdsc_" + std::to_string(number) + ".json";
    int64_t id = 0;
    for (size_t t = 0; t < made.descriptor.tensors.size(); ++t) {
      sdsc::Tensor &tensor = made.descriptor.tensors[t];
      if (tensor.component == MemorySpace::LX)
        continue;
      tensor.symbolicAddress = true;
      for (int64_t &address : tensor.startAddress) {
        AddressExpr expr;
        expr.base =
            operands[t].space == PlacementKind::Pool ? int64_t(AddressExpr::kPool) : operands[t].at;
        expr.offsetInBytes = address;
        if (trips)
          expr.strideInBytes = made.loopStrideInBytes[t];
        launch.symbols.emplace_back(--id, expr);
        address = id;
      }
    }
    program.bundle.descriptors.emplace(launch.descriptor, std::move(made.descriptor));
    Step step{std::move(launch)};
    if (trips)
      step = Step{Loop{trips, {std::move(step)}}};
    program.bundle.plan.steps.push_back(std::move(step));
  }

  FaultProgram take() { return std::move(program); }

private:
  /// Magnitudes of a few binades, mostly negative: zero is their maximum.
  static double getValue(int64_t i) { return -double((i * 37) % 64 + 8) / 32; }
  /// \p value, which a half holds.
  static uint16_t getHalf(double value);
  FaultProgram program;
};

inline uint16_t FaultBuilder::getHalf(double value) {
  if (value == 0)
    return 0;
  int exponent;
  double fraction = std::frexp(std::fabs(value), &exponent); // in [1/2, 1)
  return uint16_t((value < 0 ? 0x8000 : 0) | ((exponent + 14) << 10) | int(fraction * 2048 - 1024));
}

inline layout::TensorLayout dense(std::vector<int64_t> shape,
                                  DataFormat format = DataFormat::SEN169_FP16) {
  return layout::getDefaultLayout(std::move(shape), format);
}
inline layout::TensorLayout sparse(std::vector<int64_t> shape) {
  return layout::getSparseLayout(std::move(shape), DataFormat::SEN169_FP16);
}
/// \p ref with these dims of the operation.
inline Ref on(Ref ref, std::vector<unsigned> dims) {
  ref.dims = std::move(dims);
  return ref;
}

/// out = x + y, [32, 128] on four cores.
inline FaultProgram makePointwise() {
  FaultBuilder b;
  Ref x = b.addArgument(Role::Input, dense({32, 128})),
      y = b.addArgument(Role::Input, dense({32, 128})),
      out = b.addArgument(Role::Output, dense({32, 128}));
  b.add("add", {{32, 4}, {128, 1}}, {x, y, out});
  return b.take();
}

/// Softmax of [32, 100]: the 28 lanes after the end are masked where they would count.
inline FaultProgram makeSoftmax() {
  FaultBuilder b;
  Ref x = b.addArgument(Role::Input, dense({32, 100})),
      out = b.addArgument(Role::Output, dense({32, 100}));
  Ref most = on(b.addPool(sparse({32})), {0}), less = b.addPool(dense({32, 100})),
      power = b.addPool(dense({32, 100})), total = on(b.addPool(sparse({32})), {0});
  b.add("max", {{32, 4}, {100, 1}}, {x, most});
  b.add("sub", {{32, 4}, {100, 1}}, {x, most, less});
  b.add("exp", {{32, 4}, {100, 1}}, {less, power});
  b.add("sum", {{32, 4}, {100, 1}}, {power, total});
  b.add("realdiv", {{32, 4}, {100, 1}}, {power, total, out});
  return b.take();
}

/// [32, 128] times [128, 128]: two cores along the rows, two along the contraction.
inline FaultProgram makeMatmul() {
  FaultBuilder b;
  Ref x = on(b.addArgument(Role::Input, dense({32, 128})), {0, 2}),
      y = on(b.addArgument(Role::Input, dense({128, 128})), {2, 1}),
      out = on(b.addArgument(Role::Output, dense({32, 128})), {0, 1});
  b.add("batchmatmul", {{32, 2}, {128, 1}, {128, 2}}, {x, y, out});
  return b.take();
}

/// exp([32, 100]) times [100, 64]: exp leaves ones after the end of the rows, and the
/// second operand has zeros there.
inline FaultProgram makePaddedMatmul() {
  FaultBuilder b;
  layout::TensorLayout second = dense({100, 64});
  second.paddedShape = {128, 64};
  Ref x = b.addArgument(Role::Input, dense({32, 100})),
      y = on(b.addArgument(Role::Input, second), {2, 1}),
      out = on(b.addArgument(Role::Output, dense({32, 64})), {0, 1}),
      power = b.addPool(dense({32, 100}));
  b.add("exp", {{32, 4}, {100, 1}}, {x, power});
  b.add("batchmatmul", {{32, 4}, {64, 1}, {100, 1}}, {on(power, {0, 2}), y, out});
  return b.take();
}

/// out = (exp(x) - exp(x)^2) * y in the scratchpads of four cores, 2048 bytes each.
inline FaultProgram makeLXChain() {
  FaultBuilder b;
  layout::TensorLayout shape = dense({32, 128});
  Ref x = b.addArgument(Role::Input, shape), y = b.addArgument(Role::Input, shape),
      out = b.addArgument(Role::Output, shape);
  Ref power = FaultBuilder::inLX(shape, 0), square = FaultBuilder::inLX(shape, 2048),
      less = FaultBuilder::inLX(shape, 4096);
  std::vector<std::pair<int64_t, int64_t>> dims = {{32, 4}, {128, 1}};
  b.add("exp", dims, {x, power});
  b.add("mul", dims, {power, power, square});
  b.add("sub", dims, {power, square, less});
  b.add("mul", dims, {less, y, out});
  return b.take();
}

/// Rows of [32, 256] on four cores become columns, from scratchpad to scratchpad.
inline FaultProgram makeShuffle() {
  FaultBuilder b;
  layout::TensorLayout shape = dense({32, 256});
  Ref x = b.addArgument(Role::Input, shape), out = b.addArgument(Role::Output, shape);
  b.add("exp", {{32, 4}, {256, 1}}, {x, FaultBuilder::inLX(shape, 0)});
  b.add("identity", {{32, 1}, {256, 4}},
        {FaultBuilder::inLX(shape, 0), FaultBuilder::inLX(shape, 8192)});
  b.add("neg", {{32, 1}, {256, 4}}, {FaultBuilder::inLX(shape, 8192), out});
  FaultProgram program = b.take();
  // The source keeps the division of the operation that wrote it.
  sdsc::Descriptor &move = program.at(1), &before = program.at(0);
  move.opFunc = "shuffle";
  move.tensors[0].coordinates = before.tensors[1].coordinates;
  for (sdsc::Tensor *tensor : {&move.tensors[0], &move.tensors[1]}) {
    const sdsc::Descriptor &like = tensor == &move.tensors[0] ? before : move;
    for (const std::vector<int64_t> &slices : like.coreToSlice) {
      tensor->coreToSlice.emplace_back();
      for (size_t dim = 0; dim < like.dims.size(); ++dim)
        tensor->coreToSlice.back().emplace_back(like.dims[dim].name, slices[dim]);
    }
  }
  return program;
}

/// 32 rows of a [50, 64] table by number.
inline FaultProgram makeGather() {
  FaultBuilder b;
  Ref rows = on(b.addArgument(Role::Input, dense({32}, DataFormat::IEEE_INT32),
                              [](int64_t i) { return double(i * 7 % 50); }),
                {0}),
      table = b.addArgument(Role::Input, dense({50, 64})),
      out = b.addArgument(Role::Output, dense({32, 64}));
  rows.isIndex = true;
  table.indirectDim = 0;
  b.add("identity", {{32, 1}, {64, 1}}, {rows, table, out});
  return b.take();
}

/// exp of [128, 128], 32 rows an iteration on four cores.
inline FaultProgram makeLoop() {
  FaultBuilder b;
  Ref x = b.addArgument(Role::Input, dense({128, 128})),
      out = b.addArgument(Role::Output, dense({128, 128}));
  x.loopDim = out.loopDim = 0;
  b.add("exp", {{32, 4}, {128, 1}}, {x, out}, {}, 4);
  return b.take();
}

/// y = transpose(x) of [50, 70], its lanes after the 50th are undefined; then the
/// sums of its rows, and a product of something else of its shape.
inline FaultProgram makeRestickify() {
  FaultBuilder b;
  layout::TensorLayout second = dense({50, 64});
  second.paddedShape = {64, 64};
  Ref x = on(b.addArgument(Role::Input, dense({50, 70})), {1, 0}),
      other = on(b.addArgument(Role::Input, dense({70, 50})), {0, 2}),
      y = on(b.addArgument(Role::Input, second), {2, 1}),
      sums = on(b.addArgument(Role::Output, sparse({70})), {0}),
      out = on(b.addArgument(Role::Output, dense({70, 64})), {0, 1}),
      turned = b.addPool(dense({70, 50}));
  b.add("ReStickifyOpHBM", {{70, 1}, {50, 1}}, {x, turned});
  b.add("sum", {{70, 1}, {50, 1}}, {turned, sums});
  b.add("batchmatmul", {{70, 1}, {64, 1}, {50, 1}}, {other, y, out});
  return b.take();
}

/// exp in f32: negated in DL16, widened, narrowed.
inline FaultProgram makeCasts() {
  FaultBuilder b;
  layout::TensorLayout narrow = dense({32, 128}), wide = dense({32, 128}, DataFormat::IEEE_FP32);
  Ref x = b.addArgument(Role::Input, narrow), out = b.addArgument(Role::Output, narrow);
  Ref less = b.addPool(narrow), widened = b.addPool(wide), power = b.addPool(wide);
  std::vector<std::pair<int64_t, int64_t>> dims = {{32, 4}, {128, 1}};
  b.add("neg", dims, {x, less});
  b.add("dl16tofp32", dims, {less, widened});
  b.add("exp", dims, {widened, power});
  b.add("fp32todl16", dims, {power, out});
  return b.take();
}

/// exp of [32, 4, 64], a core for each of four heads.
inline FaultProgram makeHeads() {
  FaultBuilder b;
  Ref x = b.addArgument(Role::Input, dense({32, 4, 64})),
      out = b.addArgument(Role::Output, dense({32, 4, 64}));
  b.add("exp", {{32, 1}, {4, 4}, {64, 1}}, {x, out});
  return b.take();
}

/// The statistics of the rows of [32, 128] and their reciprocal deviation.
inline FaultProgram makeLayerNorm() {
  FaultBuilder b;
  Ref x = b.addArgument(Role::Input, dense({32, 128})),
      out = on(b.addArgument(Role::Output, sparse({32})), {0}),
      pairs = on(b.addPool(sparse({32})), {0});
  b.add("exx2", {{32, 4}, {128, 1}}, {x, pairs}, {{"exx2scale", 1.0 / 128}, {"useZeroMean", 0}});
  b.add("layernormscale", {{32, 4}}, {pairs, out}, {{"eps", 1e-3}});
  return b.take();
}

} // namespace spyre::runtime::test

#endif // SPYRE_TEST_UNIT_RUNTIME_FAULTBASES_H
