//===- VerifyInternal.h - The verifier of a descriptor ----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// State that the rules share: the descriptor by position instead of by name, so
// that a check is a look-up. Verify.cpp holds the rules of the structure,
// VerifyOperation.cpp those of each class of operations, VerifyExtensions.cpp
// those of symbolic dims, windows, pages and shuffle.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_SUPERDSC_VERIFYINTERNAL_H
#define SPYRE_LIB_SUPERDSC_VERIFYINTERNAL_H

#include "spyre/OpFunc/OpFuncTable.h"
#include "spyre/SuperDSC/Verify.h"

#include <set>
#include <string>
#include <vector>

namespace spyre::sdsc {

class Verifier {
public:
  Verifier(const Descriptor &descriptor, const Limits &limits);
  std::vector<Violation> run();

private:
  /// A tensor with the positions of its dims. Names that do not resolve are left
  /// out; the rules of the structure report them.
  struct View {
    const LayoutClass *layout = nullptr;
    std::vector<int64_t> scale;  ///< by dim of the descriptor; 0: not in the class
    std::vector<bool> isStick;   ///< by dim
    std::vector<unsigned> order; ///< dims in the tensor's own order, innermost first

    /// The tensor has elements of its own along \p dim.
    bool has(size_t dim) const { return scale[dim] == 1; }
  };

  // Verify.cpp: the structure.
  void checkDims();
  void checkLayouts();
  void checkCores();
  void checkTensor(unsigned index);
  void checkNegativeGap(unsigned index, const std::string &dim, const std::vector<int64_t> &gaps);
  void checkScales(unsigned index);
  void checkFolds(unsigned index, const DimCoordinate &coordinate);
  void checkAddresses(unsigned index);
  void checkMemory(unsigned index);
  void checkOperands();
  void checkReductionSplits();
  void checkIndirection();
  void checkMasks();
  void checkRoot();

  // VerifyOperation.cpp: the operation and its sticks.
  void checkOperation();
  void checkForms(const OpFuncInfo &info);
  void checkConstants(const OpFuncInfo &info);
  void checkPointwise(bool isShuffle);
  void checkMatmul();
  void checkMatmulStick(unsigned index, const std::vector<std::string> &dims,
                        const std::vector<int64_t> &sizes);
  void checkReduction(const OpFuncInfo &info);
  void checkTopK();
  void checkNormalisation();
  void checkCast(const OpFuncInfo &info);
  void checkRestickify();

  // VerifyExtensions.cpp.
  void checkSymbolicDims();
  void checkWindows();
  void checkWindowStage(const std::vector<PaddedWindow> &windows, bool isCoreStage);
  void checkPaddingKinds();
  void checkPages();
  void checkShuffle();
  void checkShuffleCoverage(unsigned index);

  void report(int rule, std::string message, int tensor = -1, const std::string &dim = "") {
    violations.push_back({rule, std::move(message), tensor, /*isWarning=*/false, dim});
  }
  void warn(int rule, std::string message, int tensor = -1, const std::string &dim = "") {
    violations.push_back({rule, std::move(message), tensor, /*isWarning=*/true, dim});
  }
  static std::string str(int64_t value) { return std::to_string(value); }
  static std::string join(const std::vector<std::string> &names);

  const Dim *findDim(const std::string &name) const {
    std::optional<unsigned> position = d.findDim(name);
    return position ? &d.dims[*position] : nullptr;
  }
  const std::string &nameOf(unsigned tensor) const { return d.tensors[tensor].name; }
  bool isIndexTensor(unsigned tensor) const;
  /// The inputs that are not the output.
  const std::vector<unsigned> &getDataInputs() const { return dataInputs; }
  const Tensor &output() const { return d.tensors[d.outputs.front()]; }
  const View &outputView() const { return views[d.outputs.front()]; }
  /// Dims that the data inputs have and the output lacks.
  std::vector<size_t> getReducedDims() const;
  /// Elements of \p tensor along \p dim on one core, 1 if it does not have the dim.
  int64_t getCoreExtent(unsigned tensor, size_t dim) const;
  /// Bytes from a core's first byte of \p tensor to the end of its last, in LX; in
  /// device memory the span as the planner counts it. -1: too large to say.
  int64_t getExtentInBytes(unsigned tensor) const;

  const Descriptor &d;
  const Limits &limits;
  std::vector<View> views;
  std::vector<unsigned> dataInputs;
  bool hasOperands = false; ///< all positions of the compute operation exist
  std::vector<Violation> violations;
};

} // namespace spyre::sdsc

#endif // SPYRE_LIB_SUPERDSC_VERIFYINTERNAL_H
