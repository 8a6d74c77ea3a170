//===- Timeline.h - What ran when, on the modelled clock --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Events of the emulator's clock (cost::Clock), which a trace shows. They depend on
// the artefact and the device only, never on threads or the host. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COSTMODEL_TIMELINE_H
#define SPYRE_COSTMODEL_TIMELINE_H

#include "spyre/CostModel/Clock.h"

#include <string>
#include <vector>

namespace spyre::cost {

struct TimelineEvent {
  enum Kind { Operation, Transfer, HostCall, Launch };
  Kind kind = Operation;
  std::string name;     ///< the OpFunc; "copy in"; a host function; "launch"
  std::string where;    ///< "sdsc_3.json, iteration 2"; the array; the bundle
  std::string origin;   ///< "model.mlir:12:8 (aten.softmax)"; empty: not known
  int64_t numCores = 0; ///< cores 0 to numCores - 1 take part; 0: the host
  double startInNs = 0;
  double durationInNs = 0;                     ///< 0: the model gives it no time
  int64_t readInBytes = 0, writtenInBytes = 0; ///< device memory
  Estimate estimate;                           ///< Operation
  std::vector<Busy> busy;                      ///< what it holds when
};

} // namespace spyre::cost

#endif // SPYRE_COSTMODEL_TIMELINE_H
