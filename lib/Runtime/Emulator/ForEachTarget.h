//===- ForEachTarget.h - Compiles a file once a vector unit -----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With Highway, a file that includes this header (after defining SPYRE_THIS_FILE)
// is compiled again for each instruction set that the processor may have; what is
// between SPYRE_BEGIN_TARGET and SPYRE_END_TARGET exists once for each, and
// SPYRE_DISPATCH takes the one for the processor that runs it. The loops are plain
// C++ for the compiler to vectorise: arithmetic without contraction gives the same
// numbers in all of them. Without Highway there is one version. Included several
// times on purpose. Private to the emulator.
//
//===----------------------------------------------------------------------===//

#ifdef SPYRE_HAVE_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE SPYRE_THIS_FILE
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "hwy/highway.h"
#endif

#undef SPYRE_BEGIN_TARGET
#undef SPYRE_END_TARGET
#undef SPYRE_ONCE
#ifdef SPYRE_HAVE_HIGHWAY
#define SPYRE_BEGIN_TARGET                                                                         \
  HWY_BEFORE_NAMESPACE();                                                                          \
  namespace spyre::runtime::HWY_NAMESPACE {                                                        \
  namespace {
#define SPYRE_END_TARGET                                                                           \
  }                                                                                                \
  }                                                                                                \
  HWY_AFTER_NAMESPACE();
#define SPYRE_ONCE HWY_ONCE
#else
#define SPYRE_BEGIN_TARGET                                                                         \
  namespace spyre::runtime {                                                                       \
  namespace {
#define SPYRE_END_TARGET                                                                           \
  }                                                                                                \
  }
#define SPYRE_ONCE 1
#endif

#ifndef SPYRE_VECTOR_LOOP
#ifdef SPYRE_HAVE_HIGHWAY
#define SPYRE_EXPORT(NAME) HWY_EXPORT(NAME);
#define SPYRE_DISPATCH(NAME) HWY_DYNAMIC_DISPATCH(NAME)
#else
#define SPYRE_EXPORT(NAME)
#define SPYRE_DISPATCH(NAME) NAME
#endif
// Input and output of an elementwise loop are disjoint or the same array.
#ifdef __clang__
#define SPYRE_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define SPYRE_VECTOR_LOOP _Pragma("GCC ivdep")
#endif
#endif
