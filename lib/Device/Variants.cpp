//===- Variants.cpp - The devices that are known by name --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers, each with its source: "doc" is public documentation of the card
// and of its descriptor format, "measured" are measurements published with the
// open-source front end, "derived" follows from other numbers here.
//
//===----------------------------------------------------------------------===//

#include "DeviceAccess.h"

#include <cmath>

using namespace spyre;

static constexpr int64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

/// What the compiler may use of an LX: the back end keeps 64 KiB and a share.
static int64_t usableLX(int64_t lxInBytes, double reserve, int64_t alignmentInBytes) {
  double usable = double(lxInBytes - 64 * kKiB) * (1 - reserve);
  return int64_t(std::ceil(usable / double(alignmentInBytes))) * alignmentInBytes;
}

Device DeviceAccess::makeSpyre() {
  Device d;
  d.name = "spyre";
  d.numCores = 32;          // doc
  d.numCoreletsPerCore = 2; // doc
  d.lxInBytes = 2 * kMiB;   // doc; one scratchpad for both corelets
  d.alignmentInBytes = 128; // doc: the stick
  d.usableLXInBytes = usableLX(d.lxInBytes, 0.2, d.alignmentInBytes); // front end's default reserve
  d.spanLimitInBytes = 256 * kMiB - 4 * kKiB; // doc: 256 MiB, of which 255.996 are accepted
  d.numSegments = 8;                          // doc; the last is the program's
  d.segmentInBytes = 16 * kGiB;               // doc
  d.memoryInBytes = 128 * kGiB;               // doc
  d.maxTensorsPerOp = 8;                      // doc: structural rule of descriptors
  d.nominalMemoryInBytesPerNs = 204.8;        // doc: LPDDR5
  // doc: PCIe gen5 x16, 16 lanes of 32 Gbit/s with 128 of 130 bits for data
  d.hostLinkInBytesPerNs = 16 * 32.0 / 8 * 128 / 130;
  d.clockInGHz = 1.5;          // derived: nominal MACs / (2 corelets * 64 cells * 8 a cell)
  d.ringInBytesPerCycle = 128; // doc; each direction
  d.multicastReaders = 8;      // doc
  d.arrayRows = 8;             // doc
  d.arrayColumns = 8;          // doc
  // Front end of September 2026 (its pull request 4153): where every core reads what it holds.
  d.restickifyReadsLX = true;
  d.relayouts = true; // front end of August 2026: `shuffle`

  DeviceRates &r = d.rates; // all measured
  r.memoryInBytesPerNs = 150;
  r.turnaroundInNsPerByte = 0.00574;
  r.broadcastInBytesPerNs = 118;
  r.stickReductionBaseInBytesPerNs = 114;
  r.stickReductionGainInBytesPerNs = 61;
  r.stickReductionDecayInRows = 3700;
  r.rowReductionInBytesPerNs = 113;
  r.restickifyInBytesPerNs = 116;
  r.sustainedMacsPerNs = 1140;
  r.nominalMacsPerNs = 1536; // doc: 98.304 TFLOPS / 2 / 32 cores
  r.passesToFillArray = 8;
  r.matmulTileInElements = 64 * kKiB;
  r.partialSumHopInNsPerElement = 0.14;
  r.tileFullRows = 7.9;
  r.tileRowExponent = 0.5;
  r.tileFullColumns = 2048;
  r.tileColumnExponent = 0.38;
  r.tileMaxEfficiency = 1.08;
  r.workingSetInBytes = 512 * kKiB;
  r.workingSetExponent = 0.15;
  return d;
}

Device DeviceAccess::makeSpyre202606() {
  Device d = makeSpyre();
  d.name = "spyre-2026-06";
  d.usableLXInBytes = 1677721;     // front end of June 2026: 0.8 of 2 MiB
  d.spanLimitInBytes = 256 * kMiB; // and its span check
  d.restickifyReadsLX = false;
  d.relayouts = false;
  return d;
}

Device DeviceAccess::makeSpyre202608() {
  Device d = makeSpyre();
  d.name = "spyre-2026-08";
  d.restickifyReadsLX = false; // gave wrong data in the front end of August 2026 (issue 3292)
  return d;
}

/// No real device: small enough that small tests overflow it.
Device DeviceAccess::makeMock4() {
  Device d = makeSpyre();
  d.name = "mock4";
  d.numCores = 4;
  d.lxInBytes = 16 * kKiB;
  d.usableLXInBytes = 8 * kKiB;
  d.spanLimitInBytes = 256 * kKiB;
  d.segmentInBytes = 16 * kMiB;
  d.memoryInBytes = 128 * kMiB;
  return d;
}

/// No real device: all cores, but so little LX that small programs have to be tiled.
Device DeviceAccess::makeMock32() {
  Device d = makeSpyre();
  d.name = "mock32";
  d.lxInBytes = 64 * kKiB;
  d.usableLXInBytes = 32 * kKiB;
  return d;
}
