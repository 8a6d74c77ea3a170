//===- Trace.cpp - A run as a Chrome trace ----------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Complete events ("X") for operations, one on each core's row; instant events
// ("i") for what the model has no duration of. Times are in us, as the form wants.
//
//===----------------------------------------------------------------------===//

#include "spyre/Report/Trace.h"

#include "spyre/Report/ProgramReport.h"
#include "spyre/Support/JsonWriter.h"

using namespace spyre;
using namespace spyre::report;
using runtime::TimelineEvent;

namespace {

constexpr double kNsPerUs = 1000;

void writeArguments(json::Writer &w, const TimelineEvent &event) {
  w.key("args");
  w.beginObject();
  if (event.kind == TimelineEvent::Operation)
    w.field("op", event.name);
  w.field("where", event.where);
  if (!event.origin.empty())
    w.field("origin", event.origin);
  if (event.kind == TimelineEvent::Operation) {
    w.field("cores", event.numCores);
    w.field("bound_by", getBoundName(getBound(event.estimate)));
    w.field("compute_us", event.estimate.computeInNs / kNsPerUs);
    w.field("memory_us", event.estimate.memoryInNs / kNsPerUs);
    w.field("ring_us", event.estimate.ringInNs / kNsPerUs);
  }
  w.field("hbm_read_bytes", event.readInBytes);
  w.field("hbm_write_bytes", event.writtenInBytes);
  w.endObject();
}

void writeName(json::Writer &w, const char *what, int64_t row, const std::string &name) {
  w.beginObject();
  w.field("name", what);
  w.field("ph", "M");
  w.field("pid", 0);
  w.field("tid", row);
  w.key("args");
  w.beginObject();
  w.field("name", name);
  w.endObject();
  w.endObject();
}

} // namespace

void report::writeTrace(const std::vector<TimelineEvent> &timeline, int64_t numCores,
                        const std::string &program, const std::string &device, std::ostream &os) {
  json::Writer w(os, /*pretty=*/false);
  w.beginObject();
  w.field("displayTimeUnit", "ns");
  w.key("traceEvents");
  w.beginArray();
  writeName(w, "process_name", 0, program + " on " + device + " (modelled clock)");
  writeName(w, "thread_name", 0, "host and transfers");
  for (int64_t core = 0; core < numCores; ++core)
    writeName(w, "thread_name", core + 1, "core " + std::to_string(core));
  for (const TimelineEvent &event : timeline) {
    bool onCores = event.kind == TimelineEvent::Operation;
    int64_t rows = onCores ? event.numCores : 1;
    for (int64_t row = 0; row < rows; ++row) {
      w.beginObject();
      w.field("name", onCores ? event.name : event.name + " " + event.where);
      w.field("cat", onCores ? "operation" : "host");
      w.field("ph", onCores || event.durationInNs > 0 ? "X" : "i");
      w.field("pid", 0);
      w.field("tid", onCores ? row + 1 : 0);
      w.field("ts", event.startInNs / kNsPerUs);
      if (onCores || event.durationInNs > 0)
        w.field("dur", event.durationInNs / kNsPerUs);
      else
        w.field("s", "t");
      writeArguments(w, event);
      w.endObject();
    }
  }
  w.endArray();
  w.endObject();
}
