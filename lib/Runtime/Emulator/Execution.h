//===- Execution.h - One descriptor being executed --------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// State of one execution: operands with their addresses, the kernel and its
// constants, and what each core computed until it is stored. Private to the
// emulator.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_RUNTIME_EMULATOR_EXECUTION_H
#define SPYRE_LIB_RUNTIME_EMULATOR_EXECUTION_H

#include "Kernels.h"
#include "LaunchCost.h"
#include "Operand.h"

#include "spyre/OpFunc/OpFuncTable.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace spyre::runtime {

/// Counts through the points of some dims, the last one fastest.
class Odometer {
public:
  Odometer(std::vector<unsigned> dims, const std::vector<int64_t> &extents, int64_t *index)
      : dims(std::move(dims)), extents(extents), index(index) {
    for (unsigned dim : this->dims)
      index[dim] = 0;
  }
  /// False when all points were seen.
  bool next() {
    for (size_t i = dims.size(); i-- > 0;) {
      if (++index[dims[i]] < extents[dims[i]])
        return true;
      index[dims[i]] = 0;
    }
    return false;
  }

private:
  std::vector<unsigned> dims;
  const std::vector<int64_t> &extents;
  int64_t *index;
};

/// What one core leaves behind.
struct CoreResult {
  /// Its output slice, stick by stick: output dims outer to inner as in the
  /// operation, then the sticks of a row.
  std::vector<uint8_t> sticks;
  /// Results before the combination over cores and rounding, row by row.
  std::vector<double> partial;
  std::vector<float> product;
  std::vector<Report> reports;
  std::string error;

  // Checked mode.
  /// Write records whose sticks were read, per tensor of the descriptor.
  std::vector<std::vector<int32_t>> seenWriters;
  std::vector<int32_t> lastWriter; ///< the one seen last, per tensor
  bool sawMarks = false;           ///< lanes that are undefined or padding were read
  /// Marks of the result's lanes, as \c sticks; empty: none.
  std::vector<uint8_t> marks;
};

/// What checked mode knows of a lane.
enum LaneMark : uint8_t { kUndefinedLane = 1, kPaddingLane = 2 };

/// Which dims of a matmul run how. The generated dim is the row of the result.
struct ProductDims {
  int contracted = -1;             ///< at most one with an extent; -1: none
  std::vector<unsigned> batchDims; ///< in both operands
  std::vector<unsigned> rowDims;   ///< in the first operand only
  int64_t rows = 1;                ///< of one core's slice
};

class Execution {
public:
  Execution(Emulator &emulator, const LaunchRequest &request)
      : emulator(emulator), d(*request.descriptor), name(request.name), symbols(request.symbols),
        isVerified(request.isVerified) {}

  std::optional<Error> run() {
    auto error = begin();
    return error ? error : finish();
  }
  /// Everything up to the computing: errors, reports, counters, the clock. Sets
  /// \c work if cores can compute and store their slices independently.
  std::optional<Error> begin();
  /// Computes and stores.
  std::optional<Error> finish();

  /// A core's slice as places that may be computed in any order; set by the faster
  /// paths.
  struct Work {
    std::function<void(int core, int64_t begin, int64_t end)> run;
    int64_t places = 1, placesPerJob = 1;
  };
  Work work;
  void runPlan();

  // What a chain needs (Chain.h).
  /// Whether it may run on a core as soon as \p earlier has run on that core.
  bool canFollow(const Execution &earlier) const;
  /// Whether it does not matter which of the two runs first.
  bool isIndependentOf(const Execution &other) const;
  int getNumCores() const { return numCores; }
  /// Counts the traffic and advances the clock, each time that it runs.
  void count();
  std::span<const unsigned> getInputs() const { return inputs; }
  const Operand &getOperand(unsigned position) const { return operands[position]; }
  const Operand &getResult() const { return operands[output]; }
  /// Of the inputs and, after them, the result.
  const Operand &getOperandAt(size_t k) const {
    return operands[k < inputs.size() ? inputs[k] : output];
  }
  const std::vector<unsigned> &getOuterDims() const { return outerDims; }
  int64_t getCoreSize(unsigned dim) const { return coreSizes[dim]; }
  /// Operand \p k will be somewhere else: steps of so many bytes (first) become others.
  void setLocal(size_t k, std::span<const std::pair<int64_t, int64_t>> units);
  /// Cuts the slices into \p pieces along \p dim, each as if it were a core's, and plans
  /// again. \p dim -1: only the latter.
  void cut(int dim, int64_t pieces);
  void setData(size_t k, int core, uint8_t *data) {
    operands[k < inputs.size() ? inputs[k] : output].data[core] = data;
  }

private:
  // Preparation (Execution.cpp).
  std::optional<Error> prepare();
  std::optional<Error> prepareOperands();
  std::optional<Error> prepareGather();
  std::optional<std::string> countTableRows(Operand &table) const;
  std::optional<Error> prepareConstants();
  bool resolveAddresses();

  // Reading rows (Execution.cpp).
  /// Calls run(lane, data, count) for dense pieces of the row along dim \p inner
  /// at \p index, or splat(data) if the operand has one value for the whole row.
  template <typename RunFn, typename SplatFn>
  void visitRow(const Operand &operand, int core, const int64_t *index, int inner, int64_t length,
                int64_t padded, CoreResult &result, RunFn run, SplatFn splat);
  void loadRow(const Operand &operand, int core, const int64_t *index, int inner, int64_t length,
               int64_t padded, float *row, CoreResult &result);
  void loadRawRow(const Operand &operand, int core, const int64_t *index, int inner, int64_t length,
                  int64_t padded, uint8_t *row, CoreResult &result);
  void applyMask(int core, const int64_t *index, int inner, int64_t length, float *row) const;
  int64_t baseOffset(const Operand &operand, int core, const int64_t *index, int inner,
                     CoreResult &result);
  void fillUndefined(float *row, int64_t begin, int64_t end) const;
  void fillUndefinedBytes(uint8_t *bytes, int64_t count, uint64_t where) const;

  // Checked mode: who wrote what is read, and where (Checks.cpp).
  void checkAddresses();
  void checkRead(const Operand &operand, int core, int64_t offset, int64_t bytes,
                 CoreResult &result);
  void checkWriter(const Operand &operand, int core, int32_t number, int64_t address,
                   CoreResult &result);
  void addReport(CoreResult &result, ReportKind kind, const Operand &operand, int core,
                 int64_t address, const std::string &message) const;
  int64_t getSlice(const Operand &operand, int core, unsigned dim) const;
  WriteRecord makeRecord(const Operand &operand) const;
  bool copiesBits() const { return kernel->structure == Structure::Copy && d.masks.empty(); }
  void recordWrite();
  void checkStore(StickShadow &shadow, int core, int64_t address);
  // Lanes that are undefined or after the end (Lanes.cpp).
  void trackLanes(const std::vector<std::vector<int>> &groups);
  void loadMarks(const Operand &operand, int core, const int64_t *index, int inner, int64_t length,
                 int64_t padded, uint8_t *marks);
  void unmarkMasked(int core, const int64_t *index, int inner, int64_t length,
                    uint8_t *marks) const;
  void markShuffled(const Operand &operand, int core, int64_t offset, int64_t to,
                    CoreResult &result) const;
  void markPointwise(int core);
  void markLayerNormScale(int core);
  void markTopK(int core);
  void markReduction(const std::vector<int> &group);
  void markMatmul(const std::vector<int> &group);
  int64_t getAddress(const Operand &operand, int core, const int64_t *index) const;

  // Kernels.
  void computePointwise(int core, CoreResult &result);
  void computeCopy(int core, CoreResult &result);
  void computeLayerNormScale(int core, CoreResult &result);
  void computeReduction(int core, CoreResult &result);
  ProductDims getProductDims() const;
  void computeMatmul(int core, CoreResult &result);
  void computeTopK(int core, CoreResult &result);
  std::optional<Error> computeShuffle();
  void finishReduction(const std::vector<int> &group, int core);
  std::optional<std::string> checkStructure() const;

  // Faster ways to the same bits, where they serve. FastPath.cpp:
  /// False where every step must be seen, or there is no faster way.
  bool mayRunFast() const;
  void planFast();
  bool canStoreDirectly(bool inPlace) const;
  /// First element of the slice of \p core, which may be a piece of one.
  int64_t getFirstElement(int core, unsigned dim) const {
    int64_t slice = d.coreToSlice[core / numPieces][dim];
    if (int(dim) == cutDim)
      slice = slice * numPieces + core % numPieces;
    return slice * coreSizes[dim];
  }
  // FastPointwise.cpp, FastCopy.cpp, FastReduction.cpp: set \c work if they serve.
  void planFastPointwise();
  void planFastCopy();
  void planFastReduction();
  // False if it does not serve.
  bool runFastMatmul();

  // Storing.
  void encodeRow(const float *row, uint8_t *sticks) const;
  void store(int core);
  std::vector<std::vector<int>> getGroups() const;

  int64_t getRowSticks() const { return rowSticks; }
  int64_t getRowLanes() const { return rowSticks * outPerStick; }
  int64_t getNumRows() const { return numRows; }
  int64_t getRowIndex(const int64_t *index) const {
    int64_t row = 0;
    for (size_t i = 0; i < outerDims.size(); ++i)
      row = row * coreSizes[outerDims[i]] + index[outerDims[i]];
    return row;
  }

  Emulator &emulator;
  const sdsc::Descriptor &d;
  const std::string &name;
  const std::function<std::optional<int64_t>(int64_t)> &symbols;
  bool isVerified = false;

  const OpFuncInfo *info = nullptr;
  const Kernel *kernel = nullptr;
  std::vector<double> constants;
  double maskValue = 0;
  std::vector<int64_t> coreSizes;
  std::vector<Operand> operands; ///< as the descriptor's tensors
  std::vector<unsigned> inputs;  ///< without the result
  unsigned output = 0;
  int numCores = 1;
  int cutDim = -1;
  int64_t numPieces = 1;    ///< of a core's slice
  bool isReplanned = false; ///< what can be proven of addresses has been

  // The output's rows.
  std::vector<unsigned> outerDims; ///< of the output, without its stick dim
  int64_t numRows = 1, rowLength = 1, rowSticks = 1, outPerStick = 1;
  /// Lanes of a row that the operation defines; those after it hold anything.
  int64_t definedLanes = 1;
  std::vector<CoreResult> results;
  bool isChecking = false; ///< checked mode, while rows are read for the kernels
  int32_t record = -1;     ///< of this execution's result
  bool executable = false; ///< no address is wrong
  std::optional<LaunchCost> cost;
  cost::Activity activity;
};

/// Executes a sequence; what each operation leaves is as if they ran one by one.
/// \p isEnd: but for what lies in scratchpads and the pool afterwards. \p kept: gets what
/// can run again, if there is such.
std::optional<Error> executeAll(Emulator &emulator, ThreadPool &pool,
                                std::vector<LaunchRequest> launches, bool isEnd,
                                std::shared_ptr<Schedule> *kept);

template <typename RunFn, typename SplatFn>
void Execution::visitRow(const Operand &operand, int core, const int64_t *index, int inner,
                         int64_t length, int64_t padded, CoreResult &result, RunFn run,
                         SplatFn splat) {
  if (!operand.hasRow(index, inner))
    return;
  int64_t base = baseOffset(operand, core, index, inner, result);
  if (base < 0)
    return;
  bool checked = isChecking;
  const uint8_t *data = operand.data[core] + base;
  if (inner < 0 || !operand.has(inner)) {
    if (checked)
      checkRead(operand, core, base, operand.width, result);
    splat(data);
    return;
  }
  const OperandDim &dim = operand.dims[inner];
  if (!dim.inStick || dim.laneStride != operand.width) {
    for (int64_t i = 0; i < std::min(length, dim.limit); ++i) {
      int64_t offset = dim.getOffset(i);
      if (checked)
        checkRead(operand, core, base + offset, operand.width, result);
      run(i, data + offset, int64_t(1));
    }
    return;
  }
  // Whole sticks: the lanes after the end of the slice are in them.
  length = std::min(length, dim.limit);
  for (int64_t i = 0; i < length; i += dim.perStick) {
    int64_t offset = (i / dim.perStick) * dim.unit;
    if (checked)
      checkRead(operand, core, base + offset, std::min(dim.perStick, length - i) * operand.width,
                result);
    run(i, data + offset, std::min(dim.perStick, padded - i));
  }
}

} // namespace spyre::runtime

#endif // SPYRE_LIB_RUNTIME_EMULATOR_EXECUTION_H
