//===- RefusalTest.cpp - Why an operation is not the device's -------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is noted comes out as it went in, whatever the words beside it say.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/Refusal.h"
#include "spyre/Dialect/Spyre/IR/Provenance.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::spyre;

namespace {

/// The refusals of what \p report emits.
std::vector<Refusal> collect(MLIRContext &context, function_ref<void(Location)> report) {
  std::vector<Refusal> refusals;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    llvm::append_range(refusals, getRefusals(diagnostic));
    return success();
  });
  report(withNumber(FileLineColLoc::get(&context, "model.mlir", 3, 1), 7));
  return refusals;
}

TEST(RefusalTest, NotesCarryValues) {
  MLIRContext context;
  std::string text;
  std::vector<Refusal> refusals = collect(context, [&](Location location) {
    InFlightDiagnostic error = emitError(location) << "two operations are not supported";
    noteRefusal(error, location, "torch.aten.sort", RefusalRule::Lowering, "it has no form: none",
                "(tensor) -> (tensor)");
    // A note that is no refusal, with a place of its own.
    error.attachNote(location) << "allocated here";
    noteRefusal(error, UnknownLoc::get(&context), "spyre.log", RefusalRule::Precision, "no f32");
    for (Diagnostic &note : error.getUnderlyingDiagnostic()->getNotes())
      text += note.str() + "\n";
  });
  EXPECT_EQ(text, "torch.aten.sort (tensor) -> (tensor): it has no form: none\nallocated here\n"
                  "spyre.log: no f32\n");
  ASSERT_EQ(refusals.size(), 2u);
  EXPECT_EQ(refusals[0].operation, "torch.aten.sort");
  EXPECT_EQ(refusals[0].rule, RefusalRule::Lowering);
  EXPECT_EQ(refusals[0].reason, "it has no form: none");
  EXPECT_EQ(getNumbers(refusals[0].location), (SmallVector<int64_t>{7}));
  EXPECT_EQ(getRefusalRuleName(refusals[1].rule), "precision");
  EXPECT_TRUE(getNumbers(refusals[1].location).empty());
}

TEST(RefusalTest, AnErrorWithoutNotesIsOneItself) {
  MLIRContext context;
  std::vector<Refusal> refusals = collect(context, [&](Location location) {
    emitWarning(location) << "nothing";
    emitError(location) << "is too large" << 3;
  });
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0].rule, RefusalRule::Planning);
  EXPECT_EQ(refusals[0].reason, "is too large3");
  EXPECT_EQ(getNumbers(refusals[0].location), (SmallVector<int64_t>{7}));
}

} // namespace
