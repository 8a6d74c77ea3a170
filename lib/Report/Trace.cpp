//===- Trace.cpp - A run as a Chrome trace ----------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Complete events ("X") for operations, one on each core's row, and for what they
// hold, on rows below the cores; instant events ("i") for what the model has no
// duration of. Times are in us, as the form wants.
//
//===----------------------------------------------------------------------===//

#include "spyre/Report/Trace.h"

#include "spyre/Report/ProgramReport.h"
#include "spyre/Support/JsonWriter.h"

using namespace spyre;
using namespace spyre::report;
using cost::Resource;
using cost::TimelineEvent;

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
    w.field("vector_us", event.estimate.vectorInNs / kNsPerUs);
    w.field("start_us", event.estimate.startInNs / kNsPerUs);
    w.field("relayout_us", event.estimate.relayoutInNs / kNsPerUs);
    w.field("kernel_us", event.estimate.totalInNs / kNsPerUs);
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

/// What operations hold, in rows below those of the cores. The host link is in use
/// exactly when the host's row shows a copy.
constexpr Resource kRows[] = {Resource::Memory, Resource::DataRing, Resource::ReduceRing};

void writeBusy(json::Writer &w, const TimelineEvent &event, Resource resource, int64_t row) {
  for (const cost::Busy &busy : event.busy) {
    if (busy.resource != resource)
      continue;
    w.beginObject();
    w.field("name", event.name);
    w.field("cat", "resource");
    w.field("ph", "X");
    w.field("pid", 0);
    w.field("tid", row);
    w.field("ts", busy.startInNs / kNsPerUs);
    w.field("dur", (busy.endInNs - busy.startInNs) / kNsPerUs);
    w.key("args");
    w.beginObject();
    w.field("where", event.where);
    w.endObject();
    w.endObject();
  }
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
  int64_t row = numCores;
  for (Resource resource : kRows)
    writeName(w, "thread_name", ++row, getResourceName(resource));
  for (const TimelineEvent &event : timeline) {
    row = numCores;
    for (Resource resource : kRows)
      writeBusy(w, event, resource, ++row);
    bool onCores = event.kind == TimelineEvent::Operation;
    int64_t rows = onCores ? event.numCores : 1;
    for (row = 0; row < rows; ++row) {
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
