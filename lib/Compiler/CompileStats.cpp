//===- CompileStats.cpp - What --stats says ---------------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The figures of a compilation as JSON.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/Compile.h"
#include "spyre/Support/JsonWriter.h"

#include <sstream>

namespace spyre::compiler {

std::string toJson(const CompileStats &stats) {
  std::ostringstream os;
  {
    json::Writer w(os, /*pretty=*/true);
    w.beginObject();
    w.field("compile_s", stats.compileSeconds);
    w.key("stages");
    w.beginObject();
    for (const auto &[name, seconds] : stats.stages)
      w.field(name, seconds);
    w.endObject();
    w.field("bundles", stats.numBundles);
    w.field("device_ops", stats.numDeviceOps);
    w.field("placements", stats.numPlacements);
    w.key("host_calls");
    w.beginObject();
    for (const auto &[function, count] : stats.hostCalls)
      w.field(function, count);
    w.endObject();
    if (!stats.hostFacts.empty()) {
      w.key("host_reasons");
      w.beginArray();
      for (const HostCallFact &fact : stats.hostFacts) {
        w.beginArray();
        w.value(fact.function);
        w.value(fact.reason);
        w.value(fact.location);
        w.endArray();
      }
      w.endArray();
    }
    w.field("hbm_read_bytes", stats.hbmReadInBytes);
    w.field("hbm_write_bytes", stats.hbmWriteInBytes);
    w.field("lx_bytes_peak", stats.lxPeakInBytes);
    w.field("pool_bytes", stats.poolInBytes);
    w.field("modelled_us", stats.modelledInNs / 1000);
    w.key("modelled_parts");
    w.beginObject();
    w.field("compute_us", stats.computeInNs / 1000);
    w.field("memory_us", stats.memoryInNs / 1000);
    w.field("ring_us", stats.ringInNs / 1000);
    w.field("vector_us", stats.vectorInNs / 1000);
    w.field("start_us", stats.startInNs / 1000);
    w.endObject();
    if (!stats.plans.empty()) {
      w.key("plans");
      w.beginArray();
      for (const PlanTimes &plan : stats.plans) {
        w.beginObject();
        w.field("kind", getName(plan.kind));
        w.key("us");
        w.beginObject();
        for (auto [kind, ns] : plan.ns)
          w.field(getName(kind), ns / 1000);
        w.endObject();
        w.endObject();
      }
      w.endArray();
    }
    w.field("bound_us", stats.boundInNs / 1000);
    if (stats.boundInNs > 0)
      w.field("bound_ratio", stats.modelledInNs / stats.boundInNs);
    w.endObject();
  }
  return os.str();
}

} // namespace spyre::compiler
