//===- Text.cpp - Numbers and words as the report prints them ---*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "Text.h"

#include <cmath>
#include <cstdio>

using namespace spyre;
using namespace spyre::report;

std::string report::escape(std::string_view text) {
  std::string result;
  for (char c : text) {
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    case '\'':
      result += "&#39;";
      break;
    default:
      // Control characters are not text in HTML.
      result += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return result;
}

std::string report::fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  // What is rounded to nothing has no sign.
  const std::string_view number = text;
  return number.find_first_of("123456789") == number.npos && value < 0 ? text + 1 : text;
}

std::string report::microseconds(double ns) { return fixed(ns / 1000, std::abs(ns) < 1e5 ? 2 : 1); }

std::string report::bytes(double count) {
  if (count >= 1e9)
    return fixed(count / 1e9, 2) + " GB";
  if (count >= 1e6)
    return fixed(count / 1e6, count < 1e8 ? 2 : 1) + " MB";
  if (count >= 1e4)
    return fixed(count / 1e3, 1) + " kB";
  return fixed(count, 0) + " B";
}

std::string report::percent(double part, double whole) {
  return fixed(whole > 0 ? 100 * part / whole : 0, 1) + " %";
}

std::string report::counted(size_t number, std::string_view what) {
  return std::to_string(number) + " " + std::string(what) + (number == 1 ? "" : "s");
}

std::string report::getLabel(const Operation &op, int64_t position) {
  return "#" + std::to_string(position) + " " + op.opFunc;
}

std::string report::getPlace(const Operation &op) {
  std::string place = op.location.empty() ? "unknown place" : op.location;
  return op.origin.empty() ? place : place + ", " + op.origin;
}

std::string report::describe(const Operation &op, int64_t position) {
  std::string text =
      getLabel(op, position) + " (" + getPlace(op) + "): " + microseconds(op.getTimeInNs()) + " µs";
  if (op.numRuns != 1)
    text += ", " + std::to_string(op.numRuns) + " runs of " + microseconds(op.estimate.totalInNs) +
            " µs";
  return text + "; " + bytes(double(op.estimate.readInBytes)) + " read, " +
         bytes(double(op.estimate.writtenInBytes)) + " written" + (op.numRuns != 1 ? " a run" : "");
}

std::string report::getAnchor(size_t function, int64_t position) {
  return "f" + std::to_string(function) + "o" + std::to_string(position);
}

const char *report::getJobClass(Job job) {
  switch (job) {
  case Job::Product:
    return "p";
  case Job::Elementwise:
    return "e";
  case Job::Transfer:
    return "t";
  }
  return "";
}

const char *report::getJobName(Job job) {
  switch (job) {
  case Job::Product:
    return "product";
  case Job::Elementwise:
    return "elementwise";
  case Job::Transfer:
    return "transfer";
  }
  return "";
}
