//===- WideClones.h - Loops for wider registers -----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SPYRE_WIDE_CLONES before a function: compiled for wider registers, too, and chosen when
// the program is loaded; sanitizers do not expect code to run then.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_NUMERICS_WIDECLONES_H
#define SPYRE_LIB_NUMERICS_WIDECLONES_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SPYRE_WIDE_CLONES
#endif
#endif
#if !defined(SPYRE_WIDE_CLONES) && defined(__x86_64__) && defined(__ELF__)
#define SPYRE_WIDE_CLONES __attribute__((target_clones("avx2", "default")))
#elif !defined(SPYRE_WIDE_CLONES)
#define SPYRE_WIDE_CLONES
#endif

#endif // SPYRE_LIB_NUMERICS_WIDECLONES_H
