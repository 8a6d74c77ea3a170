//===- DescriptorExtensions.h - Fields that few descriptors have -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Symbolic dims, padded windows, targets, schedules and other fields that the
// reference front end never writes, or always with one value: between a descriptor
// and the attributes of its operation. Private to the conversion.
// Source: docs/formats/superdsc-rules.md, section 7.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_TARGET_SUPERDSC_DESCRIPTOREXTENSIONS_H
#define SPYRE_LIB_TARGET_SUPERDSC_DESCRIPTOREXTENSIONS_H

#include "spyre/Dialect/SuperDSC/IR/SdscDialect.h"

#include "mlir/IR/Builders.h"

namespace mlir::sdsc {

/// Sets the attributes of the rare fields of \p descriptor that have another value
/// than the usual one.
void buildExtensions(Builder &b, const ::spyre::sdsc::Descriptor &descriptor,
                     DescriptorOp::Properties &properties);

/// Reads them back.
void readExtensions(DescriptorOp op, ::spyre::sdsc::Descriptor &descriptor);

} // namespace mlir::sdsc

#endif // SPYRE_LIB_TARGET_SUPERDSC_DESCRIPTOREXTENSIONS_H
