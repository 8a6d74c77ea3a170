//===- PlanChoice.h - The better of two plans --------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans with tiles over time are made beside the one without, and taken where they take less
// time in the cost model: today's plan is always a candidate. One of them is of a program whose
// rows are scaled after contractions (spyre-defer-scaling), which needs less of the scratchpads
// and one operation more.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COMPILER_PLANCHOICE_H
#define SPYRE_COMPILER_PLANCHOICE_H

#include "spyre/Compiler/Pipelines.h"
#include "spyre/Compiler/PlanKind.h"

#include "mlir/IR/BuiltinOps.h"

namespace spyre::compiler {

/// A form of a program to be planned with tiles over time.
struct ProgramForm {
  mlir::OwningOpRef<mlir::ModuleOp> program;
  PlanKind kind = PlanKind::Tiled;
  bool isL1 = false; ///< it has no layouts yet; else it is L2
};

/// \p program (L1) to be planned with softmaxes in f32 whose rows are scaled after contractions,
/// for loops over parts of the rows; nothing if there is nothing to carry.
std::optional<ProgramForm> makeCarriedForm(mlir::ModuleOp program);

/// Plans of one program.
class PlanChoice {
public:
  /// \p wanted: the kind that is taken, where there is such a plan. \p isPinned: a schedule says
  /// how plans of that kind have to be; no other will do, and what is in its way is said.
  PlanChoice(const LowerOptions &options, PlanKind wanted, bool isPinned)
      : options(options), wanted(wanted), mustBe(isPinned || options.tileSeed != 0) {}

  /// The plan without tiles, if it \p hasPassed.
  void setUntiled(mlir::OwningOpRef<mlir::ModuleOp> &plan, bool hasPassed);
  /// Plans \p form and takes it if it takes less time in the model, or whatever it takes where
  /// there is no plan yet. Says nothing where it is none. A program whose operations are divided
  /// by hand is left alone.
  void consider(ProgramForm form);
  /// False, too, if a drawn plan, or one that has to be, was none.
  bool hasPlan() const { return isPlanned && !hasFailed; }
  const PlanTimes &getTimes() const { return times; }

private:
  const LowerOptions &options;
  PlanKind wanted;
  bool mustBe;
  mlir::OwningOpRef<mlir::ModuleOp> *plan = nullptr;
  bool isPlanned = false, isWanted = false, hasFailed = false;
  double bestInNs = 0;
  PlanTimes times;
};

} // namespace spyre::compiler

#endif // SPYRE_COMPILER_PLANCHOICE_H
