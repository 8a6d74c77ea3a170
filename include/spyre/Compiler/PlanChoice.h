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
// and one operation more. Others are of a program in layouts that move less.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COMPILER_PLANCHOICE_H
#define SPYRE_COMPILER_PLANCHOICE_H

#include "spyre/Compiler/Pipelines.h"
#include "spyre/Compiler/PlanFacts.h"
#include "spyre/Planning/PlanKind.h"

#include "mlir/IR/BuiltinOps.h"

#include <limits>
#include <optional>
#include <vector>

namespace spyre::compiler {

using planning::PlanKind;
using planning::PlanTimes;

/// A form of a program to be planned with tiles over time.
struct ProgramForm {
  mlir::OwningOpRef<mlir::ModuleOp> program;
  PlanKind kind = PlanKind::Tiled;
  bool isL1 = false;            ///< it has no layouts yet; else it is L2
  bool searchesLayouts = false; ///< layouts of several values are chosen together
  /// Seldom better than plans of other kinds: made where it is asked for, or there is no other.
  bool isUnlikely = false;
  /// Sums of squared deviations are carried by themselves (planning::Schedule).
  bool keepsDeviationsApart = false;
};

/// \p program (L1) to be planned with softmaxes in f32 whose rows are scaled after contractions,
/// for loops over parts of the rows; nothing if there is nothing to carry.
std::optional<ProgramForm> makeCarriedForm(mlir::ModuleOp program);

/// \p program (L2) to be planned for loops over what lies between products of products; nothing if
/// there are none, or that is all that there is to carry.
std::optional<ProgramForm> makeCarriedProductsForm(mlir::ModuleOp program);

/// \p program (L1) without what masks hide that are known (spyre-skip-hidden), to be planned with
/// tiles, of \p kind Banded or BandedCarried; nothing if there is none, or it is not worth it.
/// \p must: two bands of rows even if they are not.
std::optional<ProgramForm> makeBandedForm(mlir::ModuleOp program, PlanKind kind, bool must);

/// Forms of \p program (L1), whose layouts \p assigned has (L2), in other layouts that move less;
/// none if there are none. They take more time where cores can share less.
std::vector<ProgramForm> makeSearchedForms(mlir::ModuleOp program, mlir::ModuleOp assigned);

/// Plans of one program.
class PlanChoice {
public:
  /// \p wanted: the kind that is taken, where there is such a plan. \p isPinned: a schedule says
  /// how plans of that kind have to be; no other will do, and what is in its way is said.
  /// \p mustSearch: in searched layouts.
  PlanChoice(const LowerOptions &options, PlanKind wanted, bool isPinned, bool mustSearch)
      : options(options), wanted(wanted), mustBe(isPinned || options.tileSeed != 0),
        mustSearch(mustSearch) {}

  /// The plan without tiles, if it \p hasPassed.
  void setUntiled(mlir::OwningOpRef<mlir::ModuleOp> &plan, bool hasPassed);
  /// Plans \p form and takes it if it takes less time in the model, or whatever it takes where
  /// there is no plan yet. Says nothing where it is none. A program whose operations are divided
  /// by hand is left alone.
  void consider(ProgramForm form);
  /// False, too, if a drawn plan, or one that has to be, was none.
  bool hasPlan() const { return isPlanned && !hasFailed; }
  /// Whether it is the plan that is wanted.
  bool isWantedPlan() const { return isWanted; }
  const PlanTimes &getTimes() const { return times; }
  /// Whether the plan is in searched layouts.
  bool searchesLayouts() const { return hasSearched; }

private:
  void addTime(PlanKind kind, double ns);
  bool isWorthPlanning(const ProgramForm &form) const;
  void consider(ProgramForm form, double planSeconds, unsigned optLevel);

  const LowerOptions &options;
  PlanKind wanted;
  bool mustBe, mustSearch;
  mlir::OwningOpRef<mlir::ModuleOp> *plan = nullptr;
  bool isPlanned = false, isWanted = false, hasFailed = false, hasSearched = false;
  bool searchPays = false;           ///< the searched layouts take less time without tiles
  bool usualIsFar = false;           ///< by far less
  std::optional<double> untiledInNs; ///< in the usual layouts
  /// The best plan in those that carries nothing on, and the best that do.
  double usualInNs = std::numeric_limits<double>::infinity(), usualCarriedInNs = usualInNs,
         usualCarriedProductsInNs = usualInNs;
  PlanCost best;
  PlanTimes times;
};

} // namespace spyre::compiler

#endif // SPYRE_COMPILER_PLANCHOICE_H
